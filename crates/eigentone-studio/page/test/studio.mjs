// Starts the real server and a real browser, and does with them what a person does.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../../..");

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** The command: `EIGENTONE`, or the newest build of this checkout. */
function command() {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const places = [process.env.EIGENTONE, join(target, "release/eigentone"), join(target, "debug/eigentone")];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error("No eigentone command: build it with `cargo build --release -p eigentone-cli`, or name it in EIGENTONE.");
  return found;
}

function browserPath() {
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error("No browser: install chromium, or name one in CHROMIUM.");
  return found;
}

/** Keeps what is played, beside what the page does with it. */
const RECORDER = `registerProcessor("test-recorder", class extends AudioWorkletProcessor {
  constructor() { super(); this.kept = []; }
  process([[left, right]]) {
    if (left) { const both = new Float32Array(256); for (let i = 0; i < 128; i++) { both[2 * i] = left[i]; both[2 * i + 1] = (right ?? left)[i]; } this.kept.push(both); }
    if (this.kept.length >= 8) { this.port.postMessage(this.kept); this.kept = []; }
    return true;
  }
});`;

/** A server of its own, in an empty folder or in one that was used before; `file` is a scene to open. */
export async function startServer({ folder = mkdtempSync(join(tmpdir(), "eigentone-page-")), file, pageDir = process.env.PAGE_DIR ?? join(here, "../dist") } = {}) {
  const home = { ...process.env, HOME: folder, XDG_CACHE_HOME: join(folder, "cache"), XDG_DATA_HOME: join(folder, "data") };
  // A copy, beside which the recorder can lie.
  const page = join(folder, "page");
  cpSync(pageDir, page, { recursive: true });
  writeFileSync(join(page, "test-recorder.js"), RECORDER);
  const child = spawn(command(), ["studio", ...(file ? [file] : []), "--port", "0", "--no-open", "--json", "--page-dir", page], { cwd: folder, env: home, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const read = (data) => {
      said += data;
      const found = /http:\/\/127\.0\.0\.1:\d+\/#token=\w+/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`the server did not say where it is: ${said}`)), 60_000).unref();
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const stop = async ({ keep = false } = {}) => {
    child.removeAllListeners("exit");
    const gone = new Promise((resolve) => child.on("exit", resolve));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill();
      await gone;
    }
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  return { url, folder, pid: child.pid, ended, stop, socketsBefore: process.platform === "linux" ? countSockets(child.pid) : 0 };
}

/** Sockets that a process has open. */
export function countSockets(pid) {
  const isSocket = (fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:");
    } catch {
      return false;
    }
  };
  return readdirSync(`/proc/${pid}/fd`).filter(isSocket).length;
}

/** A page on a fresh server, or on `server`, with the sound on unless told otherwise; `scene` is the name of a shipped one. */
export async function openStudio({ scene, server: given, file, pageDir, sound = true, viewport = { width: 1280, height: 720 }, colorScheme = "dark", tour = false, scale = 1 } = {}) {
  const server = given ?? (await startServer({ file, pageDir }));
  const browser = await chromium.launch({ executablePath: browserPath(), args: FLAGS });
  const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: scale, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(`${message.text()} ${message.location().url}`));
  page.on("pageerror", (error) => complaints.push(`${error.message}\n${error.stack}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.hostname !== "127.0.0.1") complaints.push(`asked another host: ${url}`);
  });
  if (!tour) await page.addInitScript(() => localStorage.setItem("eigentone.tour", "done"));
  await page.goto(server.url);
  const studio = new StudioPage(page, complaints, server, async (options) => {
    await browser.close();
    await server.stop(options);
  });
  studio.browser = browser;
  try {
    await studio.loaded();
    if (scene) await studio.open(scene);
    if (sound) await studio.startSound();
  } catch (error) {
    await studio.close();
    throw error;
  }
  return studio;
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Nothing is waited for longer; on a slow machine everything takes its time. */
export const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120_000);

export class StudioPage {
  constructor(page, complaints, server, close) {
    Object.assign(this, { page, complaints, server, close });
  }

  until(condition, argument, timeout = PATIENCE_MS) {
    return this.page.waitForFunction(condition, argument, { timeout, polling: 30 });
  }

  /** Waits until `test` says yes to a body. */
  async untilBody(id, test) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const body = await this.body(id);
      if (body && test(body)) return body;
      if (Date.now() > end) throw new Error(`waited in vain for ${test}: ${JSON.stringify(body)}`);
      await sleep(30);
    }
  }

  loaded() {
    return this.until(() => window.eigentone?.app.studio.bodies.value.size > 0 && window.eigentone.app.studio.shelf.value.objects.length > 0);
  }

  async open(scene) {
    const before = await this.page.evaluate(() => window.eigentone.app.studio.sceneNumber.value);
    await this.page.evaluate((name) => window.eigentone.app.do({ do: "open", scene: name }), scene);
    await this.until((number) => window.eigentone.app.studio.sceneNumber.value > number, before);
    await this.drawn();
  }

  /** Waits until all bodies are drawn where they are. */
  drawn() {
    return this.until(() => {
      const { app, view } = window.eigentone;
      return [...app.studio.bodies.value.keys()].every((id) => view.view(id)?.mesh.visible);
    });
  }

  async startSound() {
    await this.page.click("#start-sound");
    await this.until(() => window.eigentone.app.player.status.value === "on");
    await this.page.evaluate(async () => {
      const { player } = window.eigentone.app;
      await player.context.audioWorklet.addModule("/test-recorder.js");
      const node = new AudioWorkletNode(player.context, "test-recorder", { numberOfOutputs: 0, channelCount: 2, channelCountMode: "explicit" });
      const recorder = { blocks: [], dropped: 0, frames: () => 128 * (recorder.dropped + recorder.blocks.length) };
      node.port.onmessage = ({ data }) => {
        recorder.blocks.push(...data);
        const over = Math.max(0, recorder.blocks.length - 30 * 375);
        recorder.dropped += over;
        recorder.blocks.splice(0, over);
      };
      // From frame `from` on, left and right in turn.
      recorder.since = (from) => {
        const first = Math.max(0, Math.floor(from / 128) - recorder.dropped);
        const parts = recorder.blocks.slice(first);
        const all = new Float32Array(256 * parts.length);
        parts.forEach((part, i) => all.set(part, 256 * i));
        return all;
      };
      player.analyser.connect(node);
      window.recorder = recorder;
      // Something that measures beside what the page shows.
      window.probe = new AnalyserNode(player.context, { fftSize: 16384, smoothingTimeConstant: 0 });
      player.analyser.connect(window.probe);
    });
    await this.played(0.5);
  }

  /** Waits until the page has played so many seconds more. */
  async played(seconds) {
    const from = await this.page.evaluate(() => window.recorder.frames());
    await this.until((frames) => window.recorder.frames() >= frames, from + 48000 * seconds);
  }

  /** What is heard from the first sound after `action` on, both channels mixed. Asks again if the sound ran dry meanwhile. */
  async hear(action, seconds = 1, { threshold = 1e-6 } = {}) {
    for (let attempt = 1; ; attempt++) {
      const before = await this.page.evaluate(() => [window.recorder.frames(), window.eigentone.app.player.figures.value.underruns]);
      await action();
      const both = await this.page.waitForFunction(([from, seconds, threshold]) => {
        const all = window.recorder.since(from);
        const onset = all.findIndex((sample) => Math.abs(sample) > threshold);
        const rate = window.eigentone.app.player.context.sampleRate;
        const start = onset & ~1;
        if (onset < 0 || all.length - start < 2 * rate * seconds) return null;
        const bytes = new Uint8Array(all.slice(start, start + 2 * Math.round(rate * seconds)).buffer);
        let text = "";
        for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
        return { rate, data: btoa(text), underruns: window.eigentone.app.player.figures.value.underruns };
      }, [before[0], seconds, threshold], { timeout: PATIENCE_MS, polling: 50 }).then((handle) => handle.jsonValue());
      const bytes = Buffer.from(both.data, "base64");
      const stereo = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      const samples = Float32Array.from({ length: stereo.length / 2 }, (_, i) => (stereo[2 * i] + stereo[2 * i + 1]) / 2);
      if (both.underruns === before[1] || attempt === 5) return { rate: both.rate, samples, stereo };
      await this.hush();
    }
  }

  /** Stops everything by hand and waits for silence. */
  async hush() {
    const hold = (on) => this.page.evaluate((on) => {
      const { app } = window.eigentone;
      for (const body of app.studio.bodies.value.values()) if (body.sounds) app.connection.post({ do: "hold", body: body.id, on });
    }, on);
    await hold(true);
    await this.quiet();
    await hold(false);
    await this.played(0.2);
  }

  bodies() {
    return this.page.evaluate(() => [...window.eigentone.app.studio.bodies.value.values()]);
  }

  body(id) {
    return this.page.evaluate((id) => window.eigentone.app.studio.bodies.value.get(id), id);
  }

  select(id) {
    return this.page.evaluate((id) => (window.eigentone.app.studio.selected.value = id), id);
  }

  /** Adds from the shelf by a click and waits for its own model. */
  async add(object, ready = true) {
    const before = (await this.bodies()).map(({ id }) => id);
    await this.page.click(`[data-object="${object}"]`);
    await this.until((before) => [...window.eigentone.app.studio.bodies.value.keys()].some((id) => !before.includes(id)), before);
    const added = (await this.bodies()).find(({ id }) => !before.includes(id));
    await this.select(added.id);
    await this.until((id) => window.eigentone.view.view(id) !== undefined, added.id);
    if (ready) await this.untilBody(added.id, (body) => !body.provisional);
    return added.id;
  }

  /** Keeps a body where nothing else hides or touches it, and looks at it. */
  async present(id, position = [0, 0, 0.8]) {
    await this.page.evaluate(([id, position]) => {
      const { app } = window.eigentone;
      app.set(id, app.beginGesture(), { fixed: true, position, rotation: [0, 0, 0, 1] });
    }, [id, position]);
    await this.until(([id, position]) => {
      const mesh = window.eigentone.view.view(id)?.mesh;
      return mesh?.visible && mesh.position.toArray().every((x, k) => Math.abs(x - position[k]) < 1e-3);
    }, [id, position]);
    await this.look(id);
  }

  /** Looks at a body. */
  async look(id, radius) {
    await this.page.evaluate(([id, radius]) => {
      const { view } = window.eigentone;
      const body = view.view(id);
      view.stage.frame(body.mesh.position.clone(), radius ?? Math.max(body.radius, 0.02));
      view.stage.controls.update();
      view.stage.camera.updateMatrixWorld();
    }, [id, radius]);
    await this.pictures(3);
  }

  /** Waits for so many pictures. */
  pictures(count) {
    return this.page.evaluate(async (count) => {
      for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
    }, count);
  }

  /** Where on the screen a body can be struck: at `local` in its own frame, or where the camera sees it best. */
  async aim(id, local) {
    const box = await this.page.locator(".view > canvas").boundingBox();
    const point = await this.page.evaluate(([id, local]) => {
      const { view } = window.eigentone;
      const mesh = view.view(id)?.mesh;
      if (local && mesh) return view.project(mesh.localToWorld(mesh.position.clone().fromArray(local)));
      const hit = view.pickBody(id);
      return hit && view.project(hit.point);
    }, [id, local]);
    if (!point) throw new Error(`body ${id} cannot be seen`);
    return [box.x + point[0], box.y + point[1]];
  }

  /** Presses the mouse on a body until the gauge has reached a share of its way; the impulse in N·s that it was. */
  async strike(id, { share = 0, at } = {}) {
    const [x, y] = await this.aim(id, at);
    await this.page.mouse.move(x, y);
    // The mouse rests: only the press counts.
    await sleep(150);
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    if (share > 0) await this.until((share) => {
      const arc = document.querySelector(".gauge .arc");
      return Number(arc.getAttribute("stroke-dashoffset")) <= (1 - share) * Number(arc.getAttribute("stroke-dasharray")) + 1e-6;
    }, share);
    await this.page.mouse.up();
    const last = await this.page.evaluate(() => window.eigentone.app.lastBlow);
    if (last?.body !== id) throw new Error(`another body was struck: ${last?.body}, not ${id}`);
    return last.blow.impulse_ns;
  }

  /** The loudest frequency in the last third of a second, in Hz, and its level in dB. */
  spectrumPeak(lowHz = 30, highHz = 20_000) {
    return this.page.evaluate(([low, high]) => {
      const bins = new Float32Array(window.probe.frequencyBinCount);
      window.probe.getFloatFrequencyData(bins);
      const hz = window.probe.context.sampleRate / window.probe.fftSize;
      let best = Math.max(1, Math.ceil(low / hz));
      for (let i = best; i < Math.min(bins.length - 1, high / hz); i++) if (bins[i] > bins[best]) best = i;
      const [a, b, c] = [bins[best - 1], bins[best], bins[best + 1]];
      return { hz: (best + (0.5 * (a - c)) / (a - 2 * b + c || 1)) * hz, db: b };
    }, [lowHz, highHz]);
  }

  /** The loudest sample since the last call of `resetPeak`. */
  async watchPeak(ms) {
    let peak = 0;
    const end = Date.now() + ms;
    while (Date.now() < end) {
      peak = Math.max(peak, await this.page.evaluate(() => {
        const samples = new Float32Array(window.probe.fftSize);
        window.probe.getFloatTimeDomainData(samples);
        return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      }));
      await sleep(60);
    }
    return peak;
  }

  /** Waits until nothing sounds. */
  async quiet() {
    await this.until(() => {
      const all = window.recorder.since(window.recorder.frames() - 9600);
      return all.length >= 9600 && all.every((sample) => Math.abs(sample) < 1e-6);
    });
  }

  undoSteps() {
    return this.page.evaluate(() => window.eigentone.app.studio.history.value.undo);
  }
}
