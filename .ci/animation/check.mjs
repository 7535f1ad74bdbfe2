// Checks an animation and its player as their users will meet them:
//
//     npm install && node check.mjs FILE.glb FILE.html OUTDIR
//
// The .glb goes through the Khronos validator and is played by three.js; the page is opened in a browser, sought, paused and played. Pictures
// of both go to OUTDIR, to be looked at. Ends with 1 if anything is wrong. The browser is CHROMIUM, or the system's.

import validator from "gltf-validator";
import { chromium } from "playwright-core";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [glb, html, out] = process.argv.slice(2);
if (!out) {
  console.error("usage: node check.mjs FILE.glb FILE.html OUTDIR");
  process.exit(1);
}
mkdirSync(out, { recursive: true });

let failures = 0;
function check(good, what) {
  console.log(`${good ? "ok  " : "FAIL"} ${what}`);
  if (!good) failures++;
}
const same = (a, b) => Buffer.compare(a, b) === 0;

async function validate() {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(glb)), { uri: glb });
  const { numErrors, numWarnings, numInfos, messages } = report.issues;
  check(numErrors === 0 && numWarnings === 0, `validator: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} notes`);
  messages.slice(0, 10).forEach(m => console.log(`     ${m.code} ${m.pointer ?? ""} ${m.message}`));
  return report.info;
}

async function open(browser, url, errors) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  page.on("pageerror", e => errors.push(String(e)));
  page.on("console", m => m.type() === "error" && errors.push(m.text()));
  page.on("request", r => /^(https?|ws):/.test(r.url()) && !r.url().startsWith("http://check.invalid/") && errors.push(`asks for ${r.url()}`));
  await page.route("http://check.invalid/**", route => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/") return route.fulfill({ path: join(here, "three.html") });
    if (path === "/animation.glb") return route.fulfill({ path: resolve(glb), contentType: "model/gltf-binary" });
    const file = join(here, "node_modules", path);
    return existsSync(file) ? route.fulfill({ path: file, contentType: "text/javascript" }) : route.fulfill({ status: 404 });
  });
  await page.goto(url);
  return page;
}

async function playInThree(browser, info) {
  const errors = [];
  const page = await open(browser, "http://check.invalid/", errors);
  await page.waitForFunction("window.ready", null, { timeout: 60000 });
  const { duration, clips } = await page.evaluate("window.about()");
  check(clips === info.animationCount, `three.js: ${clips} animation of ${duration.toFixed(3)} s`);
  const pictures = [];
  for (const share of [0, 0.25, 0.5, 1]) {
    const bodies = await page.evaluate(`window.show(${share * duration})`);
    const finite = bodies.every(b => b.low.concat(b.high).every(Number.isFinite));
    check(finite, `three.js at ${(share * duration).toFixed(3)} s: ${bodies.map(b => `${b.name} from ${b.low.map(x => x.toFixed(3))}`).join("; ")}`);
    const picture = await page.screenshot();
    writeFileSync(join(out, `three-${100 * share}.png`), picture);
    pictures.push(picture);
  }
  if (clips > 0) check(!same(pictures[0], pictures[1]), "three.js: the picture changes with time");
  check(errors.length === 0, `three.js: no complaints ${errors.join("; ")}`);
  await page.close();
}

async function playPage(browser) {
  const errors = [];
  const page = await open(browser, pathToFileURL(resolve(html)).href, errors);
  await page.waitForFunction("window.player && document.getElementById('sound').readyState >= 2", null, { timeout: 60000 });
  const player = expression => page.evaluate(`window.player.${expression}`);
  const [frames, duration] = [await player("frames"), await player("duration")];
  check((await player("kind")) === "GlPicture", "player: draws with WebGL");
  const rate = await page.evaluate("scene.framesPerSecond");
  const frameAt = time => Math.min(Math.floor(time * rate + 0.01), frames - 1);
  const length = frames / rate;
  check(Math.abs(length - duration) < Math.max(0.1, 2 / rate), `player: ${frames} frames are ${length.toFixed(3)} s, the sound ${duration.toFixed(3)} s`);
  const pictures = [];
  for (const share of [0, 0.2, 0.5, 0.8, 0.99]) {
    const time = share * Math.min(duration, length);
    await player(`seek(${time})`);
    await page.waitForTimeout(200);
    const frame = await player("frame");
    check(frame === frameAt(time), `player at ${time.toFixed(3)} s: frame ${frame}`);
    const picture = await page.screenshot();
    writeFileSync(join(out, `player-${100 * share}.png`), picture);
    pictures.push(picture);
  }
  if (frames > 1) check(!same(pictures[0], pictures[2]), "player: the picture changes with time");
  await inStep(page, player, frameAt, duration);
  await byHand(page, player, rate, duration);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(200);
  writeFileSync(join(out, "player-dark.png"), await page.screenshot());
  check(errors.length === 0, `player: no complaints, nothing from the network ${errors.join("; ")}`);
  await page.close();
  const flat = await open(browser, `${pathToFileURL(resolve(html)).href}#2d`, errors);
  await flat.waitForFunction("window.player && document.getElementById('sound').readyState >= 2");
  check((await flat.evaluate("player.kind")) === "FlatPicture", "player: draws without WebGL");
  await flat.evaluate(`window.player.seek(${0.5 * length})`);
  await flat.waitForTimeout(300);
  writeFileSync(join(out, "player-2d.png"), await flat.screenshot());
  check(errors.length === 0, `player without WebGL: no complaints ${errors.join("; ")}`);
}

/** The glTF, approximated and played by three.js, and the page, which has every vertex, show the same boxes around the same bodies. */
async function agree(browser) {
  const errors = [], three = await open(browser, "http://check.invalid/", errors);
  const page = await open(browser, pathToFileURL(resolve(html)).href, errors);
  await three.waitForFunction("window.ready", null, { timeout: 60000 });
  await page.waitForFunction("window.player && document.getElementById('sound').readyState >= 2", null, { timeout: 60000 });
  const [frames, rate] = await page.evaluate("[scene.frames, scene.framesPerSecond]");
  let worst = 0;
  for (let k = 0; k <= 20; k++) {
    const frame = Math.round(k / 20 * (frames - 1)), time = frame / rate;
    const seen = await three.evaluate(`window.show(${time})`);
    const truth = await page.evaluate(`(player.seek(${time}), screen3d.meshes.map(m => ({ low: m.low, high: m.low.map((x, i) => x + m.size[i]) })))`);
    truth.forEach(({ low, high }, body) => {
      // From y up to z up.
      const { low: a, high: b } = seen[body], [from, to] = [[a[0], -b[2], a[1]], [b[0], -a[2], b[1]]];
      const away = [0, 1, 2].flatMap(i => [Math.abs(from[i] - low[i]), Math.abs(to[i] - high[i])]);
      worst = Math.max(worst, Math.max(...away) / Math.hypot(...high.map((x, i) => x - low[i])));
    });
  }
  check(worst < 0.01, `three.js and player agree to ${(100 * worst).toFixed(3)} % of each body's size in 21 frames`);
  await three.close();
  await page.close();
}

/** While it plays, after a pause and after a seek into the playing sound, the frame is that of the sound. */
async function inStep(page, player, frameAt, duration) {
  await player("seek(0)");
  await player("play()");
  const [clock, samples] = [() => page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done([player.frame, sound.currentTime]))))"), []];
  for (let k = 0; k < 8; k++) {
    await page.waitForTimeout(Math.min(60, duration * 30));
    samples.push(await clock());
  }
  check(samples.at(-1)[1] > 0, `player: the sound runs (${samples.at(-1)[1].toFixed(3)} s)`);
  const late = Math.max(...samples.map(([frame, time]) => Math.abs(frame - frameAt(time))));
  check(late <= 2, `player: while playing at most ${late} frames from the clock of the sound`);
  await player(`seek(${0.4 * duration})`);
  await page.waitForTimeout(100);
  await player("pause()");
  await page.waitForTimeout(150);
  const [frame, time] = await clock();
  check(frame === frameAt(time) && time >= 0.4 * duration - 0.01, `player: paused at ${time.toFixed(3)} s on frame ${frame}`);
  await page.waitForTimeout(200);
  check((await clock())[1] === time, "player: paused stays paused");
}

/** Keys, buttons and the waveform. */
async function byHand(page, player, rate, duration) {
  await player("seek(0)");
  await page.focus("#picture");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  check((await player("frame")) === 1, "player: arrow keys step by frames");
  await page.keyboard.press("Space");
  await page.waitForTimeout(100);
  check((await player("paused")) === false, "player: Space plays");
  await page.click("#play");
  check((await player("paused")) === true, "player: the button pauses");
  const box = await page.locator("#wave").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const time = await player("time");
  check(Math.abs(time - duration / 2) < duration / 200 + 1 / rate, `player: a click into the waveform seeks (${time.toFixed(3)} s)`);
  const before = await page.screenshot();
  await page.mouse.move(500, 250);
  await page.mouse.down();
  await page.mouse.move(650, 300, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(200);
  const after = await page.screenshot();
  check(!same(before, after), "player: dragging turns the scene");
  writeFileSync(join(out, "player-turned.png"), after);
}

const info = await validate();
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find(p => p && existsSync(p));
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--autoplay-policy=no-user-gesture-required"],
});
try {
  await playInThree(browser, info);
  await playPage(browser);
  await agree(browser);
} catch (error) {
  check(false, error.message);
} finally {
  await browser.close();
}
process.exit(failures ? 1 : 0);
