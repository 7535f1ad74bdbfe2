/** A slider with a name, a unit and a value one can type; a double-click brings the default back. */

import { h } from "./dom";

export interface SliderOptions {
  label: string;
  min: number;
  max: number;
  initial: number;
  /** Equal ratios are equally far apart. */
  log?: boolean;
  format(value: number): string;
  /** From what was typed to the value; plain numbers unless given. */
  parse?(text: string): number;
  hint?: string;
  /** `gesture` is the same from the first movement to the release. */
  change(value: number, gesture: number): void;
  beginGesture(): number;
}

const STEPS = 1000;

export class Slider {
  readonly element: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly field: HTMLInputElement;
  private gesture: number | null = null;
  private current: number;

  constructor(private readonly options: SliderOptions) {
    this.current = options.initial;
    this.range = h<HTMLInputElement>("input", {
      type: "range", min: 0, max: STEPS, step: 1, "aria-label": options.label,
      title: `${options.hint ? `${options.hint}\n` : ""}Double-click: ${options.format(options.initial)}`,
      oninput: () => this.move(this.fromRange(Number(this.range.value))),
      onchange: () => (this.gesture = null),
      ondblclick: () => this.reset(),
    });
    this.field = h<HTMLInputElement>("input.value", {
      type: "text", "aria-label": `${options.label}, value`, spellcheck: "false",
      onchange: () => this.typed(),
      onfocus: () => this.field.select(),
      onkeydown: (event: KeyboardEvent) => event.key === "Enter" && this.field.blur(),
    });
    this.element = h("div.slider", {}, h("span.label", { title: options.hint, ondblclick: () => this.reset() }, options.label), this.field, this.range);
    this.show(options.initial);
  }

  /** Shows what the server says, unless the person is moving it. */
  set(value: number | null | undefined): void {
    if (this.gesture === null && document.activeElement !== this.field) this.show(value ?? this.options.initial);
  }

  get value(): number {
    return this.current;
  }

  set disabled(disabled: boolean) {
    this.range.disabled = disabled;
    this.field.disabled = disabled;
    this.element.classList.toggle("disabled", disabled);
  }

  private reset(): void {
    this.gesture = null;
    this.move(this.options.initial);
    this.gesture = null;
  }

  private typed(): void {
    const value = this.options.parse ? this.options.parse(this.field.value) : parseFloat(this.field.value.replace("−", "-").replace(",", "."));
    if (Number.isFinite(value)) this.move(Math.min(this.options.max, Math.max(this.options.min, value)));
    else this.show(this.current);
    this.gesture = null;
  }

  private move(value: number): void {
    this.gesture ??= this.options.beginGesture();
    this.show(value);
    this.options.change(value, this.gesture);
  }

  private show(value: number): void {
    const { min, max, log, format, initial } = this.options;
    this.current = value;
    const share = log ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
    const clamped = Math.min(1, Math.max(0, share));
    this.range.value = String(Math.round(STEPS * clamped));
    this.range.style.setProperty("--share", `${100 * clamped}%`);
    this.range.setAttribute("aria-valuetext", format(value));
    this.field.value = format(value);
    this.element.classList.toggle("changed", Math.abs(value - initial) > 1e-9 * Math.abs(max - min));
  }

  private fromRange(position: number): number {
    const { min, max, log, initial } = this.options;
    const share = position / STEPS;
    const value = log ? min * (max / min) ** share : min + (max - min) * share;
    // The default is easy to find again by hand.
    return Math.abs(share - this.shareOf(initial)) < 0.006 ? initial : value;
  }

  private shareOf(value: number): number {
    const { min, max, log } = this.options;
    return log ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
  }
}
