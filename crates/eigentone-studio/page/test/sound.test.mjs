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
  const [x, y] = await studio.aim(bar);
  const times = [];
  for (let i = 0; i < 20; i++) {
    await studio.quiet();
    await studio.page.mouse.move(x, y);
    times.push(await studio.page.evaluate(async ([x, y]) => {
      const { app } = window.eigentone;
      const canvas = document.querySelector(".view > canvas");
      const told = new Promise((resolve, reject) => {
        const stop = app.player.figures.changed(({ strikeMs }, before) => strikeMs !== null && strikeMs !== before.strikeMs && (stop(), resolve(strikeMs)));
        setTimeout(() => (stop(), reject(new Error("nothing was heard"))), 3000);
      });
      app.player.figures.value = { ...app.player.figures.value, strikeMs: null };
      const at = { clientX: x, clientY: y, button: 0, pointerId: 1, bubbles: true, isPrimary: true, pointerType: "mouse" };
      canvas.setPointerCapture = () => {};
      canvas.dispatchEvent(new PointerEvent("pointerdown", at));
      app.player.arm(1e-6);
      canvas.dispatchEvent(new PointerEvent("pointerup", at));
      return told;
    }, [x, y]));
  }
  times.sort((a, b) => a - b);
  const [median, p95] = [times[10], times[18]];
  const { underruns, latencyMs } = await studio.page.evaluate(() => window.eigentone.app.player.figures.value);
  console.log(`figure studio.click_to_worklet_median = ${median} ms`);
  console.log(`figure studio.click_to_worklet_p95 = ${p95} ms`);
  console.log(`buffer and output ${latencyMs.toFixed(1)} ms, ${underruns} underruns`);
  assert.ok(median < 250);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
