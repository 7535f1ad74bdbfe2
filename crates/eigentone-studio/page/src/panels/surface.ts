/** The surface of the selected body: changed while something scrapes on it. */

import type { App } from "../app";
import type { BodyId } from "../net/protocol";
import type { Profile, SurfaceInfo } from "../net/shaping";
import { h, replace } from "../ui/dom";
import { digits, hertz, si } from "../ui/format";
import { Slider, type SliderOptions } from "../ui/slider";
import { CurveEditor, LinePlot, type Axis } from "./small-plot";
import { mapSection } from "./surface-map";

type Range = Pick<SliderOptions, "label" | "min" | "max" | "initial" | "format" | "hint"> & Partial<SliderOptions> & { path: string };

const metres = (v: number): string => si(v, "m");
const seconds = (v: number): string => si(v, "s");
const times = (v: number): string => `${digits(v)} ×`;
const parseSi = (text: string): number => parseFloat(text.replace(",", ".")) * (/µ/.test(text) ? 1e-6 : /m(m|s)/.test(text) ? 1e-3 : /k/.test(text) ? 1e3 : 1);
const si_ = { parse: parseSi, log: true } as const;

const COMMON: Range[] = [
  { path: "roughness", label: "Roughness", min: 0.05, max: 20, initial: 1, log: true, format: times, hint: "Height of the profile: twice as rough is twice the force" },
  { path: "friction", label: "Friction", min: 0, max: 2, initial: 0.5, format: (v) => digits(v), hint: "Coulomb's coefficient: how much it brakes" },
  { path: "stiffness_n_m", label: "Stiffness", min: 1e3, max: 1e9, initial: 1e6, format: (v) => si(v, "N/m"), ...si_, parse: (t) => parseFloat(t) * (/G/.test(t) ? 1e9 : /M/.test(t) ? 1e6 : /k/.test(t) ? 1e3 : 1), hint: "Stiffer: shorter and brighter blows" },
  { path: "damping", label: "Damps what lies on it", min: 1, max: 50, initial: 1, log: true, format: times },
  { path: "decay_s", label: "Settles in", min: 0, max: 2, initial: 0, format: seconds, parse: parseSi, hint: "How long loose grains move on" },
  { path: "direct_pa_per_n", label: "Heard by itself", min: 0, max: 1, initial: 0, format: (v) => `${digits(v)} Pa/N`, hint: "Sound of the grains without any body that rings" },
];

const KINDS: Record<string, Range[]> = {
  bumps: [
    { path: "mark_m", label: "Width of bumps", min: 2e-5, max: 0.02, initial: 5e-4, format: metres, ...si_ },
    { path: "space_m", label: "Distance of bumps", min: 5e-5, max: 0.1, initial: 2e-3, format: metres, ...si_ },
  ],
  rough: [
    { path: "grain_m", label: "Grain", min: 1e-4, max: 0.2, initial: 4e-3, format: metres, ...si_, hint: "Longest features: longer is lower" },
    { path: "octaves", label: "Octaves", min: 1, max: 8, initial: 4, format: (v) => String(Math.round(v)), hint: "How many ever finer features" },
    { path: "persistence", label: "Fineness", min: 0, max: 1, initial: 0.6, format: (v) => digits(v), hint: "Height of each octave as a share of the one before" },
  ],
  loose: [
    { path: "events_per_m", label: "Grains", min: 5, max: 20_000, initial: 400, log: true, format: (v) => `${digits(v)} /m` },
    { path: "burst_s", label: "Length of each", min: 2e-4, max: 0.1, initial: 5e-3, format: seconds, ...si_ },
    { path: "band_hz.0", label: "Lowest", min: 50, max: 15_000, initial: 1000, format: hertz, ...si_ },
    { path: "band_hz.1", label: "Highest", min: 50, max: 18_000, initial: 4000, format: hertz, ...si_ },
    { path: "q", label: "Resonance", min: 0.3, max: 50, initial: 2, log: true, format: (v) => `Q ${digits(v)}` , parse: (t) => parseFloat(t.replace("Q", "")) },
  ],
  foil: [
    { path: "events_per_m", label: "Creases", min: 5, max: 5000, initial: 150, log: true, format: (v) => `${digits(v)} /m` },
    { path: "band_hz.0", label: "Lowest", min: 50, max: 15_000, initial: 2000, format: hertz, ...si_ },
    { path: "band_hz.1", label: "Highest", min: 50, max: 18_000, initial: 10_000, format: hertz, ...si_ },
    { path: "q.1", label: "Resonance, at most", min: 1, max: 100, initial: 40, log: true, format: (v) => `Q ${digits(v)}`, parse: (t) => parseFloat(t.replace("Q", "")) },
  ],
  friction: [
    { path: "static", label: "Sticks up to", min: 0.05, max: 2, initial: 0.6, format: (v) => digits(v) },
    { path: "dynamic", label: "Slips to", min: 0, max: 1.9, initial: 0.4, format: (v) => digits(v) },
    { path: "stiffness_n_m", label: "Spring", min: 100, max: 1e6, initial: 5e3, format: (v) => si(v, "N/m"), ...si_ },
    { path: "feedback", label: "Feels the body", min: 0, max: 1, initial: 1, format: (v) => digits(v) },
  ],
  smooth: [],
};

const SPEED: Axis = { min: 0, max: 2, marks: [[0, "0"], [0.5, "0.5"], [1, "1"], [1.5, "1.5"], [2, "2 m/s"]] };
const HZ: Axis = { min: 40, max: 20_000, log: true, marks: [[100, "100"], [1000, "1k"], [10_000, "10k Hz"]] };

export function surfacePanel(app: App): HTMLElement {
  return new SurfacePanel(app).element;
}

class SurfacePanel {
  readonly element: HTMLElement;
  private info: SurfaceInfo | null = null;
  private readonly title = h("strong", { id: "surface-name" });
  private readonly note = h("p.muted", { role: "status" });
  private readonly kind = h<HTMLSelectElement>("select", { id: "surface-profile", onchange: () => this.send({ profile: this.kind.value === "smooth" ? "smooth" : { [this.kind.value]: {} } }) });
  private readonly own = h<HTMLButtonElement>("button", { type: "button", id: "surface-own", title: "From now on this body has a surface of its own", onclick: () => this.send({}, undefined, true) }, "Own copy");
  private readonly profileSliders = h("div.sliders");
  private readonly common = COMMON.map((range) => ({ range, slider: this.slider(range, "") }));
  private ofKind: { range: Range; slider: Slider }[] = [];
  private shownKind = "";
  private readonly profilePlot = new LinePlot("Profile", { min: 0, max: 1, marks: [] }, { min: -1, max: 1, marks: [[0, ""]] });
  private readonly spectrumPlot = new LinePlot("Spectrum", HZ, { min: -100, max: 0, marks: [[-80, "−80"], [-60, ""], [-40, "−40 dB"], [-20, ""]] }, true);
  private readonly filter = this.curve("Filter: cut-off over speed", "low_pass", "slip", { min: 50, max: 20_000, log: true, marks: [[100, "100 Hz"], [1000, "1 kHz"], [10_000, "10 kHz"]] }, SPEED, ([x, y]) => `${digits(x)} m/s: ${hertz(y)}`);
  private readonly loudness = this.curve("Loudness over speed", "gain", "slip", { min: 0, max: 2, marks: [[1, "1 ×"], [2, "2 ×"]] }, SPEED, ([x, y]) => `${digits(x)} m/s: ${digits(y)} ×`);
  private readonly load = this.curve("Force over load", "gain", "force", { min: 0, max: 20, marks: [[5, ""], [10, "10 N"], [20, "20 N"]] }, { min: 0, max: 50, marks: [[0, "0"], [25, "25"], [50, "50 N"]] }, ([x, y]) => `${digits(x)} N: ${digits(y)} N`);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    const empty = h("p.empty", {}, "Nothing is selected. Click a body in the view or in the list.");
    const content = h(
      "div.inspector",
      {},
      h("div.line", {}, this.title, h("span.spacer"), this.own),
      this.note,
      this.profilePlot.element,
      this.spectrumPlot.element,
      h("label.field", {}, h("span", {}, "Profile"), this.kind),
      this.profileSliders,
      h("div.sliders", { id: "surface-sliders" }, ...this.common.map(({ slider }) => slider.element)),
      this.filter.element,
      this.loudness.element,
      this.load.element,
      mapSection(app),
    );
    this.element = h("div", {}, empty, content);
    app.studio.selected.subscribe((id) => {
      empty.hidden = id !== null;
      content.hidden = id === null;
      this.later(0);
    });
    app.studio.bodies.changed(() => this.later(120));
  }

  /** Asks again when things have calmed down, and only while it is seen. */
  private later(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), ms);
  }

  private async ask(): Promise<void> {
    const body = this.app.studio.selected.value;
    if (body === null) return;
    if (this.element.offsetParent === null) {
      // It is behind another tab: it catches up when it comes to the front.
      this.timer = setTimeout(() => void this.ask(), 500);
      return;
    }
    try {
      const info = await this.app.api.surface(body);
      if (this.app.studio.selected.value === body) this.show(info);
    } catch (error) {
      this.app.studio.addLog("warning", error instanceof Error ? error.message : String(error));
    }
  }

  private show(info: SurfaceInfo): void {
    this.info = info;
    const { texture, sketch } = info;
    this.title.textContent = info.name ?? "as the material";
    this.note.textContent = !info.own
      ? "From the library: the first change makes a copy in this scene."
      : info.others.length > 0
        ? `Also changes ${info.others.slice(0, 3).join(", ")}${info.others.length > 3 ? ` and ${info.others.length - 3} more` : ""}.`
        : `Of this scene${info.like ? `, like ${info.like}` : ""}.`;
    this.own.hidden = !info.own || info.others.length === 0;
    if (info.name && !this.app.studio.surfaces.value.includes(info.name)) void this.app.api.surfaces().then((names) => (this.app.studio.surfaces.value = names));
    this.showKind(texture.profile);
    for (const { range, slider } of this.common) slider.set(read(texture, range.path));
    this.filter.set(texture.low_pass.slip);
    this.loudness.set(texture.gain.slip);
    this.load.set(texture.gain.force);
    const peak = Math.max(1e-9, ...sketch.height.map(Math.abs));
    const [over, unit] = sketch.length_m !== null ? [sketch.length_m, "m"] : [sketch.length_s ?? 0, "s"];
    const marks: Axis["marks"] = [[0, "0"], [1, si(over, unit)]];
    this.profilePlot.show(sketch.height.map((y, i) => [i / Math.max(1, sketch.height.length - 1), y / peak]), peak > 1e-8 ? `peak ${digits(peak)}` : "none", { min: 0, max: 1, marks });
    this.spectrumPlot.show(sketch.frequency_hz.map((hz, i) => [hz, sketch.level_db[i] as number]), `force at ${digits(sketch.speed_m_s)} m/s, ${digits(sketch.force_n)} N`);
  }

  private showKind(profile: Profile): void {
    const kind = typeof profile === "string" ? profile : (Object.keys(profile)[0] ?? "smooth");
    const kinds = Object.keys(KINDS).includes(kind) ? Object.keys(KINDS) : [kind, ...Object.keys(KINDS)];
    if (this.kind.dataset["kinds"] !== kinds.join()) {
      this.kind.dataset["kinds"] = kinds.join();
      replace(this.kind, ...kinds.map((name) => h("option", { value: name }, name)));
    }
    this.kind.value = kind;
    if (this.shownKind !== kind) {
      this.shownKind = kind;
      this.ofKind = (KINDS[kind] ?? []).map((range) => ({ range, slider: this.slider(range, kind) }));
      replace(this.profileSliders, ...this.ofKind.map(({ slider }) => slider.element));
    }
    const values = typeof profile === "string" ? {} : profile[kind];
    for (const { range, slider } of this.ofKind) slider.set(read(values, range.path));
  }

  private slider(range: Range, kind: string): Slider {
    const { path, ...options } = range;
    return new Slider({
      ...options,
      beginGesture: () => this.app.beginGesture(),
      change: (value, gesture) => this.send(kind ? { profile: { [kind]: this.one(path, value, kind) } } : { [path]: value }, gesture),
    });
  }

  /** One key of a profile; of a pair both, since a list is one value. */
  private one(path: string, value: number, kind: string): Record<string, unknown> {
    const [key, place] = path.split(".") as [string, string | undefined];
    if (place === undefined) return { [key]: key === "octaves" ? Math.round(value) : value };
    const profile = this.info?.texture.profile;
    const pair = typeof profile === "object" ? (profile[kind]?.[key] as number[] | undefined) : undefined;
    const [low, high] = pair ?? [value, value];
    return { [key]: place === "0" ? [value, Math.max(value, high as number)] : [Math.min(low as number, value), value] };
  }

  private curve(label: string, table: "low_pass" | "gain", key: "slip" | "force", y: Axis, x: Axis, format: (point: [number, number]) => string): CurveEditor {
    return new CurveEditor({ label, x, y, format, beginGesture: () => this.app.beginGesture(), change: (points, gesture) => this.send({ [table]: { [key]: points } }, gesture) });
  }

  private send(set: Record<string, unknown>, gesture = this.app.beginGesture(), own = false): void {
    const body: BodyId | null = this.app.studio.selected.value;
    if (body === null) return;
    void this.app.do({ do: "surface", body, gesture, set, own });
    this.later(120);
  }
}

function read(from: unknown, path: string): number | undefined {
  const value = path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], from);
  return typeof value === "number" ? value : undefined;
}
