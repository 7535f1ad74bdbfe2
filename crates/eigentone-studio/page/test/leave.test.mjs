// Whoever closes the page leaves nothing running: no sound is rendered, no socket stays.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { countSockets, openStudio, sleep } from "./studio.mjs";

/** Processor time so far, in hundredths of a second. */
const ticks = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return Number(fields[11]) + Number(fields[12]);
};

test("a closed page leaves nothing running, and the next one finds everything as it was", { skip: process.platform !== "linux" }, async () => {
  const studio = await openStudio();
  const { pid, url, socketsBefore } = studio.server;
  try {
    assert.ok(countSockets(pid) > socketsBefore);
    await studio.page.context().close();
    // Two seconds after the last page has left everything stops; a slow machine may take longer.
    let idle = false;
    for (let i = 0; i < 30 && !idle; i++) {
      const before = ticks(pid);
      await sleep(2000);
      idle = ticks(pid) - before <= 2 && countSockets(pid) === socketsBefore;
    }
    console.log(`${countSockets(pid)} sockets, as before; ${ticks(pid)} ticks in all`);
    assert.ok(idle, `${countSockets(pid)} sockets, ${socketsBefore} before, and it still works`);
    const page = await studio.browser.newPage();
    await page.goto(url);
    await page.waitForFunction(() => window.eigentone?.app.studio.bodies.value.size > 0, undefined, { timeout: 20_000 });
  } finally {
    await studio.close();
  }
});
