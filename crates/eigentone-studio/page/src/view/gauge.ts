/** The ring that grows around the mouse while a blow gathers force. */

import { h } from "../ui/dom";
import { si } from "../ui/format";

/** The softest and the hardest blow by mouse, in N·s. */
export const MIN_IMPULSE_NS = 0.002;
export const MAX_IMPULSE_NS = 0.5;
const FULL_MS = 1400;
/** A quick approach (px/ms) begins up to this share higher. */
const SWING_SHARE = 0.4;
const SWING_PX_PER_MS = 2.5;
const RADIUS = 26;
const TURN = 2 * Math.PI * RADIUS;
const SVG = "http://www.w3.org/2000/svg";

/** 0 … 1 on the gauge as an impulse in N·s; equal steps are equal ratios. */
export function impulseOf(share: number): number {
  return MIN_IMPULSE_NS * (MAX_IMPULSE_NS / MIN_IMPULSE_NS) ** Math.min(1, Math.max(0, share));
}

export class Gauge {
  readonly element: HTMLElement;
  private readonly arc: SVGCircleElement;
  private readonly label: HTMLElement;
  private startedMs = 0;
  private base = 0;
  private frame = 0;

  constructor() {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "-32 -32 64 64");
    this.arc = document.createElementNS(SVG, "circle");
    const track = document.createElementNS(SVG, "circle");
    for (const [circle, name] of [[track, "track"], [this.arc, "arc"]] as const) {
      circle.setAttribute("r", String(RADIUS));
      circle.classList.add(name);
      svg.append(circle);
    }
    this.arc.setAttribute("stroke-dasharray", String(TURN));
    this.label = h("span");
    this.element = h("div.gauge", { hidden: true, "aria-hidden": "true" }, svg, this.label);
  }

  /** `speedPxPerMs` is how fast the mouse came. */
  begin(x: number, y: number, speedPxPerMs: number): void {
    this.startedMs = performance.now();
    this.base = 0.22 + SWING_SHARE * Math.min(1, speedPxPerMs / SWING_PX_PER_MS);
    this.element.style.transform = `translate(${x}px, ${y}px)`;
    this.element.hidden = false;
    cancelAnimationFrame(this.frame);
    this.draw();
  }

  /** The share of the hardest blow that was reached. */
  end(): number {
    cancelAnimationFrame(this.frame);
    this.element.hidden = true;
    return this.share();
  }

  get active(): boolean {
    return !this.element.hidden;
  }

  private share(): number {
    return Math.min(1, this.base + (performance.now() - this.startedMs) / FULL_MS);
  }

  private draw(): void {
    const share = this.share();
    this.arc.setAttribute("stroke-dashoffset", String(TURN * (1 - share)));
    this.arc.style.stroke = `hsl(${48 - 44 * share} 95% 58%)`;
    this.label.textContent = si(impulseOf(share), "N·s", 2);
    this.frame = requestAnimationFrame(() => this.draw());
  }
}
