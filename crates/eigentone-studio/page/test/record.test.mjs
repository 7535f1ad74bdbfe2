// A take is recorded, struck into, ended and exported: the file is what this page has heard.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { openStudio, sleep } from "./studio.mjs";

let studio;
before(async () => {
  studio = await openStudio({ scene: "empty" });
});
after(() => studio?.close());

/** Left channel of a WAV of 32-bit floats in stereo. */
function left(wav) {
  assert.equal(wav.subarray(0, 4).toString(), "RIFF");
  const data = wav.indexOf("data") + 8;
  const samples = new Float32Array(Math.floor((wav.length - data) / 8));
  for (let i = 0; i < samples.length; i++) samples[i] = wav.readFloatLE(data + 8 * i);
  return samples;
}

test("the exported take is what the page has heard", async () => {
  const bar = await studio.add("bar");
  await studio.present(bar);
  await studio.page.evaluate(() => {
    // What goes to the loudspeaker, sample by sample; the volume is one.
    const { context, analyser } = window.eigentone.app.player;
    const tap = context.createScriptProcessor(4096, 2, 1);
    window.heard = [];
    tap.onaudioprocess = ({ inputBuffer }) => window.heard.push(inputBuffer.getChannelData(0).slice());
    analyser.connect(tap).connect(context.destination);
  });
  await studio.page.click("#record");
  await studio.page.click("[role=menuitem]");
  await studio.until(() => window.eigentone.app.studio.take.value.recording);
  assert.equal(await studio.page.textContent("#record span"), "Stop");
  await sleep(500);
  for (let i = 0; i < 3; i++) {
    await studio.page.evaluate((body) => window.eigentone.app.do({ do: "strike", body, impulse_ns: 0.03 }), bar);
    await sleep(700);
  }
  await studio.page.screenshot({ path: process.env.SHOT ?? "/dev/null", type: "png" });
  await studio.page.click("#record");
  await studio.until(() => window.eigentone.app.studio.take.value.ready);
  await sleep(500);
  const heard = Float32Array.from((await studio.page.evaluate(() => window.heard.map((block) => [...block]))).flat());
  await studio.page.click("#export");
  const download = studio.page.waitForEvent("download");
  await studio.page.click("[role=menuitem]");
  const take = left(await readFile(await (await download).path()));
  const { seconds, differences } = await studio.page.evaluate(() => window.eigentone.app.studio.take.value);
  assert.deepEqual(differences, []);
  assert.ok(Math.abs(take.length / (await studio.page.evaluate(() => window.eigentone.app.studio.sampleRateHz.value)) - seconds) < 0.01);
  // Where the page ran dry the browser plays on a little later: so every stretch of a quarter of a second is looked for by itself.
  const begin = take.findIndex((sample) => sample !== 0);
  assert.ok(begin > 0);
  const places = new Map();
  heard.forEach((sample, i) => sample !== 0 && (places.get(sample) ?? places.set(sample, []).get(sample)).push(i));
  let [found, sought] = [0, 0];
  for (let at = begin; at + 11_025 < Math.min(take.length, begin + 66_150); at += 11_025) {
    sought++;
    const same = (place) => take.subarray(at, at + 4000).every((sample, i) => heard[place + i] === sample);
    found += (places.get(take[at]) ?? []).some(same) ? 1 : 0;
  }
  console.log(`${found} of ${sought} stretches were heard to the last bit`);
  assert.ok(found >= 1 && found >= sought / 2, `${found} of ${sought}`);
});

test("nothing complained meanwhile", () => assert.deepEqual(studio.complaints, []));
