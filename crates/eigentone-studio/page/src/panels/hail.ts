/** Hail: a cloud over the scene, and how many modes the ear needs of all that ring. */

import type { App } from "../app";
import type { Hail, Quality } from "../net/protocol";
import { cssColor, fitCanvas, h } from "../ui/dom";
import { count, percent, si } from "../ui/format";
import { Slider } from "../ui/slider";
import { theme } from "../ui/theme";

const KEPT_SECONDS = 20;
const PER_SECOND = 15;
const MASKING_OFF_DB = 40;
const NO_BUDGET = 100_000;

export function hailPanel(app: App): HTMLElement {
  const set = (change: Partial<Hail>): void => {
    app.studio.hail.value = { ...app.studio.hail.value, ...change };
    void app.do({ do: "hail", ...change });
  };
  const quality = (change: Partial<Quality>, gesture: number): void => {
    app.studio.quality.value = { ...app.studio.quality.value, ...change };
    void app.do({ do: "quality", gesture, ...change });
  };
  const beginGesture = (): number => app.beginGesture();
  const on = h<HTMLInputElement>("input", { type: "checkbox", role: "switch", id: "hail-on", onchange: () => set({ on: on.checked }) });
  const density = new Slider({ label: "Stones in the air", min: 1, max: 20_000, initial: 700, log: true, format: count, beginGesture, change: (value) => set({ particles: Math.round(value) }) });
  const radius = new Slider({ label: "Stone radius", min: 0.0005, max: 0.03, initial: 0.004, log: true, format: (v) => si(v, "m", 2), parse: (text) => parseFloat(text) * (/mm/.test(text) ? 0.001 : /cm/.test(text) ? 0.01 : 1), beginGesture, change: (value) => set({ radius_m: value }) });
  const width = new Slider({ label: "Width of the cloud", min: 0.1, max: 20, initial: 2, log: true, format: (v) => si(v, "m", 2), beginGesture, change: (value) => set({ size: [value, value, app.studio.hail.value.size[2]] }) });
  const masking = new Slider({
    label: "Masking threshold", min: 0, max: MASKING_OFF_DB, initial: 5,
    format: (v) => (v >= MASKING_OFF_DB ? "off" : `${v.toFixed(1)} dB`),
    parse: (text) => (/off/.test(text) ? MASKING_OFF_DB : parseFloat(text.replace("−", "-"))),
    hint: "How far below a loud mode a quiet one may hide beside it. Less leaves out more; at the right end nothing is left out",
    beginGesture,
    change: (value, gesture) => quality({ masking_db: value >= MASKING_OFF_DB ? null : value }, gesture),
  });
  const playback = new Slider({
    label: "Listening level", min: 30, max: 110, initial: 60, format: (v) => `${v.toFixed(0)} dB SPL`,
    hint: "How loud all together is played: the louder, the more is heard. Only counts with masking",
    beginGesture,
    change: (value, gesture) => quality({ playback_db: value }, gesture),
  });
  const budget = new Slider({
    label: "Modes at most", min: 10, max: NO_BUDGET, initial: NO_BUDGET, log: true, format: (v) => (v >= NO_BUDGET ? "no limit" : count(v)),
    parse: (text) => (/no|off/.test(text) ? NO_BUDGET : parseFloat(text.replace(",", ""))),
    hint: "The loudest are kept",
    beginGesture,
    change: (value, gesture) => quality({ budget_modes: value >= NO_BUDGET ? null : Math.round(value) }, gesture),
  });
  app.studio.hail.subscribe((hail) => {
    on.checked = hail.on;
    density.set(hail.particles);
    radius.set(hail.radius_m);
    width.set(hail.size[0]);
  });
  app.studio.quality.subscribe((value) => {
    masking.set(value.masking_db ?? MASKING_OFF_DB);
    playback.set(value.playback_db);
    playback.disabled = value.masking_db === null;
    budget.set(value.budget_modes ?? NO_BUDGET);
  });
  return h(
    "div.hail",
    {},
    h("label.switch", {}, on, h("span", {}, "Let it hail")),
    h("p.muted", {}, "Drag the blue cloud in the view to move it; with Shift it also goes up and down."),
    density.element,
    radius.element,
    width.element,
    h("h3", {}, "What the ear needs"),
    masking.element,
    kept(app),
    playback.element,
    budget.element,
  );
}

/** The share of modes that are kept, as a number and over the last seconds. */
function kept(app: App): HTMLElement {
  const number = h("output", { id: "kept-share" }, "–");
  const parts = h("p.muted");
  const canvas = h<HTMLCanvasElement>("canvas", { role: "img", "aria-label": "Share of modes kept over the last 20 seconds" });
  const history: number[] = [];
  const context = canvas.getContext("2d");
  let lastMs = 0;
  const draw = (): void => {
    if (!context || canvas.width === 0) return;
    const { width, height } = canvas;
    context.clearRect(0, 0, width, height);
    context.strokeStyle = cssColor("--line");
    context.lineWidth = 1;
    for (const share of [0.25, 0.5, 0.75]) {
      context.beginPath();
      context.moveTo(0, height * (1 - share));
      context.lineTo(width, height * (1 - share));
      context.stroke();
    }
    context.strokeStyle = cssColor("--accent");
    context.lineWidth = 2 * Math.min(devicePixelRatio, 2);
    context.beginPath();
    history.forEach((share, i) => Number.isFinite(share) && context.lineTo(width - ((history.length - 1 - i) / (KEPT_SECONDS * PER_SECOND)) * width, 2 + (height - 4) * (1 - share)));
    context.stroke();
  };
  fitCanvas(canvas, draw);
  theme.changed(draw);
  app.studio.meters.subscribe((meters) => {
    if (!meters || performance.now() - lastMs < 1000 / PER_SECOND) return;
    lastMs = performance.now();
    const share = meters.keptShare;
    app.studio.keptShare.value = share;
    history.push(share);
    if (history.length > KEPT_SECONDS * PER_SECOND) history.shift();
    number.textContent = percent(share);
    parts.textContent = `${count(meters.modesMixed)} mixed, ${count(meters.modesMasked)} masked, ${count(meters.modesTruncated)} too quiet, ${count(meters.modesScaled)} scaled away`;
    if (canvas.offsetParent) draw();
  });
  return h("div.kept", {}, h("div.line", {}, number, h("span", {}, "of the ringing modes are mixed")), canvas, parts);
}
