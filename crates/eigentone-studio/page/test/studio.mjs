// Starts the real server and a real browser, and does with them what a person does.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
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

/** A server of its own in an empty folder; with a scene file, if one is given. */
async function startServer(file, pageDir = process.env.EIGENTONE_PAGE ?? join(here, "../dist")) {
  const folder = mkdtempSync(join(tmpdir(), "eigentone-page-"));
  const home = { ...process.env, HOME: folder, XDG_CACHE_HOME: join(folder, "cache"), XDG_DATA_HOME: join(folder, "data") };
  const child = spawn(command(), ["studio", ...(file ? [file] : []), "--port", "0", "--no-open", "--json", "--page-dir", pageDir], { cwd: folder, env: home, stdio: ["pipe", "pipe", "pipe"] });
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
    setTimeout(() => reject(new Error(`the server did not say where it is: ${said}`)), 30_000);
  });
  const stop = () => {
    child.removeAllListeners("exit");
    child.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  return { url, stop, pid: child.pid, socketsBefore: process.platform === "linux" ? countSockets(child.pid) : 0 };
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

/** A page on a fresh server, with the sound on unless told otherwise. */
export async function openStudio({ scene, file, pageDir, sound = true, viewport = { width: 1280, height: 720 }, colorScheme = "dark", tour = false, scale = 1 } = {}) {
  const server = await startServer(file, pageDir);
  const browser = await chromium.launch({ executablePath: browserPath(), args: FLAGS });
  const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: scale, acceptDownloads: true });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(`${message.text()} ${message.location().url}`));
  page.on("pageerror", (error) => complaints.push(`${error.message}\n${error.stack}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.hostname !== "127.0.0.1") complaints.push(`asked another host: ${url}`);
  });
  if (!tour) await page.addInitScript(() => localStorage.setItem("eigentone.tour", "done"));
  await page.goto(server.url);
  const studio = new StudioPage(page, complaints, async () => {
    await browser.close();
    server.stop();
  });
  Object.assign(studio, { server, browser });
  try {
    await studio.until(() => window.eigentone?.app.studio.bodies.value.size > 0, 240_000);
    if (scene) await studio.open(scene);
    if (sound) await studio.startSound();
  } catch (error) {
    if (complaints.length > 0) error.message += `; the page complained: ${complaints.join("; ")}`;
    await studio.close();
    throw error;
  }
  return studio;
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class StudioPage {
  constructor(page, complaints, close) {
    Object.assign(this, { page, complaints, close });
  }

  until(condition, timeout = 30_000, argument) {
    return this.page.waitForFunction(condition, argument, { timeout, polling: 20 });
  }

  async open(scene) {
    const before = await this.page.evaluate(() => window.eigentone.app.studio.sceneNumber.value);
    await this.page.evaluate((name) => window.eigentone.app.do({ do: "open", scene: name }), scene);
    await this.until((number) => window.eigentone.app.studio.sceneNumber.value > number, 60_000, before);
    await sleep(500);
  }

  async startSound() {
    await this.page.click("#start-sound");
    await this.until(() => window.eigentone.app.player.status.value === "on");
    // Something that measures beside what the page shows.
    await this.page.evaluate(() => {
      const { player } = window.eigentone.app;
      window.probe = new AnalyserNode(player.context, { fftSize: 16384, smoothingTimeConstant: 0 });
      player.analyser.connect(window.probe);
    });
    await sleep(700);
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
    await this.until((before) => [...window.eigentone.app.studio.bodies.value.keys()].some((id) => !before.includes(id)), 10_000, before);
    const added = (await this.bodies()).find(({ id }) => !before.includes(id));
    await this.select(added.id);
    await this.until((id) => window.eigentone.view.view(id) !== undefined, 10_000, added.id);
    if (ready) await this.until((id) => !window.eigentone.app.studio.bodies.value.get(id).provisional, 60_000, added.id);
    return added.id;
  }

  /** Keeps a body where nothing else hides or touches it, and looks at it. */
  async present(id, position = [0, 0, 0.8]) {
    await this.page.evaluate(([id, position]) => {
      const { app } = window.eigentone;
      const gesture = app.beginGesture();
      app.set(id, gesture, { fixed: true, position });
    }, [id, position]);
    await sleep(600);
    await this.page.evaluate((id) => {
      const { view } = window.eigentone;
      const body = view.view(id);
      view.stage.frame(body.mesh.position.clone(), Math.max(body.radius, 0.02));
    }, id);
    await sleep(300);
  }

  /** Where on the screen a body can be struck. */
  async aim(id) {
    const box = await this.page.locator(".view > canvas").boundingBox();
    const point = await this.page.evaluate((id) => {
      const { view } = window.eigentone;
      const hit = view.pickBody(id);
      return hit && view.project(hit.point);
    }, id);
    if (!point) throw new Error(`body ${id} cannot be seen`);
    return [box.x + point[0], box.y + point[1]];
  }

  /** Presses the mouse on a body for so long. */
  async strike(id, holdMs = 40) {
    const [x, y] = await this.aim(id);
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    await sleep(holdMs);
    await this.page.mouse.up();
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
  async quiet(timeout = 30_000) {
    await this.until(() => {
      const samples = new Float32Array(window.probe.fftSize);
      window.probe.getFloatTimeDomainData(samples);
      return samples.every((sample) => Math.abs(sample) < 1e-6);
    }, timeout);
  }

  undoSteps() {
    return this.page.evaluate(() => window.eigentone.app.studio.history.value.undo);
  }
}
