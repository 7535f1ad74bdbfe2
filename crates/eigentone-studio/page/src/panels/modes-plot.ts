/** Stems over log frequency, one per mode, with the masking threshold above which a mode is heard. */

import { MODE_STATES } from "../net/binary";
import { cssColor, fitCanvas } from "../ui/dom";
import { theme } from "../ui/theme";
import { MAX_HZ, MIN_HZ, type ModesData, type ShownMode } from "./modes-data";

const FLOOR_DB = -10;
const TOP_DB = 110;
const GRID_HZ = [50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const GRID_DB = [0, 20, 40, 60, 80, 100];
const NEAR_PX = 14;
/** How fast a stem falls back on the screen, per picture. */
const FALL = 0.25;

interface Colors {
  line: string;
  text: string;
  curve: string;
  chosen: string;
  state: Record<ShownMode["state"], string>;
}

export class ModesPlot {
  hovered: number | null = null;
  chosen: number | null = null;
  private readonly context: CanvasRenderingContext2D | null;
  private shown: number[] = [];
  private ratio = 1;
  /** Pixels of the page; asking the canvas for them makes the browser lay the page out. */
  private width = 0;
  private height = 0;
  private font = "";
  /** What the last picture shows, as a number. */
  private drawn = NaN;
  private colors: Colors | null = null;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly data: ModesData,
  ) {
    this.context = canvas.getContext("2d");
    fitCanvas(canvas, (_width, _height, ratio) => {
      this.ratio = ratio;
      this.width = canvas.clientWidth;
      this.height = canvas.clientHeight;
      this.font = `${Math.max(10, 0.72 * parseFloat(getComputedStyle(document.documentElement).fontSize))}px system-ui, sans-serif`;
      this.drawn = NaN;
    });
    theme.changed(() => (this.colors = null));
  }

  /** Pixels of the page from the left edge. */
  x(hz: number): number {
    return this.left + (Math.log(hz / MIN_HZ) / Math.log(MAX_HZ / MIN_HZ)) * (this.width - this.left - 8);
  }

  hz(x: number): number {
    return MIN_HZ * (MAX_HZ / MIN_HZ) ** ((x - this.left) / (this.width - this.left - 8));
  }

  /** The mode whose stem is nearest to a point, if one is near. */
  at(x: number, y: number): number | null {
    let best: number | null = null;
    let nearest = NEAR_PX;
    for (const mode of this.data.modes) {
      const dx = Math.abs(this.x(mode.frequencyHz) - x);
      const top = this.y(this.shown[mode.index] ?? FLOOR_DB);
      const distance = dx + 0.15 * Math.max(0, Math.min(top, this.y(60 + mode.relativeDb)) - y);
      if (distance < nearest) {
        nearest = distance;
        best = mode.index;
      }
    }
    return best;
  }

  draw(): void {
    const context = this.context;
    if (!context || this.width === 0) return;
    const signature = this.settle();
    if (this.colors && signature === this.drawn) return;
    this.drawn = signature;
    this.colors ??= this.readColors();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.grid(context, this.colors);
    this.ghosts(context, this.colors);
    this.stems(context, this.colors);
    this.threshold(context, this.colors);
  }

  private get left(): number {
    return 34;
  }

  private get bottom(): number {
    return this.height - 18;
  }

  private y(db: number, clamped = true): number {
    const exact = (db - FLOOR_DB) / (TOP_DB - FLOOR_DB);
    const share = clamped ? Math.min(1, Math.max(0, exact)) : exact;
    return this.bottom - share * (this.bottom - 6);
  }

  /** Lets stems fall towards their levels; gives a number that changes with all that is drawn. */
  private settle(): number {
    let sum = (this.hovered ?? -1) + 0.37 * (this.chosen ?? -1) + 7 * this.data.modes.length;
    let weight = 1;
    const add = (value: number): void => {
      weight = (weight * 1.37) % 11;
      sum += weight * value;
    };
    for (const mode of this.data.modes) {
      const before = this.shown[mode.index] ?? FLOOR_DB;
      const target = Math.max(FLOOR_DB, mode.levelDb);
      const level = target > before || before - target < 0.1 ? target : before + FALL * (target - before);
      this.shown[mode.index] = level;
      add(level);
      add(mode.frequencyHz);
      add(MODE_STATES.indexOf(mode.state) + 20 * Number(mode.muted) + 40 * Number(mode.soloed));
    }
    this.data.thresholdDb.forEach(add);
    return sum;
  }

  private grid(context: CanvasRenderingContext2D, colors: Colors): void {
    context.strokeStyle = colors.line;
    context.fillStyle = colors.text;
    context.lineWidth = 1;
    context.font = this.font;
    context.textAlign = "center";
    context.textBaseline = "top";
    context.beginPath();
    for (const hz of GRID_HZ) {
      const x = Math.round(this.x(hz)) + 0.5;
      context.moveTo(x, 4);
      context.lineTo(x, this.bottom);
      context.fillText(hz >= 1000 ? `${hz / 1000}k` : String(hz), x, this.bottom + 4);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const db of GRID_DB) {
      const y = Math.round(this.y(db)) + 0.5;
      context.moveTo(this.left, y);
      context.lineTo(this.width - 8, y);
      if (db % 40 === 0 || this.height > 150) context.fillText(String(db), this.left - 5, y);
    }
    context.stroke();
  }

  /** What the model has, also while it is silent: the strongest mode at 60 dB. */
  private ghosts(context: CanvasRenderingContext2D, colors: Colors): void {
    context.strokeStyle = colors.state.asleep;
    context.globalAlpha = 0.4;
    context.lineWidth = 1;
    context.beginPath();
    for (const mode of this.data.modes) {
      if (mode.frequencyHz > MAX_HZ) continue;
      const x = this.x(mode.frequencyHz);
      context.moveTo(x, this.bottom);
      context.lineTo(x, this.y(60 + mode.relativeDb));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  private stems(context: CanvasRenderingContext2D, colors: Colors): void {
    const order = [...this.data.modes].sort((a, b) => Number(a.state === "sounding") - Number(b.state === "sounding"));
    const width = this.data.modes.length > 400 ? 1 : 2;
    const soloing = this.data.modes.some((mode) => mode.soloed);
    for (const mode of order) {
      if (mode.frequencyHz > MAX_HZ) continue;
      const level = this.shown[mode.index] ?? FLOOR_DB;
      const x = this.x(mode.frequencyHz);
      const y = Math.min(this.y(level), this.bottom - 3);
      const emphasised = mode.index === this.hovered || mode.index === this.chosen;
      const silent = mode.muted || (soloing && !mode.soloed);
      context.globalAlpha = silent ? 0.35 : 1;
      context.strokeStyle = context.fillStyle = emphasised ? colors.chosen : colors.state[mode.state];
      context.lineWidth = emphasised ? 3 : width;
      context.beginPath();
      context.moveTo(x, this.bottom);
      context.lineTo(x, y);
      context.stroke();
      context.beginPath();
      context.arc(x, y, emphasised ? 4.5 : width + 0.5, 0, 2 * Math.PI);
      if (silent) context.stroke();
      else context.fill();
    }
    context.globalAlpha = 1;
  }

  private threshold(context: CanvasRenderingContext2D, colors: Colors): void {
    const { bandHz, thresholdDb } = this.data;
    if (bandHz.length < 2) return;
    context.strokeStyle = colors.curve;
    context.lineWidth = 1.5;
    context.setLineDash([5, 4]);
    context.save();
    context.beginPath();
    context.rect(this.left, 0, this.width - this.left - 8, this.bottom);
    context.clip();
    context.beginPath();
    bandHz.forEach((hz, i) => context.lineTo(this.x(Math.max(1, hz)), this.y(thresholdDb[i] as number, false)));
    context.stroke();
    context.restore();
    context.setLineDash([]);
  }

  private readColors(): Colors {
    return {
      line: cssColor("--line"),
      text: cssColor("--muted"),
      curve: cssColor("--state-masked"),
      chosen: cssColor("--accent"),
      state: {
        asleep: cssColor("--state-asleep"),
        sounding: cssColor("--state-sounding"),
        masked: cssColor("--state-masked"),
        truncated: cssColor("--state-truncated"),
        scaled: cssColor("--state-scaled"),
      },
    };
  }
}
