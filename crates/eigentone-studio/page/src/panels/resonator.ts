/** How the selected body resonates beside its modes: noise bands, pitch glide, modes that drive each other. */

import type { App } from "../app";
import type { Band, Glide, Nonlinear, ResonatorInfo, ShapingRequest } from "../net/shaping";
import { h, iconButton, replace } from "../ui/dom";
import { digits, hertz, si } from "../ui/format";
import { Slider } from "../ui/slider";
import { LinePlot } from "./small-plot";

const GLIDE: Glide = { amount: 0.02, energy_pa2: 0.01, focus: 0 };
const NONLINEAR: Nonlinear = { sections: 3, coupling: 0.8, reference_pa: 1, shaper: "square" };
const BAND: Band = { low_hz: 2000, high_hz: 6000, gain: 0.5, t60_s: 0.4 };
const SHAPERS: [Nonlinear["shaper"], string][] = [
  ["square", "square: sums and differences"],
  ["signed_square", "signed square: odd multiples"],
  ["saturating", "saturating: odd multiples, limited"],
];
const MAX_BANDS = 64;

type Change = Omit<Extract<ShapingRequest, { do: "resonator" }>, "do" | "body" | "gesture">;

export function resonatorPanel(app: App): HTMLElement {
  return new ResonatorPanel(app).element;
}

class ResonatorPanel {
  readonly element: HTMLElement;
  private info: ResonatorInfo = { glide: null, nonlinear: null, diffuse: [], own_diffuse: false };
  private readonly bands = h("div.bands");
  private rows: { sliders: Slider[] }[] = [];
  private readonly plot = new LinePlot("Noise bands", { min: 40, max: 20_000, log: true, marks: [[100, "100"], [1000, "1k"], [10_000, "10k Hz"]] }, { min: -60, max: 40, marks: [[-40, "−40"], [0, "0 dB"]] }, true);
  private readonly ofModel = h<HTMLButtonElement>("button", { type: "button", title: "The bands that the model has", onclick: () => this.send({ diffuse: null }) }, "As the model");
  private readonly glideOn = this.toggle("glide-on", "Pitch glide", () => this.send({ glide: this.glideOn.checked ? GLIDE : null }));
  private readonly nonlinearOn = this.toggle("nonlinear-on", "Modes drive each other", () => this.send({ nonlinear: this.nonlinearOn.checked ? NONLINEAR : null }));
  private readonly glide = {
    amount: this.slider("Largest shift", -0.3, 0.3, GLIDE.amount, (v) => `${digits(100 * v)} %`, (value, g) => this.send({ glide: { amount: value } }, g), false, (t) => parseFloat(t.replace("−", "-")) / 100),
    energy_pa2: this.slider("Half of it at", 1e-6, 100, GLIDE.energy_pa2, (v) => si(Math.sqrt(v), "Pa"), (value, g) => this.send({ glide: { energy_pa2: value } }, g), true, (t) => (parseFloat(t) * (/µ/.test(t) ? 1e-6 : /m/.test(t) ? 1e-3 : 1)) ** 2),
    focus: this.slider("Low modes more", 0, 4, GLIDE.focus, (v) => digits(v), (value, g) => this.send({ glide: { focus: value } }, g)),
  };
  private readonly nonlinear = {
    coupling: this.slider("Coupling", 0, 1, NONLINEAR.coupling, (v) => digits(v), (value, g) => this.send({ nonlinear: { coupling: value } }, g)),
    reference_pa: this.slider("Counts from", 1e-3, 100, NONLINEAR.reference_pa, (v) => si(v, "Pa"), (value, g) => this.send({ nonlinear: { reference_pa: value } }, g), true, (t) => parseFloat(t) * (/m/.test(t) ? 1e-3 : 1)),
    sections: this.slider("Sections", 2, 4, NONLINEAR.sections, (v) => String(Math.round(v)), (value, g) => this.send({ nonlinear: { sections: Math.round(value) } }, g)),
  };
  private readonly shaper = h<HTMLSelectElement>("select", { id: "shaper", onchange: () => this.send({ nonlinear: { shaper: this.shaper.value as Nonlinear["shaper"] } }) }, ...SHAPERS.map(([value, label]) => h("option", { value }, label)));
  private readonly glideBox = h("div.sliders", {}, ...Object.values(this.glide).map(({ element }) => element));
  private readonly nonlinearBox = h("div.sliders", {}, ...Object.values(this.nonlinear).map(({ element }) => element), h("label.field", {}, h("span", {}, "Curve"), this.shaper));
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    const empty = h("p.empty", {}, "Select a body that sounds.");
    const add = h<HTMLButtonElement>("button", { type: "button", id: "band-add", onclick: () => this.addBand() }, "Add a band");
    const content = h(
      "div.inspector",
      {},
      this.plot.element,
      this.bands,
      h("div.buttons", {}, add, this.ofModel),
      h("label.check", { title: "The pitch follows how loud it rings" }, this.glideOn, "Pitch glide"),
      this.glideBox,
      h("label.check", { title: "Brighter when struck harder, as gongs and cymbals" }, this.nonlinearOn, "Modes drive each other"),
      this.nonlinearBox,
    );
    this.element = h("div", {}, empty, content);
    const update = (): void => {
      const sounds = app.studio.selectedBody?.sounds ?? false;
      empty.hidden = sounds;
      content.hidden = !sounds;
      this.later(100);
    };
    app.studio.selected.subscribe(update);
    app.studio.bodies.changed(update);
  }

  private later(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(), ms);
  }

  private async load(): Promise<void> {
    const body = this.app.studio.selectedBody;
    if (!body?.sounds) return;
    // Behind another tab: it catches up when it comes to the front.
    if (this.element.offsetParent === null) return this.later(500);
    try {
      const info = await this.app.api.resonator(body.id);
      if (this.app.studio.selected.value === body.id) this.show(info);
    } catch (error) {
      this.app.studio.addLog("warning", error instanceof Error ? error.message : String(error));
    }
  }

  private show(info: ResonatorInfo): void {
    this.info = info;
    this.ofModel.hidden = !info.own_diffuse;
    this.glideOn.checked = info.glide !== null;
    this.nonlinearOn.checked = info.nonlinear !== null;
    this.glideBox.hidden = info.glide === null;
    this.nonlinearBox.hidden = info.nonlinear === null;
    for (const key of ["amount", "energy_pa2", "focus"] as const) this.glide[key].set(info.glide?.[key]);
    for (const key of ["coupling", "reference_pa", "sections"] as const) this.nonlinear[key].set(info.nonlinear?.[key]);
    this.shaper.value = info.nonlinear?.shaper ?? "square";
    this.showBands(info.diffuse);
    const outline = [...info.diffuse].sort((a, b) => a.low_hz - b.low_hz).flatMap(({ low_hz, high_hz, gain }): [number, number][] => {
      const db = 20 * Math.log10(gain + 1e-9);
      return [[low_hz, -60], [low_hz, db], [high_hz, db], [high_hz, -60]];
    });
    this.plot.show(outline, info.diffuse.length === 0 ? "none" : `${info.diffuse.length}, per N·s at 1 m${info.own_diffuse ? "" : ", as the model has them"}`);
  }

  private showBands(bands: Band[]): void {
    if (this.rows.length !== bands.length) {
      this.rows = bands.map((_, i) => this.row(i));
      replace(this.bands, ...this.rows.map(({ sliders }, i) => h("fieldset.band", {}, h("legend", {}, `Band ${i + 1}`), ...sliders.map(({ element }) => element), iconButton("trash", `Remove band ${i + 1}`, () => this.send({ diffuse: this.info.diffuse.filter((_, k) => k !== i) })))));
    }
    bands.forEach((band, i) => {
      const { sliders } = this.rows[i] as { sliders: Slider[] };
      [Math.sqrt(Math.max(band.low_hz, 1) * band.high_hz), Math.log2(band.high_hz / Math.max(band.low_hz, 1)), band.gain, band.t60_s].forEach((value, k) => sliders[k]?.set(value));
    });
  }

  private row(i: number): { sliders: Slider[] } {
    const change = (with_: (band: Band) => Partial<Band>) => (gesture: number): void => {
      const bands = this.info.diffuse.map((band, k) => (k === i ? { ...band, ...with_(band) } : band));
      this.info = { ...this.info, diffuse: bands };
      this.send({ diffuse: bands }, gesture);
    };
    const edges = (middle: number, octaves: number): Partial<Band> => ({ low_hz: middle / 2 ** (octaves / 2), high_hz: Math.min(40_000, middle * 2 ** (octaves / 2)) });
    const middle = (band: Band): number => Math.sqrt(Math.max(band.low_hz, 1) * band.high_hz);
    const width = (band: Band): number => Math.log2(band.high_hz / Math.max(band.low_hz, 1));
    const khz = (t: string): number => parseFloat(t) * (/k/.test(t) ? 1000 : 1);
    return {
      sliders: [
        this.slider("Frequency", 40, 18_000, 3500, hertz, (value, g) => change((band) => edges(value, width(band)))(g), true, khz),
        this.slider("Width", 0.1, 6, 1.5, (v) => `${digits(v)} oct`, (value, g) => change((band) => edges(middle(band), value))(g), true),
        this.slider("Gain", 1e-3, 100, 0.5, (v) => `${digits(20 * Math.log10(v))} dB`, (value, g) => change(() => ({ gain: value }))(g), true, (t) => 10 ** (parseFloat(t.replace("−", "-")) / 20)),
        this.slider("Decay, T60", 0.01, 20, 0.4, (v) => si(v, "s"), (value, g) => change(() => ({ t60_s: value }))(g), true, (t) => parseFloat(t) * (/ms/.test(t) ? 1e-3 : 1)),
      ],
    };
  }

  private addBand(): void {
    if (this.info.diffuse.length < MAX_BANDS) this.send({ diffuse: [...this.info.diffuse, BAND] });
  }

  private toggle(id: string, label: string, onchange: () => void): HTMLInputElement {
    return h<HTMLInputElement>("input", { type: "checkbox", role: "switch", id, "aria-label": label, onchange });
  }

  private slider(label: string, min: number, max: number, initial: number, format: (v: number) => string, change: (value: number, gesture: number) => void, log = false, parse?: (text: string) => number): Slider {
    return new Slider({ label, min, max, initial, format, change, log, ...(parse ? { parse } : {}), beginGesture: () => this.app.beginGesture() });
  }

  private send(change: Change, gesture = this.app.beginGesture()): void {
    const body = this.app.studio.selected.value;
    if (body === null) return;
    void this.app.do({ do: "resonator", body, gesture, ...change });
    this.later(100);
  }
}
