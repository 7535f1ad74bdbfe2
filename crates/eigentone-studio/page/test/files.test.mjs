// What stays: exports, saved scenes, reloads; and what does not: sockets.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { levelDb, peakHz, readWav, readZip } from "./analysis.mjs";
import { PATIENCE_MS, openStudio, sleep, startServer } from "./studio.mjs";

let studio;
let bar;
before(async () => {
  studio = await openStudio({ scene: "empty" });
  bar = await studio.add("bar");
  await studio.present(bar);
  await studio.page.click('[data-mallet="felt"]');
});
after(() => studio?.close());

const download = async (item, confirm) => {
  await studio.page.click("#export");
  const wanted = studio.page.waitForEvent("download", { timeout: PATIENCE_MS });
  await studio.page.click(`.menu [role=menuitem] >> text=${item}`);
  await confirm?.();
  return readFile(await (await wanted).path());
};

test("the exported take is what was heard, sample for sample", async () => {
  const frames = 8192;
  let [heard, found] = [null, -1];
  // A sound that ran dry was patched by the page: such a stretch is not in the take as it was heard.
  for (let attempt = 0; attempt < 5 && found < 0; attempt++) {
    await studio.hush();
    heard = await studio.hear(() => studio.strike(bar, { share: 1 }), 0.5);
    const take = readWav(await download("What was just heard"));
    assert.deepEqual([take.channels, take.rate], [2, heard.rate]);
    found = whereIn(take.data, heard.stereo.subarray(0, 2 * frames));
  }
  assert.ok(found >= 0, `${frames} frames as they were played are in the file`);
});

/** Where a stretch of samples is found, or −1. */
function whereIn(all, part) {
  for (let at = all.indexOf(part[0]); at >= 0 && at + part.length <= all.length; at = all.indexOf(part[0], at + 1)) {
    let same = 0;
    while (same < part.length && all[at + same] === part[same]) same++;
    if (same === part.length) return at;
  }
  return -1;
}

test("variations are as many as were asked for, named in turn, and sound like the body", async () => {
  const zip = readZip(await download("Variations", async () => {
    await studio.page.fill("#variations-count", "5");
    await studio.page.click("dialog button.primary");
  }));
  assert.deepEqual([...zip.keys()], [1, 2, 3, 4, 5].map((n) => `bar_0${n}.wav`));
  const { first_hz: hz } = await studio.body(bar);
  for (const [name, bytes] of zip) {
    const { data: samples, rate } = readWav(bytes);
    assert.ok(Math.abs(peakHz({ samples, rate }, 0.9 * hz, 1.1 * hz) / hz - 1) < 0.005, name);
  }
});

test("a saved scene sounds the same in another session", async () => {
  await studio.page.selectOption("#material", "brass");
  await studio.untilBody(bar, (body) => body.material === "brass" && !body.provisional);
  await studio.page.fill("#sliders input[aria-label='Pitch, value']", "+3");
  await studio.page.keyboard.press("Enter");
  await studio.untilBody(bar, (body) => Math.abs(body.pitch - 2 ** 0.25) < 1e-4);
  const listen = async (page, id) => {
    await page.hush();
    const heard = await page.hear(() => page.strike(id, { share: 1, at: [0, 0, 0.004] }), 0.7);
    return { hz: peakHz(heard), db: levelDb(heard, peakHz(heard)) };
  };
  const before = await listen(studio, bar);
  await studio.page.keyboard.press("Control+s");
  await studio.page.fill("#scene-name", "my-bar");
  await studio.page.keyboard.press("Enter");
  await studio.page.waitForSelector(".toast >> text=Saved to my-bar.toml");
  await studio.page.click("#scene");
  await studio.page.waitForSelector(".menu [role=menuitem] >> text=my-bar.toml");
  await studio.page.keyboard.press("Escape");
  const file = await studio.page.evaluate(() => window.eigentone.app.studio.scene.value.file);
  const { folder } = studio.server;
  const path = existsSync(file) ? file : join(folder, file);
  assert.match(readFileSync(path, "utf8"), /material = "brass"/);
  const { complaints } = studio;
  await studio.close({ keep: true });
  assert.deepEqual(complaints, []);

  studio = await openStudio({ server: await startServer({ folder, file: path }) });
  bar = (await studio.bodies()).find(({ name }) => name === "bar").id;
  await studio.untilBody(bar, (body) => !body.provisional);
  await studio.drawn();
  await studio.look(bar);
  await studio.page.click('[data-mallet="felt"]');
  const after = await listen(studio, bar);
  console.log(`saved ${before.hz.toFixed(1)} Hz at ${before.db.toFixed(1)} dB, read ${after.hz.toFixed(1)} Hz at ${after.db.toFixed(1)} dB`);
  assert.ok(Math.abs(after.hz / before.hz - 1) < 0.001);
});

test("a page that is opened again has the scene as it was left", async () => {
  await studio.page.evaluate((id) => window.eigentone.app.set(id, window.eigentone.app.beginGesture(), { damping: 4, name: "mine" }), bar);
  await studio.untilBody(bar, (body) => body.damping === 4);
  await studio.page.reload();
  await studio.loaded();
  const body = await studio.untilBody(bar, () => true);
  assert.deepEqual([body.name, body.damping, body.material], ["mine", 4, "brass"]);
});

/** Open connections of the server, where the system tells. */
function connections(port) {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1).map((line) => line.trim().split(/\s+/));
  return rows.filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === "01").length;
}

test("reloads and closed pages leave no socket open", { skip: !existsSync("/proc/net/tcp") }, async () => {
  const port = Number(new URL(studio.server.url).port);
  for (let i = 0; i < 3; i++) {
    await studio.page.reload();
    await studio.loaded();
  }
  const { complaints } = studio;
  await studio.page.context().close();
  const end = Date.now() + PATIENCE_MS;
  while (connections(port) > 0 && Date.now() < end) await sleep(100);
  assert.equal(connections(port), 0);
  assert.deepEqual(complaints, []);
});
