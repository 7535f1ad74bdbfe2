// The page sounds: where it is struck, as hard as it is struck, at the frequencies the model says.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStudio, sleep } from "./studio.mjs";

let studio;
before(async () => {
  studio = await openStudio({ scene: "empty", sound: false });
});
after(() => studio?.close());

test("the page loads without complaints, and asks no other host", async () => {
  await sleep(1000);
  assert.deepEqual(studio.complaints, []);
  assert.match(await studio.page.textContent("#status-link"), /connected/);
});

test("sound starts with a click on the big button", async () => {
  assert.ok(await studio.page.isVisible("#start-sound"));
  await studio.startSound();
  assert.ok(await studio.page.isHidden("#start-sound"));
});

test("a struck body is heard at the frequency of its loudest mode", async () => {
  const bar = await studio.add("bar");
  await studio.present(bar);
  await studio.strike(bar, 200);
  await sleep(500);
  const loudest = await studio.page.evaluate(() => {
    const { frequencyHz, levelDb } = window.eigentone.app.studio.modes.value;
    return frequencyHz[levelDb.indexOf(levelDb.reduce((most, level) => Math.max(most, level)))];
  });
  const model = await studio.page.evaluate((id) => window.eigentone.app.api.model(id), bar);
  const heard = await studio.spectrumPeak();
  console.log(`heard ${heard.hz.toFixed(1)} Hz at ${heard.db.toFixed(1)} dB, loudest mode ${loudest.toFixed(1)} Hz`);
  assert.ok(Math.abs(heard.hz / loudest - 1) < 0.003);
  assert.ok(model.modes.some(({ frequency_hz }) => Math.abs(frequency_hz / heard.hz - 1) < 0.003));
});

test("a longer press strikes harder", async () => {
  const bar = await studio.page.evaluate(() => window.eigentone.app.studio.selected.value);
  const peaks = [];
  for (const hold of [20, 350]) {
    await studio.page.evaluate((body) => window.eigentone.app.connection.post({ do: "hold", body, on: true }), bar);
    await sleep(800);
    await studio.page.evaluate((body) => window.eigentone.app.connection.post({ do: "hold", body, on: false }), bar);
    await studio.quiet();
    await studio.strike(bar, hold);
    peaks.push(await studio.watchPeak(500));
  }
  console.log(`peaks ${peaks}`);
  assert.ok(peaks[0] > 1e-5);
  assert.ok(peaks[1] > 2 * peaks[0]);
});

test("the keyboard strikes as well", async () => {
  const bar = await studio.page.evaluate(() => window.eigentone.app.studio.selected.value);
  await studio.page.evaluate((body) => window.eigentone.app.set(body, window.eigentone.app.beginGesture(), { damping: 20 }), bar);
  await studio.quiet();
  await studio.page.focus(".view > canvas");
  await studio.page.keyboard.down(" ");
  await sleep(150);
  await studio.page.keyboard.up(" ");
  assert.ok((await studio.watchPeak(500)) > 1e-5);
});

test("a click is heard soon", async () => {
  const bar = await studio.page.evaluate(() => window.eigentone.app.studio.selected.value);
  const times = [];
  for (let i = 0; i < 20; i++) {
    await studio.quiet();
    await studio.page.evaluate(() => (window.eigentone.app.player.strike.value = null));
    await studio.strike(bar);
    await studio.until(() => window.eigentone.app.player.strike.value !== null);
    const { sentMs, arrivedMs, playedMs, heardMs } = await studio.page.evaluate(() => window.eigentone.app.player.strike.value);
    assert.ok(sentMs <= arrivedMs + 1 && arrivedMs <= playedMs && playedMs <= heardMs + 1, `${[sentMs, arrivedMs, playedMs, heardMs]} ms`);
    times.push(playedMs);
  }
  times.sort((a, b) => a - b);
  const [median, p95] = [times[10], times[18]];
  const { underruns, latencyMs } = await studio.page.evaluate(() => window.eigentone.app.player.figures.value);
  console.log(`figure studio.click_to_worklet_median = ${median.toFixed(1)} ms`);
  console.log(`figure studio.click_to_worklet_p95 = ${p95.toFixed(1)} ms`);
  console.log(`buffer and output ${latencyMs.toFixed(1)} ms, ${underruns} underruns`);
  assert.ok(median < 250);
  // What the page shows is what was measured.
  assert.match(await studio.page.textContent("#status-strike"), /^Click to sound \d+ ms$/);
  assert.match(await studio.page.textContent("#status-latency"), /^Latency \d+(\.\d+)? ms$/);
  assert.equal(await studio.page.textContent("#status-underruns"), `Underruns ${underruns}`);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
