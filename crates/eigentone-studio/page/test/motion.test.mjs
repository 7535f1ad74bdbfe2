// What moves: the hand, the hail, the listener.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { peakDb, rmsDb } from "./analysis.mjs";
import { openStudio, sleep } from "./studio.mjs";

let studio;
let brick;
before(async () => {
  studio = await openStudio({ scene: "empty" });
  brick = await studio.add("brick");
  await atRest(brick);
});
after(() => studio?.close());

/** Waits until a body lies still and nothing sounds. */
async function atRest(id) {
  await studio.until((id) => {
    const { mesh } = window.eigentone.view.view(id) ?? {};
    if (!mesh?.visible) return false;
    const before = window.lastPlace;
    window.lastPlace = mesh.position.clone();
    return before && before.distanceTo(mesh.position) < 1e-5;
  }, id);
  await studio.quiet();
}

/** Where a body is, in m. */
const place = (id) => studio.page.evaluate((id) => window.eigentone.view.view(id).mesh.position.toArray(), id);

test("a body that is lifted and let go is heard where it lands", async () => {
  await studio.look(brick, 0.4);
  await studio.page.evaluate(() => {
    window.contacts = 0;
    const { view } = window.eigentone;
    const push = view.flashes.push.bind(view.flashes);
    view.flashes.push = (packet) => ((window.contacts += packet.contacts.length), push(packet));
  });
  const [x, y] = await studio.aim(brick);
  await studio.page.keyboard.press("2");
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await studio.page.mouse.move(x, y - 130, { steps: 20 });
  await studio.until((id) => window.eigentone.view.view(id).mesh.position.z > 0.15, brick);
  assert.ok(await studio.page.evaluate(() => document.querySelector(".spring").classList.contains("on")));
  await studio.played(0.5);
  const heard = await studio.hear(() => studio.page.mouse.up(), 0.5, { threshold: 1e-4 });
  const contacts = await studio.page.evaluate(() => window.contacts);
  console.log(`landed with a peak of ${peakDb(heard).toFixed(1)} dB, ${contacts} contacts`);
  assert.ok(contacts > 0);
  await atRest(brick);
});

/** Drags the brick over the floor by the clock, whatever the pace of the pictures; its mean speed in m/s and what was heard meanwhile. */
async function scrape(pixelsPerS, side) {
  const [x, y] = await studio.aim(brick);
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  const drag = async (seconds, from) => {
    const began = Date.now();
    let t = 0;
    while (t < seconds) {
      t = Math.min(seconds, (Date.now() - began) / 1000);
      await studio.page.mouse.move(x + side * pixelsPerS * (from + t), y);
    }
  };
  await drag(0.4, 0);
  const [from, began] = [await place(brick), Date.now()];
  let moved;
  const heard = await studio.hear(async () => {
    await drag(1, 0.4);
    moved = Math.hypot(...(await place(brick)).map((value, k) => value - from[k])) / ((Date.now() - began) / 1000);
  }, 0.6, { threshold: 0 });
  await studio.page.mouse.up();
  await atRest(brick);
  return { speed: moved, db: rmsDb(heard) };
}

test("dragging scrapes, and faster is louder", async () => {
  await studio.page.keyboard.press("2");
  await studio.look(brick, 0.8);
  const slow = await scrape(40, 1);
  const fast = await scrape(240, -1);
  await studio.page.keyboard.press("1");
  console.log(`${slow.speed.toFixed(3)} m/s: ${slow.db.toFixed(1)} dB, ${fast.speed.toFixed(3)} m/s: ${fast.db.toFixed(1)} dB`);
  assert.ok(fast.speed > 2.5 * slow.speed && slow.speed > 0.01);
  assert.ok(slow.db > -110, "the slow one is heard");
  assert.ok(fast.db > slow.db + 6);
});

test("keys move the listener", async () => {
  const ear = () => studio.page.evaluate(() => window.eigentone.app.studio.listener.value.position);
  const from = await ear();
  await studio.page.focus(".view > canvas");
  await studio.page.keyboard.down("d");
  await studio.until(([x, y]) => {
    const [nx, ny] = window.eigentone.app.studio.listener.value.position;
    return Math.hypot(nx - x, ny - y) > 0.2;
  }, from);
  await studio.page.keyboard.up("d");
});

test("why is it silent is answered in words", async () => {
  await studio.page.click("#why");
  await studio.page.waitForSelector("dialog .reasons li");
  assert.ok((await studio.page.textContent("dialog .reasons")).length > 10);
  await studio.page.keyboard.press("Escape");
});

test("the lower the masking threshold, the fewer modes of a hail are kept", async () => {
  await studio.open("hail");
  await studio.page.click("#tab-hail");
  if (!(await studio.page.isChecked("#hail-on"))) await studio.page.click("#hail-on");
  const field = studio.page.locator("input[aria-label='Masking threshold, value']");
  const kept = async (value) => {
    await field.fill(value);
    await field.press("Enter");
    await studio.played(1.5);
    const shares = [];
    for (let i = 0; i < 20; i++) {
      const share = await studio.page.evaluate(() => window.eigentone.app.studio.keptShare.value);
      if (Number.isFinite(share)) shares.push(share);
      await studio.played(0.1);
    }
    assert.ok(shares.length > 0, "modes ring in a hail");
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  };
  // The first stones have to land.
  await studio.until(() => Number.isFinite(window.eigentone.app.studio.keptShare.value));
  const shares = [];
  for (const threshold of ["off", "15", "6", "0"]) shares.push(await kept(threshold));
  console.log(`kept ${shares.map((share) => share.toFixed(3))} without masking and at 15, 6 and 0 dB; shown ${await studio.page.textContent("#kept-share")}`);
  assert.ok(shares.every((share, i) => i === 0 || share < shares[i - 1] - 0.02));
  assert.ok(shares[0] <= 1 && shares[3] < 0.7 * shares[0]);
  assert.match(await studio.page.textContent("#kept-share"), /^\d+(\.\d+)? ?%$/);
});

test("the cloud follows the mouse", async () => {
  const center = () => studio.page.evaluate(() => window.eigentone.app.studio.hail.value.center);
  const from = await center();
  const box = await studio.page.locator(".view > canvas").boundingBox();
  const point = await studio.page.evaluate(() => {
    const { view } = window.eigentone;
    const handle = view.hail.handle;
    view.stage.frame(handle.position.clone(), 1.5 * Math.max(...handle.scale.toArray()));
    view.stage.controls.update();
    view.stage.camera.updateMatrixWorld();
    return view.project(handle.position.clone());
  });
  const [x, y] = [box.x + point[0], box.y + point[1]];
  await studio.pictures(3);
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await studio.page.mouse.move(x + 90, y, { steps: 8 });
  await studio.page.mouse.up();
  await studio.until(([x, y]) => {
    const [nx, ny] = window.eigentone.app.studio.hail.value.center;
    return Math.hypot(nx - x, ny - y) > 0.1;
  }, from);
  await sleep(100);
  assert.ok(Math.abs((await center())[2] - from[2]) < 1e-6);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
