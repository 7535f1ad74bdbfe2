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
