// Soft bodies: seen moving, stopped, sought and heard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStudio, sleep } from "./studio.mjs";

let studio;
before(async () => {
  studio = await openStudio({ scene: "jelly" });
});
after(() => studio?.close());

const transport = () => studio.page.evaluate(() => window.eigentone.app.studio.transport.value);

/** The corners that are drawn of a body, and the time that they are of. */
const corners = (name) =>
  studio.page.evaluate((name) => {
    const { app, view } = window.eigentone;
    const { id } = [...app.studio.bodies.value.values()].find((body) => body.name === name);
    return { timeS: view.soft.timeOf(id), at: [...view.view(id).mesh.geometry.getAttribute("position").array] };
  }, name);

const largest = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

/** Waits until the newest picture is drawn while time stands still. */
async function settled(name) {
  let last = await corners(name);
  for (let i = 0; i < 200; i++) {
    await sleep(150);
    const now = await corners(name);
    if (now.timeS === last.timeS && i > 2) return now;
    last = now;
  }
  throw new Error("the picture does not come to rest");
}

test("the drawn vertices move while it is simulated", async () => {
  const first = await corners("red");
  await studio.until(() => (window.eigentone.app.studio.transport.value?.end_s ?? 0) > 0.3);
  const later = await corners("red");
  assert.ok(largest(first.at, later.at) > 0.005, `moved by ${largest(first.at, later.at)} m`);
  assert.ok(await studio.page.isVisible("#seek"));
  assert.match(await studio.page.textContent(".timeline output"), /of \d+\.\d\d s/);
});

test("pause stops them", async () => {
  await studio.page.click("#play");
  await studio.until(() => !window.eigentone.app.studio.scene.value.playing);
  const one = await settled("red");
  await sleep(700);
  const two = await corners("red");
  assert.equal(largest(one.at, two.at), 0);
});

test("the slider goes to a time and back, and the picture is the same", async () => {
  const now = await settled("red");
  const { time_s: before } = await transport();
  await studio.page.focus("#seek");
  await studio.page.keyboard.press("PageDown");
  await studio.until((before) => window.eigentone.app.studio.transport.value.time_s < before - 0.2, before);
  const earlier = await settled("red");
  assert.ok(largest(now.at, earlier.at) > 1e-3, "another time looks otherwise");
  await studio.page.evaluate((time) => window.eigentone.app.do({ do: "seek", time_s: time }), 0.1);
  const tenth = await settled("red");
  await studio.page.evaluate(() => window.eigentone.app.do({ do: "seek", time_s: 1e9 }));
  const end = await settled("red");
  assert.equal(largest(now.at, end.at), 0, "the end is the end again");
  await studio.page.evaluate((time) => window.eigentone.app.do({ do: "seek", time_s: time }), 0.1);
  const again = await settled("red");
  assert.equal(again.timeS, tenth.timeS);
  assert.equal(largest(again.at, tenth.at), 0);
});

test("what was simulated is heard when it is played from the start", async () => {
  await studio.page.evaluate(() => window.eigentone.app.do({ do: "seek", time_s: 0 }));
  await studio.quiet();
  await studio.page.click("#replay");
  const peak = await studio.watchPeak(1500);
  console.log(`peak ${peak}, ${JSON.stringify(await transport())}`);
  assert.ok(peak > 1e-5, `${peak}`);
});

test("nothing complains, and nothing is loaded that the policy forbids", async () => {
  assert.deepEqual(studio.complaints, []);
});
