/** What the page plays, over time and log frequency. */

import type { App } from "../app";
import { cssColor, fitCanvas, h } from "../ui/dom";
import { animate } from "../ui/frames";
import { theme } from "../ui/theme";

const MIN_HZ = 40;
const MAX_HZ = 20_000;
const FLOOR_DB = -110;
const TOP_DB = -25;
const LABELS_HZ = [50, 100, 200, 500, 1000, 2000, 5000, 10_000];
/** Columns are drawn at this pace, so that a fast screen does not scroll faster. */
const COLUMN_MS = 22;

type Rgb = [number, number, number];
const DARK: Rgb[] = [[20, 22, 27], [38, 24, 74], [110, 32, 110], [196, 62, 78], [246, 148, 60], [255, 236, 170]];
const LIGHT: Rgb[] = [[255, 255, 255], [214, 222, 240], [140, 160, 220], [110, 70, 170], [120, 20, 90], [40, 0, 30]];

function palette(stops: Rgb[]): Uint8ClampedArray {
  const colors = new Uint8ClampedArray(256 * 4);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const low = stops[Math.floor(at)] as Rgb;
    const high = stops[Math.min(stops.length - 1, Math.floor(at) + 1)] as Rgb;
    const share = at % 1;
    for (let c = 0; c < 3; c++) colors[4 * i + c] = (low[c] as number) + ((high[c] as number) - (low[c] as number)) * share;
    colors[4 * i + 3] = 255;
  }
  return colors;
}

export function spectrogram(app: App): HTMLElement {
  const canvas = h<HTMLCanvasElement>("canvas", { role: "img", "aria-label": "Spectrogram of what is heard" });
  const axis = h("div.axis", { "aria-hidden": "true" });
  for (const hz of LABELS_HZ) {
    const label = h("span", {}, hz >= 1000 ? `${hz / 1000}k` : String(hz));
    label.style.bottom = `${100 * shareOf(hz)}%`;
    axis.append(label);
  }
  const painter = new Painter(app, canvas);
  animate(45, 15, () => painter.frame());
  return h("section.panel.spectrogram", { "aria-label": "Spectrogram" }, h("h3", {}, "Spectrogram", h("small", {}, "Hz")), h("div.plot", {}, axis, canvas));
}

function shareOf(hz: number): number {
  return Math.log(hz / MIN_HZ) / Math.log(MAX_HZ / MIN_HZ);
}

class Painter {
  private readonly context: CanvasRenderingContext2D | null;
  private colors = palette(DARK);
  private spectrum = new Float32Array(0);
  private column: ImageData | null = null;
  private lastMs = 0;

  constructor(
    private readonly app: App,
    private readonly canvas: HTMLCanvasElement,
  ) {
    this.context = canvas.getContext("2d", { alpha: false });
    theme.subscribe((value) => {
      this.colors = palette(value === "light" ? LIGHT : DARK);
      this.clear();
    });
    fitCanvas(canvas, () => this.clear());
  }

  frame(): void {
    const now = performance.now();
    const columns = Math.min(8, Math.floor((now - this.lastMs) / COLUMN_MS));
    if (columns < 1) return;
    this.lastMs = now;
    if (this.app.player.status.value === "on") this.draw(columns * Math.max(1, Math.round(devicePixelRatio)));
  }

  private clear(): void {
    if (!this.context) return;
    this.context.fillStyle = cssColor("--plot");
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.column = null;
  }

  private draw(columns: number): void {
    const analyser = this.app.player.analyser;
    const { width, height } = this.canvas;
    if (!analyser || !this.context || width < 10 || height < 10) return;
    if (this.spectrum.length !== analyser.frequencyBinCount) this.spectrum = new Float32Array(analyser.frequencyBinCount);
    analyser.getFloatFrequencyData(this.spectrum as Float32Array<ArrayBuffer>);
    const binHz = analyser.context.sampleRate / analyser.fftSize;
    this.column ??= this.context.createImageData(1, height);
    for (let y = 0; y < height; y++) {
      const low = MIN_HZ * (MAX_HZ / MIN_HZ) ** ((height - 1 - y) / height);
      const high = MIN_HZ * (MAX_HZ / MIN_HZ) ** ((height - y) / height);
      this.paint(y, this.level(low / binHz, high / binHz));
    }
    this.context.drawImage(this.canvas, -columns, 0);
    for (let x = 1; x <= columns; x++) this.context.putImageData(this.column, width - x, 0);
  }

  /** The loudest bin of a row, or between two bins where rows are narrower than bins, in dB. */
  private level(low: number, high: number): number {
    const first = Math.ceil(low);
    if (first > high) {
      const below = Math.floor(low);
      const share = (low + high) / 2 - below;
      return (1 - share) * this.bin(below) + share * this.bin(below + 1);
    }
    let most = -Infinity;
    for (let bin = first; bin <= high; bin++) most = Math.max(most, this.bin(bin));
    return most;
  }

  private bin(index: number): number {
    return Math.max(this.spectrum[Math.min(index, this.spectrum.length - 1)] ?? FLOOR_DB, -200);
  }

  private paint(y: number, db: number): void {
    const share = Math.min(1, Math.max(0, (db - FLOOR_DB) / (TOP_DB - FLOOR_DB)));
    const color = 4 * Math.round(255 * share);
    this.column?.data.set(this.colors.subarray(color, color + 4), 4 * y);
  }
}
