// Takes the pictures of docs/studio and of the scene menu from the real thing: `npm run pictures`, or `npm run pictures strike hail` for some of them.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStudio, sleep } from "./studio.mjs";

const MAX_BYTES = 300_000;
const MAX_SCENE_BYTES = 30_000;
const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, "../../../../docs/studio");
const scenes = join(here, "../src/scenes");
mkdirSync(folder, { recursive: true });
mkdirSync(scenes, { recursive: true });

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

function check(path, most) {
  const bytes = statSync(path).size;
  console.log(`${path}: ${bytes} bytes`);
  if (bytes > most) {
    console.error(`larger than ${most} bytes`);
    process.exitCode = 1;
  }
}

async function picture(name, options, prepare) {
  if (!wanted(name)) return;
  const studio = await openStudio({ viewport: { width: 1280, height: 720 }, ...options });
  try {
    await studio.drawn();
    await studio.until(() => [...document.querySelectorAll(".card canvas")].every((canvas) => canvas.width === 200));
    await studio.page.evaluate(withShadows);
    await prepare(studio);
    await studio.pictures(3);
    const path = join(folder, `${name}.png`);
    await studio.page.screenshot({ path });
    check(path, MAX_BYTES);
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
    await studio.strike(id, { share: 0.6 });
    await studio.played(0.6);
  }
  return id;
}

const view = (studio) => studio.page.locator(".view > canvas");

/** The view alone, small, as WebP. */
async function scenePicture(studio, name) {
  await studio.page.evaluate(() => {
    for (const element of document.querySelectorAll(".toolbar, .view-foot, .view-overlay, .start-sound")) element.style.visibility = "hidden";
    window.eigentone.app.studio.selected.value = null;
    window.eigentone.view.listener.group.scale.setScalar(0);
    window.eigentone.view.frameAll();
  });
  await studio.pictures(4);
  const clip = await view(studio).boundingBox();
  const png = (await studio.page.screenshot({ clip })).toString("base64");
  const webp = await studio.page.evaluate(async (png) => {
    const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(320, 200);
    const scale = Math.max(320 / picture.width, 200 / picture.height);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, (320 - scale * picture.width) / 2, (200 - scale * picture.height) / 2, scale * picture.width, scale * picture.height);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.85 })).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  }, png);
  const path = join(scenes, `${name}.webp`);
  writeFileSync(path, Buffer.from(webp, "base64"));
  check(path, MAX_SCENE_BYTES);
}

if (wanted("scenes")) {
  const studio = await openStudio({ sound: false });
  try {
    const names = await studio.page.evaluate(() => window.eigentone.app.studio.shelf.value.scenes.map(({ name }) => name));
    for (const name of names) {
      await studio.open(name);
      await sleep(2500);
      await scenePicture(studio, name);
    }
  } finally {
    await studio.close();
  }
}

await picture("strike", {}, async (studio) => {
  await strikes(studio, "glass", 2);
  const id = await strikes(studio, "bowl", 3);
  const [x, y] = await studio.aim(id);
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await sleep(350);
});

await picture("start", { sound: false, colorScheme: "light" }, () => sleep(500));

await picture("modes", { colorScheme: "light" }, async (studio) => {
  const id = await strikes(studio, "bowl", 3);
  await studio.present(id, [0, 0, 0.3]);
  await studio.strike(id, { share: 0.7 });
  await studio.page.focus(".modes canvas");
  for (let i = 0; i < 3; i++) await studio.page.keyboard.press("ArrowRight");
  await sleep(1000);
});

await picture("hail", { scene: "hail", viewport: { width: 1150, height: 647 } }, async (studio) => {
  await studio.page.click("#tab-hail");
  await sleep(2000);
  await studio.page.evaluate(() => window.eigentone.view.frameAll());
  await sleep(1500);
});

await picture("grab", { colorScheme: "light" }, async (studio) => {
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
  await studio.until(() => window.eigentone.rooms.cut.value !== null && window.eigentone.rooms.here.value !== null);
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
  await studio.until((id) => window.eigentone.view.view(id).mesh.material.map !== null, id);
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
  await studio.strike(id, { share: 0.4 });
  await sleep(700);
});

if (wanted("soft")) await picture("soft", { scene: "jelly" }, async (studio) => {
  await studio.until(() => (window.eigentone.app.studio.transport.value?.end_s ?? 0) > 0.4);
  await studio.page.click("#replay");
  await sleep(900);
  await studio.page.click("#play");
  await studio.page.evaluate(() => window.eigentone.app.do({ do: "seek", time_s: 0.21 }));
  await sleep(1000);
  await studio.page.evaluate(() => window.eigentone.view.frameAll());
  await sleep(1500);
});

await picture("menu", {}, async (studio) => {
  await studio.page.click("#scene");
  await studio.page.waitForSelector(".menu img");
  await sleep(500);
});

await picture("mesh", {}, async (studio) => {
  const sides = 48;
  const rows = [[0.03, 0], [0.038, 0.02], [0.04, 0.05], [0.041, 0.095]];
  const points = rows.flatMap(([r, z]) => Array.from({ length: sides }, (_, i) => `v ${r * Math.cos((2 * Math.PI * i) / sides)} ${r * Math.sin((2 * Math.PI * i) / sides)} ${z}`));
  const faces = rows.slice(1).flatMap((_, row) => Array.from({ length: sides }, (_, i) => [1, 1 + ((i + 1) % sides) - i, 1 + sides + ((i + 1) % sides) - i, 1 + sides].map((k) => k + row * sides + i)));
  await studio.page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "mug.obj"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  }, `${points.join("\n")}\n${faces.map((face) => `f ${face.join(" ")}`).join("\n")}\n`);
  await studio.page.waitForSelector("#mesh-add");
  await studio.page.selectOption("#mesh-material", "ceramic");
  await sleep(500);
});

await picture("recording", {}, async (studio) => {
  const id = await strikes(studio, "bar", 1);
  const wav = await studio.page.evaluate(async (id) => {
    const bytes = new Uint8Array(await window.eigentone.app.api.blow(id, null));
    return [...bytes];
  }, id);
  await studio.select(await idOf(studio, "plank"));
  await studio.page.evaluate((bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], "bar-take-3.wav"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  }, wav);
  await studio.page.click("#fit-recording");
  await studio.page.waitForSelector("dialog >> text=explain");
  await studio.until(() => !document.querySelector("#play-body").disabled);
  await sleep(300);
});

await picture("variations", { colorScheme: "light" }, async (studio) => {
  await strikes(studio, "glass", 1);
  await studio.page.click("#export");
  await studio.page.click(".menu [role=menuitem] >> text=Variations");
  await sleep(300);
});
