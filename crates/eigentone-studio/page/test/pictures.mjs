// Takes the pictures of docs/studio from the real thing: `npm run pictures`.
import { mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStudio, sleep } from "./studio.mjs";

const MAX_BYTES = 300_000;
const folder = join(dirname(fileURLToPath(import.meta.url)), "../../../../docs/studio");
mkdirSync(folder, { recursive: true });

/** Shadows also where the picture is drawn by the processor. */
const withShadows = () => {
  const { stage } = window.eigentone.view;
  stage.economy = 2;
  stage.renderer.shadowMap.enabled = true;
  stage.sun.castShadow = true;
  stage.ground.visible = true;
  stage.scene.traverse((object) => object.material && (object.material.needsUpdate = true));
  stage.stale = true;
};

/** All pictures, or those named on the command line. */
const wanted = (name) => process.argv.length < 3 || process.argv.includes(name);

async function picture(name, options, prepare) {
  const studio = await openStudio({ viewport: { width: 1280, height: 720 }, ...options });
  try {
    await sleep(1500);
    await studio.page.evaluate(withShadows);
    await prepare(studio);
    const path = join(folder, `${name}.png`);
    await studio.page.screenshot({ path });
    const bytes = statSync(path).size;
    console.log(`${path}: ${bytes} bytes`);
    if (bytes > MAX_BYTES) process.exitCode = 1;
  } finally {
    await studio.close();
  }
}

async function idOf(studio, name) {
  return (await studio.bodies()).find((body) => body.name === name)?.id ?? (await studio.bodies())[0].id;
}

async function strikes(studio, name, times) {
  const id = await idOf(studio, name);
  for (let i = 0; i < times; i++) {
    await studio.strike(id, 250);
    await sleep(600);
  }
  return id;
}

if (wanted("strike")) await picture("strike", {}, async (studio) => {
  await strikes(studio, "glass", 2);
  const id = await strikes(studio, "bowl", 3);
  const [x, y] = await studio.aim(id);
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await sleep(350);
});

if (wanted("modes")) await picture("modes", { colorScheme: "light" }, async (studio) => {
  const id = await strikes(studio, "bowl", 3);
  await studio.present(id, [0, 0, 0.3]);
  await studio.strike(id, 400);
  await studio.page.focus(".modes canvas");
  for (let i = 0; i < 3; i++) await studio.page.keyboard.press("ArrowRight");
  await sleep(1000);
});

if (wanted("hail")) await picture("hail", { scene: "hail", viewport: { width: 1150, height: 647 } }, async (studio) => {
  await studio.page.click("#tab-hail");
  await sleep(2000);
  await studio.page.evaluate(() => window.eigentone.view.frameAll());
  await sleep(1500);
});

if (wanted("grab")) await picture("grab", { colorScheme: "light" }, async (studio) => {
  const id = await idOf(studio, "plank");
  const [x, y] = await studio.aim(id);
  await studio.page.keyboard.press("2");
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await studio.page.mouse.move(x - 60, y - 190, { steps: 12 });
  await sleep(150);
});

if (wanted("rooms")) await picture("rooms", { scene: "two-rooms", viewport: { width: 1150, height: 647 } }, async (studio) => {
  await studio.page.click("#tab-rooms");
  await studio.select(await idOf(studio, "block in the bare room"));
  await studio.until(() => window.eigentone.rooms.cut.value !== null && window.eigentone.rooms.here.value !== null, 20_000);
  await sleep(1500);
  const box = await studio.page.locator(".view > canvas").boundingBox();
  await studio.page.mouse.move(box.x + 0.62 * box.width, box.y + 0.5 * box.height);
  await sleep(300);
});

/** Rings of black and white, as a turned plate has them. */
const layRings = async (studio, id) => {
  await studio.page.evaluate(async (id) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [384, 256];
    const context = canvas.getContext("2d");
    for (let radius = 240; radius > 0; radius -= 24) {
      context.fillStyle = `hsl(0 0% ${radius % 48 === 0 ? 92 : 12}%)`;
      context.beginPath();
      context.arc(192, 128, radius, 0, 2 * Math.PI);
      context.fill();
    }
    const png = await new Promise((done) => canvas.toBlob(done, "image/png"));
    await window.eigentone.app.api.layMap(id, "rings.png", png, 0.2, 2);
  }, id);
  await studio.until((id) => window.eigentone.view.view(id).mesh.material.map !== null, 20_000, id);
};

if (wanted("surface")) await picture("surface", { scene: "surfaces", colorScheme: "dark" }, async (studio) => {
  const id = await idOf(studio, "brushed metal");
  await studio.select(id);
  await layRings(studio, id);
  await studio.page.evaluate((id) => window.eigentone.app.do({ do: "surface", body: id, set: { roughness: 2.5, low_pass: { slip: [[0, 300], [0.4, 9000], [1.2, 14000]] } } }), id);
  await studio.page.click("#tab-surface");
  await studio.page.evaluate(() => window.eigentone.view.frameAll());
  await sleep(2500);
});

if (wanted("resonator")) await picture("resonator", { colorScheme: "light" }, async (studio) => {
  const id = await idOf(studio, "bowl");
  await studio.select(id);
  await studio.present(id, [0, 0, 0.3]);
  const bands = [{ low_hz: 1500, high_hz: 4000, gain: 2, t60_s: 0.8 }, { low_hz: 5000, high_hz: 11000, gain: 0.4, t60_s: 0.25 }];
  await studio.page.evaluate(([id, diffuse]) => window.eigentone.app.do({ do: "resonator", body: id, diffuse, glide: { amount: 0.05 } }), [id, bands]);
  await studio.page.focus(".modes canvas");
  for (let i = 0; i < 2; i++) await studio.page.keyboard.press("ArrowRight");
  await studio.page.click("#mode-add");
  await studio.page.click("#tab-resonator");
  await studio.strike(id, 300);
  await sleep(700);
});

if (wanted("soft")) await picture("soft", { scene: "jelly" }, async (studio) => {
  await studio.until(() => (window.eigentone.app.studio.transport.value?.end_s ?? 0) > 0.4, 300_000);
  await studio.page.click("#replay");
  await sleep(900);
  await studio.page.click("#play");
  await studio.page.evaluate(() => window.eigentone.app.do({ do: "seek", time_s: 0.21 }));
  await sleep(1000);
  await studio.page.evaluate(() => window.eigentone.view.frameAll());
  await sleep(1500);
});
