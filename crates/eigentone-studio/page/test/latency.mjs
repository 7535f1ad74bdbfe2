// Measures the way from a click to its sound, and counts underruns, with the real server and a real browser.
//
//   npm run latency -- [--scene default] [--strikes 60] [--rate 48000]
//   npm run soak -- [--scene rings] [--minutes 10] [--strikes 20] [--again 5]
//
// A click is a real one, through the browser's own input; its time begins where the mouse button is let go. Prints one JSON object:
// times in ms at 48 kHz, with what each part of the way took. `--again` lets the scene begin anew every so many seconds, so that a soak does not listen to silence.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openStudio, sleep } from "./studio.mjs";

const { values } = parseArgs({
  options: {
    scene: { type: "string", default: "default" },
    body: { type: "string" },
    rate: { type: "string", default: "48000" },
    strikes: { type: "string", default: "60" },
    seconds: { type: "string", default: "0" },
    minutes: { type: "string", default: "0" },
    again: { type: "string", default: "5" },
    "page-dir": { type: "string" },
  },
});
const number = (name) => {
  const value = Number(values[name]);
  if (!(value >= 0)) throw new Error(`--${name} is not a number: ${values[name]}`);
  return value;
};
const [rateHz, strikes, againS] = [number("rate"), number("strikes"), number("again")];
const soakS = Math.max(number("seconds"), 60 * number("minutes"));

/** The scene with another sample rate, in a folder of its own. */
function sceneAtRate() {
  const file = values.scene.endsWith(".toml") ? values.scene : fileURLToPath(new URL(`../../scenes/${values.scene}.toml`, import.meta.url));
  const text = readFileSync(file, "utf8").replace(/^sample_rate_hz.*$/m, "");
  const rate = `sample_rate_hz = ${rateHz}`;
  const output = /^\[output\]$/m.test(text) ? text.replace(/^\[output\]$/m, `[output]\n${rate}`) : `${text}\n[output]\n${rate}\n`;
  const folder = mkdtempSync(join(tmpdir(), "eigentone-latency-"));
  writeFileSync(join(folder, "scene.toml"), output);
  return { folder, file: join(folder, "scene.toml") };
}

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
const round = (value) => (value === null || value === undefined ? null : Math.round(10 * value) / 10);
const summary = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return { median: round(quantile(sorted, 0.5)), p95: round(quantile(sorted, 0.95)), worst: round(sorted.at(-1)) };
};

/** Waits until the page has found how much it has to keep ahead: five seconds without a change, or half a minute. */
async function settle(studio) {
  const lead = () => studio.page.evaluate(() => window.eigentone.app.player.figures.value.leadFrames);
  await sleep(6000);
  let [last, same] = [await lead(), 0];
  for (let i = 0; i < 30 && same < 5; i++) {
    await sleep(1000);
    const now = await lead();
    same = now === last ? same + 1 : 0;
    last = now;
  }
}

/** What is struck: the body that was named, or one that sounds, is light and can be seen. */
async function target(studio) {
  const bodies = (await studio.bodies()).filter(({ sounds, name, kind }) => sounds && (values.body ? name === values.body : kind === "dynamic"));
  for (const { id } of bodies) {
    try {
      await studio.aim(id);
      return id;
    } catch {
      // Hidden behind others.
    }
  }
  throw new Error("No body that sounds can be seen.");
}

/** Stops a body by hand, waits until nothing is heard, and lets it go. */
async function hush(studio, id) {
  const hold = (on) => studio.page.evaluate(([body, on]) => window.eigentone.app.do({ do: "hold", body, on }), [id, on]);
  const quiet = () => studio.until(() => {
    const samples = new Float32Array(window.probe.fftSize);
    window.probe.getFloatTimeDomainData(samples);
    return samples.every((sample) => Math.abs(sample) < 1e-6);
  });
  await hold(true);
  await quiet();
  await hold(false);
  await quiet();
  // Clicks must not fall into step with the blocks of the sound.
  await sleep(100 + 40 * Math.random());
}

/** One click; the way of its sound. */
async function click(studio, id) {
  const [x, y] = await studio.aim(id);
  await studio.page.evaluate(() => (window.eigentone.app.player.strike.value = null));
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await sleep(60);
  await studio.page.mouse.up();
  await studio.until(() => window.eigentone.app.player.strike.value !== null);
  return studio.page.evaluate(() => window.eigentone.app.player.strike.value);
}

async function measure(studio, count) {
  if (count === 0) return { strikes: 0, missed: 0 };
  const id = await target(studio);
  const ways = [];
  let missed = 0;
  for (let i = 0; i < count; i++) {
    try {
      await hush(studio, id);
      ways.push(await click(studio, id));
    } catch {
      missed++;
    }
  }
  const part = (from, to) => summary(ways.map((way) => way[to] - (from ? way[from] : 0)));
  return {
    strikes: ways.length,
    missed,
    click_to_worklet_ms: part(null, "playedMs"),
    click_to_output_ms: part(null, "heardMs"),
    page_ms: part(null, "sentMs"),
    socket_and_server_ms: part("sentMs", "arrivedMs"),
    buffer_ms: part("arrivedMs", "playedMs"),
  };
}

/** Plays for so long, and begins the scene anew now and then. */
async function soak(studio, seconds) {
  const end = Date.now() + 1000 * seconds;
  let load = 0;
  let next = Date.now();
  while (Date.now() < end) {
    if (againS > 0 && Date.now() >= next) {
      await studio.page.evaluate(() => window.eigentone.app.connection.post({ do: "reset" }));
      next += 1000 * againS;
    }
    load = Math.max(load, await studio.page.evaluate(() => window.eigentone.app.studio.meters.value?.load ?? 0));
    await sleep(250);
  }
  return load;
}

const { folder, file } = sceneAtRate();
const studio = await openStudio({ file, pageDir: values["page-dir"] });
try {
  // Models are made in the background: they are part of the warm-up.
  await studio.until(() => [...window.eigentone.app.studio.bodies.value.values()].every((body) => !body.provisional));
  await settle(studio);
  const warm = await studio.page.evaluate(() => window.eigentone.app.player.figures.value.underruns);
  const way = await measure(studio, strikes);
  const worst = await soak(studio, soakS);
  const after = await studio.page.evaluate(() => {
    const { player, studio } = window.eigentone.app;
    const { context } = player;
    return { ...player.figures.value, rate: context.sampleRate, base: context.baseLatency, output: context.outputLatency, late: studio.meters.value?.lateEvents ?? 0 };
  });
  console.log(JSON.stringify({
    scene: values.scene,
    sample_rate_hz: after.rate,
    ...way,
    soak_s: soakS,
    underruns: after.underruns - warm,
    underruns_in_warm_up: warm,
    target_lead_frames: after.leadFrames,
    browser_block_frames: Math.round(after.base * after.rate),
    latency_shown_ms: round(after.latencyMs),
    base_latency_ms: round(1000 * after.base),
    output_latency_ms: round(1000 * after.output),
    worst_load: round(100 * worst) / 100,
    late_events: after.late,
    machine_load: round(loadavg()[0]),
    complaints: studio.complaints,
  }, null, 2));
} finally {
  await studio.close();
  rmSync(folder, { recursive: true, force: true });
}
