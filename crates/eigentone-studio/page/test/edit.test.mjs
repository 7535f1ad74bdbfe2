// What a sound designer changes: meshes, materials, history, modes, files.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { openStudio, sleep } from "./studio.mjs";

let studio;
let bar;
before(async () => {
  studio = await openStudio({ scene: "empty" });
  bar = await studio.add("bar");
  await studio.present(bar);
});
after(() => studio?.close());

/** A box of so many metres as OBJ. */
function box(x, y, z) {
  const corners = [];
  for (const i of [0, 1]) for (const j of [0, 1]) for (const k of [0, 1]) corners.push(`v ${i * x} ${j * y} ${k * z}`);
  const faces = ["1 3 4", "1 4 2", "5 6 8", "5 8 7", "1 2 6", "1 6 5", "3 7 8", "3 8 4", "1 5 7", "1 7 3", "2 4 8", "2 8 6"];
  return `${corners.join("\n")}\n${faces.map((face) => `f ${face}`).join("\n")}\n`;
}

async function heardAfterStrike(id) {
  await studio.strike(id, 200);
  await sleep(450);
  return (await studio.spectrumPeak()).hz;
}

test("another material has another pitch, and undo brings the old one back", async () => {
  const heard = await heardAfterStrike(bar);
  const before = await studio.body(bar);
  await studio.page.selectOption("#material", "brass");
  await studio.until(([id, hz]) => {
    const body = window.eigentone.app.studio.bodies.value.get(id);
    return body.material === "brass" && !body.provisional && Math.abs(body.first_hz / hz - 1) > 0.01;
  }, 30_000, [bar, before.first_hz]);
  await sleep(1500);
  await studio.until((id) => !window.eigentone.app.studio.bodies.value.get(id).provisional, 30_000, bar);
  const brass = await studio.body(bar);
  const heardBrass = await heardAfterStrike(bar);
  console.log(`${before.material} ${heard.toFixed(1)} Hz, brass ${heardBrass.toFixed(1)} Hz; models ${before.first_hz.toFixed(1)} and ${brass.first_hz.toFixed(1)} Hz`);
  assert.ok(Math.abs(heardBrass / heard / (brass.first_hz / before.first_hz) - 1) < 0.003);
  await studio.page.keyboard.press("Control+z");
  await studio.until(([id, hz]) => Math.abs(window.eigentone.app.studio.bodies.value.get(id).first_hz / hz - 1) < 1e-4, 30_000, [bar, before.first_hz]);
  assert.equal((await studio.body(bar)).material, before.material);
  await studio.page.keyboard.press("Control+y");
  await studio.until((id) => window.eigentone.app.studio.bodies.value.get(id).material === "brass", 30_000, bar);
  await studio.page.click("#undo");
  await studio.until(([id, material]) => window.eigentone.app.studio.bodies.value.get(id).material === material, 30_000, [bar, before.material]);
});

test("a whole movement of a slider is one step of undo, and a double-click resets", async () => {
  const steps = await studio.undoSteps();
  const pitch = studio.page.locator("#sliders input[aria-label='Pitch']");
  const at = await pitch.boundingBox();
  await studio.page.mouse.move(at.x + at.width * 0.5, at.y + at.height / 2);
  await studio.page.mouse.down();
  await studio.page.mouse.move(at.x + at.width * 0.75, at.y + at.height / 2, { steps: 12 });
  await studio.page.mouse.up();
  await studio.until((id) => window.eigentone.app.studio.bodies.value.get(id).pitch > 1.3, 5000, bar);
  await sleep(300);
  assert.equal(await studio.undoSteps(), steps + 1);
  await pitch.dblclick();
  await sleep(300);
  assert.equal((await studio.body(bar)).pitch, 1);
});

test("a dropped mesh sounds within a second and gets better by itself", async () => {
  await studio.page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "block.obj"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  }, box(0.3, 0.05, 0.01));
  await studio.page.waitForSelector("dialog");
  await studio.page.selectOption("#mesh-material", "steel");
  const ids = (await studio.bodies()).map(({ id }) => id);
  const began = Date.now();
  await studio.page.click("#mesh-add");
  await studio.until((ids) => [...window.eigentone.app.studio.bodies.value.values()].some(({ id, sounds }) => !ids.includes(id) && sounds), 10_000, ids);
  const soundsAfter = Date.now() - began;
  const mesh = (await studio.bodies()).find(({ id }) => !ids.includes(id));
  console.log(`figure studio.mesh_sounds_after = ${soundsAfter} ms (${mesh.provisional ? "provisional" : "ready"}, ${mesh.modes} modes)`);
  await studio.until((id) => !window.eigentone.app.studio.bodies.value.get(id).provisional, 60_000, mesh.id);
  await studio.present(mesh.id, [0, 0, 1.5]);
  await studio.strike(mesh.id, 200);
  assert.ok((await studio.watchPeak(500)) > 1e-5);
  await studio.page.keyboard.press("Delete");
  await studio.until((id) => !window.eigentone.app.studio.bodies.value.has(id), 5000, mesh.id);
  assert.ok(soundsAfter < 1000);
});

test("a mode can be muted, retuned and seen", async () => {
  await studio.select(bar);
  await studio.present(bar);
  await studio.page.focus(".modes canvas");
  await studio.page.keyboard.press("ArrowRight");
  assert.match(await studio.page.textContent(".readout"), /^Mode \d+: .*Hz/);
  const first = (await studio.body(bar)).first_hz;
  const steps = await studio.undoSteps();
  await studio.page.keyboard.press("]");
  await studio.until((steps) => window.eigentone.app.studio.history.value.undo > steps, 5000, steps);
  await studio.until(async ([id, hz]) => Math.abs((await window.eigentone.app.api.model(id)).modes[0].frequency_hz / hz - 2 ** (1 / 48)) < 1e-3, 10_000, [bar, first]);
  await studio.page.click("#mode-mute");
  assert.equal(await studio.page.getAttribute("#mode-mute", "aria-pressed"), "true");
});

test("the other version is kept while one listens to this one", async () => {
  const gain = () => studio.page.evaluate((id) => window.eigentone.app.studio.bodies.value.get(id).pitch, bar);
  await studio.page.click("#ab button:nth-child(1)");
  await sleep(300);
  await studio.page.click("#ab button:nth-child(2)");
  await sleep(300);
  await studio.page.evaluate((id) => window.eigentone.app.set(id, window.eigentone.app.beginGesture(), { pitch: 1.5 }), bar);
  await sleep(300);
  await studio.page.click("#ab button:nth-child(1)");
  await studio.until((id) => window.eigentone.app.studio.bodies.value.get(id).pitch === 1, 5000, bar);
  await studio.page.click("#ab button:nth-child(2)");
  await studio.until((id) => Math.abs(window.eigentone.app.studio.bodies.value.get(id).pitch - 1.5) < 1e-6, 5000, bar);
  assert.ok(Math.abs((await gain()) - 1.5) < 1e-6);
});

test("the take and variations can be exported, and the scene saved", async () => {
  const download = async (item) => {
    await studio.page.click("#export");
    await studio.page.click(`.menu [role=menuitem] >> nth=${item}`);
  };
  let [file] = await Promise.all([studio.page.waitForEvent("download"), download(0)]);
  const take = await readFile(await file.path());
  assert.equal(take.subarray(0, 4).toString(), "RIFF");
  assert.ok(take.length > 48_000);
  await download(1);
  await studio.page.fill("dialog input >> nth=0", "3");
  [file] = await Promise.all([studio.page.waitForEvent("download", { timeout: 60_000 }), studio.page.click("dialog button.primary")]);
  const zip = await readFile(await file.path());
  assert.equal(zip.subarray(0, 2).toString(), "PK");
  assert.ok(zip.includes("_03.wav"));
  const toml = await studio.page.evaluate(() => window.eigentone.app.api.sceneText());
  assert.match(toml, /\[\[body\]\]/);
});

test("a recording becomes a body", async () => {
  const ids = (await studio.bodies()).map(({ id }) => id);
  await studio.page.evaluate(() => {
    const [rate, seconds] = [44100, 1.5];
    const bytes = new DataView(new ArrayBuffer(44 + 2 * rate * seconds));
    const text = (at, value) => [...value].forEach((letter, i) => bytes.setUint8(at + i, letter.charCodeAt(0)));
    text(0, "RIFF");
    bytes.setUint32(4, bytes.byteLength - 8, true);
    text(8, "WAVEfmt ");
    bytes.setUint32(16, 16, true);
    bytes.setUint16(20, 1, true);
    bytes.setUint16(22, 1, true);
    bytes.setUint32(24, rate, true);
    bytes.setUint32(28, 2 * rate, true);
    bytes.setUint16(32, 2, true);
    bytes.setUint16(34, 16, true);
    text(36, "data");
    bytes.setUint32(40, 2 * rate * seconds, true);
    for (let i = 0; i < rate * seconds; i++) {
      const t = Math.max(0, i / rate - 0.1);
      const sample = i / rate < 0.1 ? 0 : 0.4 * Math.exp(-6 * t) * Math.sin(2 * Math.PI * 500 * t) + 0.2 * Math.exp(-9 * t) * Math.sin(2 * Math.PI * 1370 * t);
      bytes.setInt16(44 + 2 * i, 32000 * sample, true);
    }
    const data = new DataTransfer();
    data.items.add(new File([bytes.buffer], "tap.wav"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  });
  await studio.until((ids) => [...window.eigentone.app.studio.bodies.value.keys()].some((id) => !ids.includes(id)), 60_000, ids);
  const fitted = (await studio.bodies()).find(({ id }) => !ids.includes(id));
  const model = await studio.page.evaluate((id) => window.eigentone.app.api.model(id), fitted.id);
  for (const hz of [500, 1370]) assert.ok(model.modes.some(({ frequency_hz }) => Math.abs(frequency_hz - hz) < 5), `a mode at ${hz} Hz`);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
