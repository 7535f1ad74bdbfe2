// What moves: the hand, the hail, the listener.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStudio, sleep } from "./studio.mjs";

let studio;
before(async () => {
  studio = await openStudio({ scene: "empty" });
});
after(() => studio?.close());

test("a body that is dragged and dropped is heard where it lands", async () => {
  const die = await studio.add("plank");
  await sleep(1500);
  await studio.page.evaluate((id) => {
    const { view } = window.eigentone;
    view.stage.frame(view.view(id).mesh.position.clone(), 0.4);
  }, die);
  await studio.quiet();
  await studio.page.evaluate(() => {
    window.contacts = 0;
    const { view } = window.eigentone;
    const push = view.flashes.push.bind(view.flashes);
    view.flashes.push = (packet) => ((window.contacts += packet.contacts.length), push(packet));
  });
  const [x, y] = await studio.aim(die);
  await studio.page.keyboard.press("2");
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await studio.page.mouse.move(x + 20, y - 120, { steps: 15 });
  await sleep(500);
  const height = await studio.page.evaluate((id) => window.eigentone.view.view(id).mesh.position.z, die);
  const spring = await studio.page.evaluate(() => document.querySelector(".spring").classList.contains("on"));
  await studio.page.mouse.up();
  const peak = await studio.watchPeak(1500);
  const contacts = await studio.page.evaluate(() => window.contacts);
  console.log(`lifted to ${height.toFixed(3)} m, peak ${peak}, ${contacts} contacts`);
  assert.ok(spring);
  assert.ok(height > 0.05);
  assert.ok(peak > 1e-5);
  assert.ok(contacts > 0);
  await studio.page.keyboard.press("1");
});

test("keys move the listener", async () => {
  const place = () => studio.page.evaluate(() => window.eigentone.app.studio.listener.value.position);
  const from = await place();
  await studio.page.focus(".view > canvas");
  await studio.page.keyboard.down("d");
  await sleep(600);
  await studio.page.keyboard.up("d");
  const to = await place();
  assert.ok(Math.hypot(to[0] - from[0], to[1] - from[1]) > 0.2);
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
    await sleep(2500);
    const shares = [];
    for (let i = 0; i < 15; i++) {
      shares.push(await studio.page.evaluate(() => window.eigentone.app.studio.keptShare.value));
      await sleep(100);
    }
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  };
  await sleep(2500);
  const shares = [];
  for (const threshold of ["off", "15", "6", "0"]) shares.push(await kept(threshold));
  console.log(`kept ${shares.map((share) => share.toFixed(3))} without masking and at 15, 6 and 0 dB; shown ${await studio.page.textContent("#kept-share")}`);
  assert.ok(shares.every((share, i) => i === 0 || share < shares[i - 1] - 0.02));
  assert.ok(shares[0] <= 1 && shares[3] < 0.7 * shares[0]);
  assert.match(await studio.page.textContent("#kept-share"), /^\d+(\.\d+)? ?%$/);
});

test("the cloud follows the mouse", async () => {
  const place = () => studio.page.evaluate(() => window.eigentone.app.studio.hail.value.center);
  const from = await place();
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
  await sleep(300);
  await studio.page.mouse.move(x, y);
  await studio.page.mouse.down();
  await studio.page.mouse.move(x + 90, y, { steps: 8 });
  await studio.page.mouse.up();
  const to = await place();
  assert.ok(Math.hypot(to[0] - from[0], to[1] - from[1]) > 0.1);
  assert.ok(Math.abs(to[2] - from[2]) < 1e-6);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
