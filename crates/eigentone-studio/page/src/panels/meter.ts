/** Level: peak with hold, mean, loudness. */

import type { App } from "../app";
import { h } from "../ui/dom";
import { decibels } from "../ui/format";

const FLOOR_DB = -60;
const HOLD_MS = 1500;
const FALL_DB_PER_S = 20;
const MARKS_DB = [0, -6, -12, -24, -36, -48];

const toDb = (value: number): number => (value > 0 ? 20 * Math.log10(value) : -200);
const height = (db: number): string => `${100 * Math.min(1, Math.max(0, 1 - db / FLOOR_DB))}%`;

/** Shows the lower part of something as high as the scale, so that colours stay where they are. */
const cut = (db: number): string => `inset(calc(100% - ${height(db)}) 0 0 0)`;

interface Channel {
  bar: HTMLElement;
  mean: HTMLElement;
  hold: HTMLElement;
  holdDb: number;
  heldMs: number;
}

export function meter(app: App): HTMLElement {
  const channels = [channel(), channel()];
  const peak = h("output", { title: "Highest peak of the last seconds" }, "−∞");
  const loudness = h("output", { title: "Loudness, short term" }, "–");
  const clip = h("span.clip", {}, "CLIP");
  const scale = h("div.scale", { "aria-hidden": "true" });
  for (const db of MARKS_DB) {
    const mark = h("span", {}, String(Math.abs(db)));
    mark.style.bottom = height(db);
    scale.append(mark);
  }
  app.studio.meters.subscribe((meters) => {
    if (!meters) return;
    const values = [[meters.peakL, meters.rmsL], [meters.peakR, meters.rmsR]] as const;
    channels.forEach((entry, i) => show(entry, ...(values[i] as readonly [number, number])));
    const highest = Math.max(...channels.map(({ holdDb }) => holdDb));
    peak.textContent = decibels(highest).replace(" dB", "");
    clip.classList.toggle("on", highest >= 0);
    loudness.textContent = meters.loudnessLufs > -100 ? `${meters.loudnessLufs < 0 ? "−" : ""}${Math.abs(meters.loudnessLufs).toFixed(1)}` : "−∞";
  });
  return h(
    "section.panel.meter",
    { "aria-label": "Level" },
    h("h3", {}, "Level", clip),
    h("div.bars", {}, ...channels.map(({ bar }) => bar), scale),
    h("dl", {}, h("div", {}, h("dt", {}, "Peak dB"), h("dd", {}, peak)), h("div", {}, h("dt", {}, "LUFS"), h("dd", {}, loudness))),
  );
}

function channel(): Channel {
  const mean = h("div.mean");
  const top = h("div.top");
  const hold = h("div.hold");
  return { bar: h("div.channel", {}, top, mean, hold), mean, hold, holdDb: -200, heldMs: 0 };
}

function show(entry: Channel, peak: number, rms: number): void {
  const now = performance.now();
  const db = toDb(peak);
  if (db >= entry.holdDb) {
    entry.holdDb = db;
    entry.heldMs = now;
  } else if (now - entry.heldMs > HOLD_MS) {
    entry.holdDb = Math.max(db, entry.holdDb - FALL_DB_PER_S / 30);
  }
  (entry.bar.firstElementChild as HTMLElement).style.clipPath = cut(db);
  entry.mean.style.clipPath = cut(toDb(rms));
  entry.hold.style.bottom = height(entry.holdDb);
}
