// What a sound designer changes: meshes, sliders, modes, recordings.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { barHz, peakHz } from "./analysis.mjs";
import { openStudio } from "./studio.mjs";

let studio;
let bar;
before(async () => {
  studio = await openStudio({ scene: "empty" });
  bar = await studio.add("bar");
  await studio.present(bar);
});
after(() => studio?.close());

/** A box of so many metres as OBJ, around the origin. */
function box(x, y, z) {
  const corners = [];
  for (const i of [-0.5, 0.5]) for (const j of [-0.5, 0.5]) for (const k of [-0.5, 0.5]) corners.push(`v ${i * x} ${j * y} ${k * z}`);
  const faces = ["1 3 4", "1 4 2", "5 6 8", "5 8 7", "1 2 6", "1 6 5", "3 7 8", "3 8 4", "1 5 7", "1 7 3", "2 4 8", "2 8 6"];
  return `${corners.join("\n")}\n${faces.map((face) => `f ${face}`).join("\n")}\n`;
}

const drop = (name, bytes) => studio.page.evaluate(([name, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([typeof bytes === "string" ? bytes : new Uint8Array(bytes)], name));
  dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
}, [name, bytes]);

const newBody = async (ids) => {
  await studio.until((ids) => [...window.eigentone.app.studio.bodies.value.keys()].some((id) => !ids.includes(id)), ids);
  return (await studio.bodies()).find(({ id }) => !ids.includes(id));
};

test("a whole movement of a slider is one step of undo, and a double-click resets", async () => {
  const steps = await studio.undoSteps();
  const pitch = studio.page.locator("#sliders input[aria-label='Pitch']");
  const at = await pitch.boundingBox();
  await studio.page.mouse.move(at.x + at.width * 0.5, at.y + at.height / 2);
  await studio.page.mouse.down();
  await studio.page.mouse.move(at.x + at.width * 0.75, at.y + at.height / 2, { steps: 12 });
  await studio.page.mouse.up();
  await studio.untilBody(bar, (body) => body.pitch > 1.3);
  await studio.until((steps) => window.eigentone.app.studio.history.value.undo > steps, steps);
  assert.equal(await studio.undoSteps(), steps + 1);
  await pitch.dblclick();
  await studio.untilBody(bar, (body) => body.pitch === 1);
});

test("a dropped mesh of millimetres is taken as such, sounds at once, and in the end as a free bar does", async () => {
  const ids = (await studio.bodies()).map(({ id }) => id);
  const size = { length: 0.3, thickness: 0.01 };
  await drop("block.obj", box(300, 50, 10));
  await studio.page.waitForSelector("dialog");
  await studio.until(() => document.querySelector("#mesh-size").textContent !== "");
  assert.match(await studio.page.textContent("#mesh-size"), /300 mm × 50 mm × 10 mm/);
  assert.equal(await studio.page.inputValue("#mesh-scale"), "0.001");
  await studio.page.selectOption("#mesh-material", "steel");
  const began = Date.now();
  await studio.page.click("#mesh-add");
  const mesh = await newBody(ids);
  console.log(`figure studio.mesh_sounds_after = ${Date.now() - began} ms (${mesh.provisional ? "provisional" : "ready"}, ${mesh.modes} modes)`);
  assert.ok(mesh.sounds);
  await studio.untilBody(mesh.id, (body) => !body.provisional);
  await studio.page.click('[data-mallet="felt"]');
  await studio.present(mesh.id, [0, 0, 1.5]);
  await studio.hush();
  const heard = peakHz(await studio.hear(() => studio.strike(mesh.id, { at: [0, 0, 0.005], share: 1 }), 0.7));
  const steel = await studio.page.evaluate(async () => (await window.eigentone.app.api.materials()).find(({ name }) => name === "steel"));
  const bending = barHz({ ...size, young: steel.young_pa, density: steel.density_kg_m3 });
  console.log(`heard ${heard.toFixed(1)} Hz, a thin bar has ${bending.toFixed(1)} Hz`);
  assert.ok(Math.abs(heard / bending - 1) < 0.02);
  await studio.page.keyboard.press("Delete");
  await studio.until((id) => !window.eigentone.app.studio.bodies.value.has(id), mesh.id);
});

test("a file that is none is refused with a hint, and nothing happens", async () => {
  const ids = (await studio.bodies()).map(({ id }) => id);
  await drop("notes.txt", "hello");
  await studio.page.waitForSelector(".toast[data-level=error] >> text=notes.txt");
  assert.match(await studio.page.textContent(".toast[data-level=error] p"), /OBJ, STL/);
  await drop("broken.obj", "v 0 0 0\nf 1 2 3\n");
  await studio.page.click("#mesh-add");
  await studio.until(() => document.querySelectorAll(".toast[data-level=error]").length >= 2);
  assert.deepEqual((await studio.bodies()).map(({ id }) => id), ids);
  // The browser itself writes refused requests into its console.
  const expected = studio.complaints.splice(0);
  assert.ok(expected.every((text) => /status of 400/.test(text)), expected.join());
});

test("a mode can be muted, retuned, heard alone and seen", async () => {
  await studio.select(bar);
  await studio.present(bar);
  await studio.page.focus(".modes canvas");
  await studio.page.keyboard.press("ArrowRight");
  assert.match(await studio.page.textContent(".readout"), /^Mode \d+: .*Hz/);
  const first = (await studio.body(bar)).first_hz;
  const steps = await studio.undoSteps();
  await studio.page.keyboard.press("]");
  await studio.until((steps) => window.eigentone.app.studio.history.value.undo > steps, steps);
  await studio.page.click("#mode-solo");
  assert.equal(await studio.page.getAttribute("#mode-solo", "aria-pressed"), "true");
  await studio.hush();
  const heard = peakHz(await studio.hear(() => studio.strike(bar, { at: [0, 0, 0.004], share: 1 }), 0.7));
  assert.ok(Math.abs(heard / (first * 2 ** (1 / 48)) - 1) < 0.002, `${heard} Hz, a quarter of a semitone above ${first}`);
  await studio.page.click("#mode-solo");
  await studio.page.click("#mode-reset");
});

/** A blow with two partials as a WAV of 16 bits. */
function tap() {
  const [rate, seconds] = [44100, 1.5];
  const bytes = Buffer.alloc(44 + 2 * rate * seconds);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(2 * rate, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * rate * seconds, 40);
  for (let i = 0; i < rate * seconds; i++) {
    const t = i / rate - 0.1;
    const sample = t < 0 ? 0 : 0.4 * Math.exp(-6 * t) * Math.sin(2 * Math.PI * 500 * t) + 0.2 * Math.exp(-9 * t) * Math.sin(2 * Math.PI * 1370 * t);
    bytes.writeInt16LE(Math.round(32000 * sample), 44 + 2 * i);
  }
  return [...bytes];
}

test("a recording is seen and heard beside a body, and a body is fitted to it", async () => {
  const ids = (await studio.bodies()).map(({ id }) => id);
  await drop("tap.wav", tap());
  await studio.page.waitForSelector("dialog .spectra");
  await studio.until(() => !document.querySelector("#play-body").disabled);
  await studio.hush();
  const recorded = peakHz(await studio.hear(() => studio.page.click("#play-recording"), 0.7));
  assert.ok(Math.abs(recorded / 500 - 1) < 0.005, `the recording is heard: ${recorded} Hz`);
  await studio.page.click("#fit-recording");
  const fitted = await newBody(ids);
  const model = await studio.page.evaluate((id) => window.eigentone.app.api.model(id), fitted.id);
  for (const hz of [500, 1370]) assert.ok(model.modes.some(({ frequency_hz }) => Math.abs(frequency_hz - hz) < 5), `a mode at ${hz} Hz`);
  await studio.until(() => !document.querySelector("#play-body").disabled);
  assert.match(await studio.page.textContent("dialog .recording [role=status]"), /modes explain .* %/);
  await studio.quiet();
  const body = peakHz(await studio.hear(() => studio.page.click("#play-body"), 0.7));
  assert.ok(Math.abs(body / 500 - 1) < 0.01, `so is the body: ${body} Hz`);
  await studio.page.keyboard.press("Escape");
  assert.ok(await studio.page.isVisible("#compare-recording"), "the comparison can be opened again");
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
