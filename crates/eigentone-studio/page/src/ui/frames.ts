/**
 * One loop for everything that is drawn again and again. Sound comes first: where the processor draws (no graphics hardware), pictures come less often,
 * and none is begun while a blow is on its way.
 */

import { Signal } from "../state/signal";

/** Whether the page has to save processor time. */
export const frugal = new Signal(false);

/** A blow is heard this long after it was struck, in ms: pictures of a frugal page wait for it. */
const BLOW_MS = 70;
/** Nobody holds the pictures up for longer than this, in ms. */
const LONGEST_HOLD_MS = 1500;
/** A frugal page looks at most so often whether anything is due, in ms. */
const FRUGAL_MS = 12;

interface Drawing {
  draw: (elapsedS: number) => void;
  everyMs: number;
  frugalMs: number;
  lastMs: number;
}

const drawings: Drawing[] = [];
let heldUntilMs = 0;

/** Draws at most `perS` times a second, and `frugalPerS` times on a frugal page. `draw` is told the time since it was last called, in s. */
export function animate(perS: number, frugalPerS: number, draw: (elapsedS: number) => void): void {
  if (drawings.length === 0) requestAnimationFrame(tick);
  drawings.push({ draw, everyMs: 1000 / perS, frugalMs: 1000 / frugalPerS, lastMs: performance.now() });
}

/** A hand is raised: pictures wait for the blow. */
export function raise(): void {
  heldUntilMs = performance.now() + LONGEST_HOLD_MS;
}

/** The blow was struck. */
export function struck(): void {
  heldUntilMs = performance.now() + BLOW_MS;
}

/** There will be none. */
export function lowered(): void {
  heldUntilMs = 0;
}

function tick(nowMs: number): void {
  if (!frugal.value) requestAnimationFrame(tick);
  else setTimeout(() => requestAnimationFrame(tick), FRUGAL_MS);
  if (frugal.value && nowMs < heldUntilMs) return;
  // Half a picture of slack: a screen's refresh is never exact.
  const due = drawings.filter(({ lastMs, everyMs, frugalMs }) => nowMs - lastMs >= (frugal.value ? frugalMs : everyMs) - 8);
  due.sort((a, b) => a.lastMs - b.lastMs);
  // One on each turn of a frugal page: a click does not wait for all of them.
  for (const drawing of frugal.value ? due.slice(0, 1) : due) {
    const elapsedS = Math.max(0, (nowMs - drawing.lastMs) / 1000);
    drawing.lastMs = nowMs;
    drawing.draw(elapsedS);
  }
}
