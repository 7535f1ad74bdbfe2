// Surfaces, maps, resonators and modes, changed by hand while they sound.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStudio, sleep } from "./studio.mjs";

let studio;
let bar;
before(async () => {
  studio = await openStudio({ scene: "empty" });
  bar = await studio.add("bar");
  await studio.present(bar);
  await studio.select(bar);
});
after(() => studio?.close());

const sceneText = () => studio.page.evaluate(() => window.eigentone.app.api.sceneText());
const surface = () => studio.page.evaluate((id) => window.eigentone.app.api.surface(id), bar);

async function slide(label, share) {
  const slider = studio.page.locator(`[role=tabpanel]:not([hidden]) input[type=range][aria-label='${label}']`);
  await slider.scrollIntoViewIfNeeded();
  const at = await slider.boundingBox();
  await studio.page.mouse.move(at.x + at.width * 0.5, at.y + at.height / 2);
  await studio.page.mouse.down();
  await studio.page.mouse.move(at.x + at.width * share, at.y + at.height / 2, { steps: 8 });
  await studio.page.mouse.up();
}

test("a surface is copied by its first change, drawn, and undone in one step", async () => {
  await studio.page.selectOption("#surface", "gravel");
  await studio.until((id) => window.eigentone.app.studio.bodies.value.get(id).surface === "gravel", bar);
  await studio.page.click("#tab-surface");
  await studio.page.waitForFunction(() => document.querySelector("#surface-name").textContent === "gravel");
  const steps = await studio.undoSteps();
  await slide("Roughness", 0.75);
  await studio.until((id) => window.eigentone.app.studio.bodies.value.get(id).surface === "my gravel", bar);
  await studio.page.waitForFunction(() => document.querySelector("#surface-name").textContent === "my gravel");
  await studio.until((steps) => window.eigentone.app.studio.history.value.undo === steps + 1, steps);
  const info = await surface();
  assert.ok(info.texture.roughness > 1.5 && info.own && info.like === "gravel");
  assert.match(await sceneText(), /\[\[surface\]\]\nname = "my gravel"\nlike = "gravel"\nroughness = /);
  const drawn = await studio.page.evaluate(() => {
    const canvas = document.querySelector("#panel-surface canvas");
    return new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size;
  });
  assert.ok(drawn > 4, "the profile is drawn");
  await studio.page.selectOption("#surface-profile", "rough");
  await studio.until(async (id) => "rough" in (await window.eigentone.app.api.surface(id)).texture.profile, bar);
  await studio.page.keyboard.press("Control+z");
  await studio.page.keyboard.press("Control+z");
  await studio.until((id) => window.eigentone.app.studio.bodies.value.get(id).surface === "gravel", bar);
});

test("a picture that is dropped is laid over the selected body and seen on it", async () => {
  await studio.page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [64, 64];
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(32, 0, 32, 64);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.95));
    const data = new DataTransfer();
    data.items.add(new File([blob], "worn.jpg"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  });
  await studio.until((id) => window.eigentone.app.studio.bodies.value.get(id).map?.bright === 1, bar);
  await studio.until((id) => window.eigentone.view.view(id).mesh.material.map !== null, bar);
  assert.match(await sceneText(), /surface_map = \{ image = "uploads\/[0-9a-f]{8}-worn\.png"/);
  await studio.page.click("#map-remove");
  await studio.until((id) => window.eigentone.view.view(id).mesh.material.map === null, bar);
});

test("a mode is added where one double-clicks, heard there, and deleted again", async () => {
  const model = () => studio.page.evaluate((id) => window.eigentone.app.api.model(id), bar);
  const before = await model();
  await studio.page.focus(".modes canvas");
  await studio.page.keyboard.press("ArrowRight");
  await studio.page.click("#mode-add");
  await studio.until(async ([id, count]) => (await window.eigentone.app.api.model(id)).modes.length === count + 1, [bar, before.modes.length]);
  const added = (await model()).modes.at(-1);
  assert.ok(Math.abs(added.frequency_hz / before.modes[0].frequency_hz - 1.5) < 0.01);
  await studio.page.evaluate(([id, mode]) => window.eigentone.app.do({ do: "mode", body: id, mode, solo: true }), [bar, added.number]);
  await studio.until(async (id) => (await window.eigentone.app.api.model(id)).modes[0].gain === 0, bar);
  await sleep(300);
  await studio.strike(bar, { share: 0.4 });
  await studio.until((hz) => {
    const bins = new Float32Array(window.probe.frequencyBinCount);
    window.probe.getFloatFrequencyData(bins);
    const best = bins.reduce((most, level, i) => (i > 5 && level > bins[most] ? i : most), 6);
    const each = window.probe.context.sampleRate / window.probe.fftSize;
    return bins[best] > -110 && Math.abs((best * each) / hz - 1) < 0.02;
  }, added.frequency_hz);
  await studio.page.evaluate(([id, mode]) => window.eigentone.app.do({ do: "mode", body: id, mode, delete: true }), [bar, added.number]);
  await studio.until(async ([id, count]) => (await window.eigentone.app.api.model(id)).modes.length === count, [bar, before.modes.length]);
});

test("a noise band and a glide are added while it rings", async () => {
  await studio.page.click("#tab-resonator");
  await studio.page.click("#band-add");
  await studio.page.waitForSelector("#panel-resonator .band");
  await slide("Gain", 0.7);
  await studio.until(async (id) => (await window.eigentone.app.api.resonator(id)).diffuse.at(-1).gain > 1, bar);
  await studio.page.check("#glide-on");
  await studio.until(async (id) => (await window.eigentone.app.api.resonator(id)).glide?.amount === 0.02, bar);
  assert.match(await sceneText(), /glide = \{ amount = 0\.02/);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
