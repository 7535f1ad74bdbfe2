/** Small plots: a line over an axis, and a curve whose points can be dragged. */

import type { Point } from "../net/shaping";
import { cssColor, fitCanvas, h } from "../ui/dom";
import { theme } from "../ui/theme";

const PAD = 6;
const FOOT = 14;
const NEAR_PX = 16;

export interface Axis {
  min: number;
  max: number;
  log?: boolean;
  /** Marks with their labels. */
  marks: [number, string][];
}

export function share(axis: Axis, value: number): number {
  return axis.log ? Math.log(Math.max(value, 1e-30) / axis.min) / Math.log(axis.max / axis.min) : (value - axis.min) / (axis.max - axis.min);
}

function valueAt(axis: Axis, at: number): number {
  const clamped = Math.min(1, Math.max(0, at));
  return axis.log ? axis.min * (axis.max / axis.min) ** clamped : axis.min + (axis.max - axis.min) * clamped;
}

/** A canvas with a caption that draws lines. */
export class LinePlot {
  readonly element: HTMLElement;
  protected readonly canvas: HTMLCanvasElement;
  protected points: Point[] = [];
  private readonly caption = h("small.caption");
  private ratio = 1;

  constructor(
    label: string,
    protected x: Axis,
    protected y: Axis,
    private readonly filled = false,
  ) {
    this.canvas = h<HTMLCanvasElement>("canvas.small-plot", { role: "img", "aria-label": label });
    this.element = h("figure.small", {}, h("figcaption", {}, label, this.caption), this.canvas);
    fitCanvas(this.canvas, (_width, _height, ratio) => {
      this.ratio = ratio;
      this.draw();
    });
    theme.changed(() => this.draw());
  }

  show(points: Point[], caption: string, x = this.x, y = this.y): void {
    [this.points, this.x, this.y] = [points, x, y];
    this.caption.textContent = caption;
    this.draw();
  }

  protected place([px, py]: Point): [number, number] {
    const { clientWidth: w, clientHeight: height } = this.canvas;
    const bottom = height - FOOT;
    const up = Math.min(1, Math.max(0, share(this.y, py)));
    return [PAD + Math.min(1, Math.max(0, share(this.x, px))) * (w - 2 * PAD), bottom - up * (bottom - PAD)];
  }

  protected unplace(px: number, py: number): Point {
    const bottom = this.canvas.clientHeight - FOOT;
    return [valueAt(this.x, (px - PAD) / (this.canvas.clientWidth - 2 * PAD)), valueAt(this.y, (bottom - py) / (bottom - PAD))];
  }

  protected draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context || this.canvas.width === 0) return;
    const { clientWidth: w, clientHeight: height } = this.canvas;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, w, height);
    context.font = "10px system-ui, sans-serif";
    context.fillStyle = cssColor("--muted");
    context.strokeStyle = cssColor("--line");
    context.lineWidth = 1;
    context.textBaseline = "bottom";
    context.beginPath();
    for (const [value, label] of this.x.marks) {
      const [x] = this.place([value, this.y.min]);
      context.moveTo(x, PAD);
      context.lineTo(x, height - FOOT);
      context.textAlign = x < 20 ? "left" : x > w - 20 ? "right" : "center";
      context.fillText(label, x, height);
    }
    context.textAlign = "left";
    for (const [value, label] of this.y.marks) {
      const [, y] = this.place([this.x.min, value]);
      context.moveTo(PAD, y);
      context.lineTo(w - PAD, y);
      if (label) context.fillText(label, PAD + 2, Math.max(y, 11));
    }
    context.stroke();
    this.line(context, height);
  }

  protected line(context: CanvasRenderingContext2D, height: number): void {
    if (this.points.length === 0) return;
    context.strokeStyle = cssColor("--accent");
    context.lineWidth = 1.4;
    context.beginPath();
    this.points.forEach((point, i) => (i === 0 ? context.moveTo(...this.place(point)) : context.lineTo(...this.place(point))));
    context.stroke();
    if (!this.filled) return;
    const [first, last] = [this.place(this.points[0] as Point), this.place(this.points[this.points.length - 1] as Point)];
    context.lineTo(last[0], height - FOOT);
    context.lineTo(first[0], height - FOOT);
    context.globalAlpha = 0.18;
    context.fillStyle = cssColor("--accent");
    context.fill();
    context.globalAlpha = 1;
  }
}

interface CurveOptions {
  label: string;
  x: Axis;
  y: Axis;
  beginGesture(): number;
  change(points: Point[], gesture: number): void;
  /** A point as text. */
  format(point: Point): string;
}

/** A piecewise linear curve: drag points, double-click to add or remove one, arrow keys move the chosen one. */
export class CurveEditor extends LinePlot {
  private dragged: { index: number; gesture: number } | null = null;
  private chosen = 0;

  constructor(private readonly options: CurveOptions) {
    super(options.label, options.x, options.y);
    const { canvas } = this;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.title = "Drag a point. Double-click adds or removes one. Arrow keys move the chosen point, Tab leaves.";
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (this.dragged = null));
    canvas.addEventListener("dblclick", (event) => this.toggle(event.offsetX, event.offsetY));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  set(points: Point[]): void {
    if (this.dragged) return;
    this.chosen = Math.min(this.chosen, points.length - 1);
    this.tell(points.map(([x, y]) => [x, y]));
  }

  private tell(points: Point[]): void {
    const point = points[this.chosen];
    this.show(points, point ? this.options.format(point) : "");
  }

  private near(x: number, y: number): number | null {
    const far = (point: Point): number => Math.hypot(this.place(point)[0] - x, this.place(point)[1] - y);
    const best = this.points.reduce((at, point, i) => (far(point) < far(this.points[at] as Point) ? i : at), 0);
    return this.points[best] && far(this.points[best]) < NEAR_PX ? best : null;
  }

  private down(event: PointerEvent): void {
    const index = this.near(event.offsetX, event.offsetY);
    if (index === null || event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.chosen = index;
    this.dragged = { index, gesture: this.options.beginGesture() };
    this.tell(this.points);
  }

  private move(event: PointerEvent): void {
    if (!this.dragged) {
      this.canvas.style.cursor = this.near(event.offsetX, event.offsetY) === null ? "default" : "move";
      return;
    }
    this.put(this.dragged.index, this.unplace(event.offsetX, event.offsetY), this.dragged.gesture);
  }

  /** Moves a point, between its neighbours. */
  private put(index: number, [x, y]: Point, gesture: number): void {
    const points = this.points.slice();
    const gap = 1e-3 * (this.x.max - this.x.min);
    const low = points[index - 1] ? (points[index - 1] as Point)[0] + gap : this.x.min;
    const high = points[index + 1] ? (points[index + 1] as Point)[0] - gap : this.x.max;
    points[index] = [Math.min(high, Math.max(low, x)), y];
    this.tell(points);
    this.options.change(points, gesture);
  }

  private toggle(px: number, py: number): void {
    const index = this.near(px, py);
    const points = this.points.slice();
    if (index !== null && points.length > 1) points.splice(index, 1);
    else if (index === null && points.length < 16) {
      const point = this.unplace(px, py);
      const at = points.filter(([x]) => x < point[0]).length;
      points.splice(at, 0, point);
      this.chosen = at;
    } else return;
    this.chosen = Math.min(this.chosen, points.length - 1);
    this.tell(points);
    this.options.change(points, this.options.beginGesture());
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = { ArrowLeft: [-0.02, 0], ArrowRight: [0.02, 0], ArrowUp: [0, 0.02], ArrowDown: [0, -0.02] };
    const step = steps[event.key];
    const point = this.points[this.chosen];
    if (event.key === "n") this.chosen = (this.chosen + 1) % Math.max(1, this.points.length);
    else if (step && point) {
      const moved: Point = [valueAt(this.x, share(this.x, point[0]) + step[0]), valueAt(this.y, share(this.y, point[1]) + step[1])];
      this.put(this.chosen, moved, this.options.beginGesture());
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.tell(this.points);
  }

  protected override line(context: CanvasRenderingContext2D, height: number): void {
    if (this.points.length === 0) return;
    const [first, last] = [this.points[0] as Point, this.points[this.points.length - 1] as Point];
    const inner = this.points;
    // Constant beyond its ends.
    this.points = [[this.x.min, first[1]], ...inner, [this.x.max, last[1]]];
    super.line(context, height);
    this.points = inner;
    inner.forEach((point, i) => {
      context.beginPath();
      context.arc(...this.place(point), i === this.chosen ? 5 : 3.5, 0, 2 * Math.PI);
      context.fillStyle = cssColor(i === this.chosen ? "--text" : "--accent");
      context.fill();
    });
  }
}
