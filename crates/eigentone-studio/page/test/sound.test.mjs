// The page sounds: where it is struck, as hard as it is struck, at the frequencies and with the decays the model says.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { barHz, decayPerS, highShareDb, levelDb, peakHz } from "./analysis.mjs";
import { openStudio, sleep } from "./studio.mjs";

/** The bar of the shelf. */
const BAR = { length: 0.22, thickness: 0.008 };
const MIDDLE = [0, 0, 0.004];

let studio;
let bar;
before(async () => {
  studio = await openStudio({ scene: "empty", sound: false });
});
after(() => studio?.close());

const model = () => studio.page.evaluate((id) => window.eigentone.app.api.model(id), bar);
const materials = () => studio.page.evaluate(() => window.eigentone.app.api.materials());
const mallet = (name) => studio.page.click(`[data-mallet="${name}"]`);
const near = (found, wanted, share, what) => assert.ok(Math.abs(found / wanted - 1) < share, `${what}: ${found}, not ${wanted}`);

test("the page loads without complaints, and asks no other host", async () => {
  await studio.until(() => document.querySelector("#status-link").textContent.includes("connected"));
  assert.deepEqual(studio.complaints, []);
});

test("without sound the page says how to start it, and a click on the big button does", async () => {
  assert.ok(await studio.page.isVisible("#start-sound"));
  assert.match(await studio.page.textContent(".start-sound"), /Start sound.*after a click/);
  await studio.startSound();
  assert.ok(await studio.page.isHidden("#start-sound"));
});

test("a struck bar is heard at the frequency of a free bar, and decays as its model says", async () => {
  bar = await studio.add("bar");
  await studio.present(bar);
  await mallet("felt");
  const heard = await studio.hear(() => studio.strike(bar, { at: MIDDLE }), 1.5);
  const aluminium = (await materials()).find(({ name }) => name === "aluminium");
  const { modes } = await model();
  const hz = peakHz(heard);
  console.log(`heard ${hz.toFixed(1)} Hz, model ${modes[0].frequency_hz.toFixed(1)} Hz; decay ${decayPerS(heard, hz).toFixed(2)}, model ${modes[0].decay_per_s.toFixed(2)} 1/s`);
  near(hz, barHz({ ...BAR, young: aluminium.young_pa, density: aluminium.density_kg_m3 }), 0.02, "thin bar");
  near(hz, modes[0].frequency_hz, 0.002, "its model");
  near(decayPerS(heard, hz), modes[0].decay_per_s, 0.1, "its decay");
});

test("a longer press strikes harder, and is louder by as much", async () => {
  await studio.page.evaluate((id) => window.eigentone.app.set(id, window.eigentone.app.beginGesture(), { gain: 0.05 }), bar);
  const [{ frequency_hz: hz }] = (await model()).modes;
  const blows = [];
  for (const share of [0, 1]) {
    await studio.hush();
    let impulse;
    const heard = await studio.hear(async () => (impulse = await studio.strike(bar, { at: MIDDLE, share })), 0.5);
    blows.push({ impulse, db: levelDb(heard, hz) });
  }
  const [soft, hard] = blows;
  console.log(`${soft.impulse} N·s: ${soft.db.toFixed(1)} dB, ${hard.impulse} N·s: ${hard.db.toFixed(1)} dB`);
  assert.ok(hard.impulse > 4 * soft.impulse);
  const wanted = 20 * Math.log10(hard.impulse / soft.impulse);
  assert.ok(Math.abs(hard.db - soft.db - wanted) < 1, `${hard.db - soft.db} dB, not ${wanted}`);
  await studio.page.keyboard.press("Control+z");
  await studio.untilBody(bar, (body) => body.gain === 1);
});

test("another place has other modes: the first is missing at its node", async () => {
  await studio.hush();
  const { modes } = await model();
  const hz = modes[0].frequency_hz;
  // Free bars have nodes of the first mode 0.2242 L from their ends; 2.757 times as high is the second.
  const second = modes.map((mode) => mode.frequency_hz).reduce((best, f) => (Math.abs(f / hz - 2.74) < Math.abs(best / hz - 2.74) ? f : best));
  const ratio = async (at) => {
    const heard = await studio.hear(() => studio.strike(bar, { at }), 0.5);
    await studio.hush();
    return levelDb(heard, hz) - levelDb(heard, second);
  };
  const [middle, node] = [await ratio(MIDDLE), await ratio([(0.5 - 0.2242) * BAR.length, 0, 0.004])];
  console.log(`first beside second mode: ${middle.toFixed(1)} dB in the middle, ${node.toFixed(1)} dB at the node`);
  assert.ok(middle > node + 20);
});

test("a mallet of one's own: harder is brighter", async () => {
  const shares = [];
  await mallet("own");
  for (const hardness of ["5k", "200M"]) {
    await studio.page.fill("#mallets input[aria-label='Hardness, value']", hardness);
    await studio.page.keyboard.press("Enter");
    await studio.page.fill("#mallets input[aria-label='Mass, value']", "20 g");
    await studio.page.keyboard.press("Enter");
    await studio.hush();
    shares.push(highShareDb(await studio.hear(() => studio.strike(bar, { at: [0.05, 0.006, 0.004] }), 0.3)));
  }
  const blow = await studio.page.evaluate(() => window.eigentone.app.lastBlow.blow.mallet);
  console.log(`above 4 kHz ${shares.map((db) => db.toFixed(1))} dB of all, last mallet ${JSON.stringify(blow)}`);
  near(blow.mass_kg, 0.02, 0.01, "its mass");
  near(blow.stiffness_n_m, 2e8, 0.01, "its stiffness");
  // A mass of 20 g on a spring of 5 kN/m turns back within 6 ms: 4 kHz are far above what it excites.
  assert.ok(shares[1] > shares[0] + 20);
  await mallet("wood");
});

test("another material has the pitch and the decay that its model says, and undo brings the old sound back", async () => {
  await mallet("felt");
  const listen = async () => {
    await studio.hush();
    const { modes } = await model();
    const heard = await studio.hear(() => studio.strike(bar, { at: MIDDLE, share: 1 }), 1.2);
    const hz = peakHz(heard);
    near(hz, modes[0].frequency_hz, 0.003, "its model's pitch");
    near(decayPerS(heard, hz), modes[0].decay_per_s, 0.12, "its model's decay");
    return { hz, decay: decayPerS(heard, hz), db: levelDb(heard, hz, 0, 24_000) };
  };
  const before = await studio.body(bar);
  const old = await listen();
  await studio.page.selectOption("#material", "wood");
  await studio.untilBody(bar, (body) => body.material === "wood" && !body.provisional && Math.abs(body.first_hz / before.first_hz - 1) > 0.01);
  const table = await materials();
  const speed = (wanted) => table.filter(({ name }) => name === wanted).map(({ young_pa, density_kg_m3 }) => Math.sqrt(young_pa / density_kg_m3))[0];
  const wood = await listen();
  console.log(`aluminium ${old.hz.toFixed(1)} Hz ${old.decay.toFixed(1)} 1/s, wood ${wood.hz.toFixed(1)} Hz ${wood.decay.toFixed(1)} 1/s`);
  near(wood.hz / old.hz, speed("wood") / speed("aluminium"), 0.02, "the ratio of the speeds of sound");
  assert.ok(wood.decay > 3 * old.decay);
  await studio.page.keyboard.press("Control+z");
  await studio.untilBody(bar, (body) => body.material === "aluminium" && !body.provisional && Math.abs(body.first_hz / before.first_hz - 1) < 1e-4);
  const again = await listen();
  near(again.hz, old.hz, 0.001, "the old pitch");
  assert.ok(Math.abs(again.db - old.db) < 0.5, `${again.db} dB, not ${old.db}`);
  await studio.page.keyboard.press("Control+y");
  await studio.untilBody(bar, (body) => body.material === "wood");
  await studio.page.click("#undo");
  await studio.untilBody(bar, (body) => body.material === "aluminium" && !body.provisional);
});

test("two versions are compared at equal loudness", async () => {
  const listen = async () => {
    await studio.hush();
    const heard = await studio.hear(() => studio.strike(bar, { at: MIDDLE, share: 1 }), 0.5);
    return { hz: peakHz(heard), db: levelDb(heard, peakHz(heard)) };
  };
  const change = (setting) => studio.page.evaluate(([id, setting]) => window.eigentone.app.set(id, window.eigentone.app.beginGesture(), setting), [bar, setting]);
  const slot = async (index, name) => {
    await studio.page.click(`#ab button:nth-child(${index})`);
    await studio.until((name) => window.eigentone.app.studio.slot.value === name, name);
  };
  await change({ gain: 0.125 });
  await slot(1, "a");
  await slot(2, "b");
  await change({ gain: 0.5 });
  await studio.untilBody(bar, (body) => body.gain === 0.5);
  const b = await listen();
  await slot(1, "a");
  await studio.untilBody(bar, (body) => body.gain === 0.125);
  const a = await listen();
  await slot(2, "b");
  await studio.until(() => document.querySelector("#ab-match").textContent !== "");
  const matched = await listen();
  const shown = Number((await studio.page.textContent("#ab-match")).replace("−", "-").replace(" dB", ""));
  console.log(`a ${a.db.toFixed(1)} dB, b ${b.db.toFixed(1)} dB, matched ${matched.db.toFixed(1)} dB, shown ${shown} dB`);
  assert.ok(Math.abs(b.db - a.db - 12.04) < 0.5, "version B is four times as loud by itself");
  assert.ok(Math.abs(matched.db - a.db) < 0.5, "and as loud as A when they are compared");
  assert.ok(Math.abs(matched.db - b.db - shown) < 0.5, "by as much as is shown");
  await slot(1, "a");
  await change({ gain: 1 });
});

test("the keyboard strikes as well", async () => {
  await studio.hush();
  await studio.page.focus(".view > canvas");
  const heard = await studio.hear(async () => {
    await studio.page.keyboard.down(" ");
    await studio.page.keyboard.up(" ");
  }, 0.3);
  assert.ok(heard.samples.some((sample) => Math.abs(sample) > 1e-5));
});

test("a click is heard soon", async () => {
  await studio.page.evaluate((id) => window.eigentone.app.set(id, window.eigentone.app.beginGesture(), { damping: 30 }), bar);
  const times = [];
  for (let i = 0; i < 12; i++) {
    await studio.quiet();
    await studio.page.evaluate(() => (window.eigentone.app.player.strike.value = null));
    await studio.strike(bar, { at: MIDDLE });
    await studio.until(() => window.eigentone.app.player.strike.value !== null);
    const { sentMs, arrivedMs, playedMs, heardMs } = await studio.page.evaluate(() => window.eigentone.app.player.strike.value);
    assert.ok(sentMs <= arrivedMs + 1 && arrivedMs <= playedMs && playedMs <= heardMs + 1, `${[sentMs, arrivedMs, playedMs, heardMs]} ms`);
    times.push(playedMs);
  }
  times.sort((a, b) => a - b);
  const [median, p95] = [times[6], times[11]];
  const { underruns, latencyMs } = await studio.page.evaluate(() => window.eigentone.app.player.figures.value);
  console.log(`figure studio.click_to_worklet_median = ${median.toFixed(1)} ms`);
  console.log(`figure studio.click_to_worklet_p95 = ${p95.toFixed(1)} ms`);
  console.log(`buffer and output ${latencyMs.toFixed(1)} ms, ${underruns} underruns`);
  // What the page shows is what was measured.
  assert.match(await studio.page.textContent("#status-strike"), /^Click to sound \d+ ms$/);
  assert.match(await studio.page.textContent("#status-latency"), /^Latency \d+(\.\d+)? ms$/);
  assert.equal(await studio.page.textContent("#status-underruns"), `Underruns ${underruns}`);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
