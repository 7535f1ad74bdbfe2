/** Two spectra over each other: lines over log frequency, each relative to its highest peak. */

import type { Spectrum } from "../audio/spectrum";
import { cssColor, fitCanvas } from "../ui/dom";

const MIN_HZ = 20;
const MAX_HZ = 20_000;
const FLOOR_DB = -80;
const GRID_HZ = [50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const LEFT = 30;
const BOTTOM = 18;

export interface Curve {
  spectrum: Spectrum;
  /** Name of a CSS variable. */
  color: string;
  filled: boolean;
}

export class SpectraPlot {
  private curves: Curve[] = [];
  private ratio = 1;

  constructor(readonly canvas: HTMLCanvasElement) {
    fitCanvas(canvas, (_width, _height, ratio) => {
      this.ratio = ratio;
      this.draw();
    });
  }

  show(curves: Curve[]): void {
    this.curves = curves;
    this.draw();
  }

  private x(hz: number): number {
    return LEFT + (Math.log(hz / MIN_HZ) / Math.log(MAX_HZ / MIN_HZ)) * (this.canvas.clientWidth - LEFT - 6);
  }

  private y(db: number): number {
    return 6 + Math.min(1, db / FLOOR_DB) * (this.canvas.clientHeight - BOTTOM - 6);
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context || this.canvas.width === 0) return;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    this.grid(context);
    for (const curve of this.curves) this.line(context, curve);
  }

  private grid(context: CanvasRenderingContext2D): void {
    const { clientWidth, clientHeight } = this.canvas;
    context.strokeStyle = cssColor("--line");
    context.fillStyle = cssColor("--muted");
    context.lineWidth = 1;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.beginPath();
    for (const hz of GRID_HZ) {
      const x = Math.round(this.x(hz)) + 0.5;
      context.moveTo(x, 6);
      context.lineTo(x, clientHeight - BOTTOM);
      context.fillText(hz >= 1000 ? `${hz / 1000}k` : String(hz), x, clientHeight - 5);
    }
    context.textAlign = "right";
    for (let db = 0; db >= FLOOR_DB; db -= 20) {
      const y = Math.round(this.y(db)) + 0.5;
      context.moveTo(LEFT, y);
      context.lineTo(clientWidth - 6, y);
      context.fillText(String(db).replace("-", "−"), LEFT - 4, y + 4);
    }
    context.stroke();
  }

  private line(context: CanvasRenderingContext2D, { spectrum, color, filled }: Curve): void {
    const paint = cssColor(color);
    const path = new Path2D();
    spectrum.hz.forEach((hz, i) => path.lineTo(this.x(hz), this.y(spectrum.db[i] as number)));
    context.strokeStyle = paint;
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    context.stroke(path);
    if (!filled) return;
    path.lineTo(this.x(spectrum.hz.at(-1) ?? MAX_HZ), this.y(FLOOR_DB));
    path.lineTo(this.x(spectrum.hz[0] ?? MIN_HZ), this.y(FLOOR_DB));
    context.globalAlpha = 0.22;
    context.fillStyle = paint;
    context.fill(path);
    context.globalAlpha = 1;
  }
}
