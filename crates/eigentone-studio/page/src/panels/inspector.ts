/** Right: everything about the selected body. */

import type { App } from "../app";
import type { Body, BodySetting } from "../net/protocol";
import { openDialog } from "../ui/dialog";
import { h, iconButton, replace } from "../ui/dom";
import { count, decibels, digits, hertz, kilograms, note } from "../ui/format";
import { Slider, type SliderOptions } from "../ui/slider";
import { hasRecording, reopenRecording } from "./recording";

type Field = "size" | "pitch" | "damping" | "brightness" | "gain";

const semitones = (ratio: number): number => 12 * Math.log2(ratio);
const signed = (value: number, figures: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(figures)}`;
const number = (text: string): number => parseFloat(text.replace("−", "-").replace(",", "."));

const SLIDERS: (Pick<SliderOptions, "label" | "min" | "max" | "initial" | "format" | "hint"> & Partial<SliderOptions> & { field: Field })[] = [
  { field: "size", label: "Size", min: 0.1, max: 10, initial: 1, log: true, format: (v) => `${digits(v)} ×`, hint: "Larger is lower and rings longer" },
  { field: "pitch", label: "Pitch", min: 0.25, max: 4, initial: 1, log: true, format: (v) => `${signed(semitones(v), 1)} st`, parse: (text) => 2 ** (number(text) / 12), hint: "Semitones, without a change of size" },
  { field: "damping", label: "Damping", min: 0.1, max: 50, initial: 1, log: true, format: (v) => `${digits(v)} ×`, hint: "More is shorter" },
  { field: "brightness", label: "Brightness", min: -12, max: 12, initial: 0, format: (v) => `${signed(v, 1)} dB/oct`, hint: "Tilts the spectrum" },
  { field: "gain", label: "Gain", min: 0.01, max: 10, initial: 1, log: true, format: (v) => decibels(20 * Math.log10(v)), parse: (text) => 10 ** (number(text) / 20), hint: "Loudness of this body alone" },
];

export function inspector(app: App): HTMLElement {
  const empty = h("p.empty", {}, "Nothing is selected. Click a body in the view or in the list.");
  const content = h("div.inspector", {}, header(app), facts(app), choosers(app), sliders(app), actions(app));
  app.studio.selected.subscribe((id) => {
    empty.hidden = id !== null;
    content.hidden = id === null;
  });
  return h("div", {}, empty, content);
}

/** Calls `show` whenever the selected body is another one or has changed. */
function watch(app: App, show: (body: Body) => void): void {
  const update = (): void => {
    const body = app.studio.selectedBody;
    if (body) show(body);
  };
  app.studio.bodies.subscribe(update);
  app.studio.selected.changed(update);
}

function apply(app: App, setting: BodySetting, gesture = app.beginGesture()): void {
  const id = app.studio.selected.value;
  if (id !== null) app.set(id, gesture, setting);
}

function header(app: App): HTMLElement {
  const name = h<HTMLInputElement>("input.title", { type: "text", "aria-label": "Name", spellcheck: "false", onchange: () => apply(app, { name: name.value.trim() }) });
  const badge = h("span.badge", { title: "A quick guess from the shape. Its own model is being made and takes over without a break." });
  const stage = h("span.stage", { role: "status" });
  const bar = h("div.bar");
  const progress = h("div.progress", { hidden: true }, bar);
  const update = (): void => {
    const body = app.studio.selectedBody;
    if (!body) return;
    if (document.activeElement !== name) name.value = body.name;
    const task = app.studio.tasks.value.get(body.id);
    badge.textContent = body.provisional ? "provisional" : body.sounds ? "model ready" : "silent";
    badge.classList.toggle("ready", !body.provisional && body.sounds);
    stage.textContent = task ? `${task.stage} ${Math.round(100 * task.share)} %` : "";
    progress.hidden = !task;
    bar.style.width = `${100 * (task?.share ?? 0)}%`;
  };
  app.studio.bodies.subscribe(update);
  app.studio.selected.changed(update);
  app.studio.tasks.changed(update);
  return h("div.head", {}, name, h("div.line", {}, badge, stage), progress);
}

function facts(app: App): HTMLElement {
  const cells = new Map<string, HTMLElement>();
  const list = h("dl.facts");
  for (const label of ["Lowest", "Modes", "Mass", "Motion"]) {
    const value = h("dd");
    cells.set(label, value);
    list.append(h("div", {}, h("dt", {}, label), value));
  }
  watch(app, (body) => {
    const first = body.first_hz;
    (cells.get("Lowest") as HTMLElement).textContent = hertz(first);
    (cells.get("Lowest") as HTMLElement).title = first ? note(first) : "";
    (cells.get("Modes") as HTMLElement).textContent = count(body.modes);
    (cells.get("Mass") as HTMLElement).textContent = kilograms(body.mass_kg);
    (cells.get("Motion") as HTMLElement).textContent = body.kind === "dynamic" ? "free" : body.kind;
  });
  return list;
}

function choosers(app: App): HTMLElement {
  const material = h<HTMLSelectElement>("select", { id: "material", onchange: () => apply(app, { material: material.value }) });
  const surface = h<HTMLSelectElement>("select", { id: "surface", onchange: () => apply(app, { surface: surface.value || null }) });
  const fill = (select: HTMLSelectElement, names: readonly string[], value: string | null): void => {
    const wanted = value ?? "";
    const all = names.includes(wanted) ? names : [wanted, ...names];
    if (select.dataset["names"] !== all.join()) {
      select.dataset["names"] = all.join();
      replace(select, ...all.map((name) => h("option", { value: name }, name || (select.id === "surface" ? "as its material" : "–"))));
    }
    select.value = wanted;
  };
  const update = (): void => {
    const body = app.studio.selectedBody;
    if (!body) return;
    fill(material, app.studio.materials.value.map(({ name }) => name), body.material);
    fill(surface, app.studio.surfaces.value, body.surface);
  };
  app.studio.bodies.subscribe(update);
  app.studio.selected.changed(update);
  app.studio.materials.changed(update);
  app.studio.surfaces.changed(update);
  return h(
    "div.choosers",
    {},
    h("label.field", { title: "Takes effect while it rings" }, h("span", {}, "Material"), material),
    h("label.field", { title: "What it is like to the touch: heard when something slides or rolls on it" }, h("span", {}, "Surface"), surface),
  );
}

function sliders(app: App): HTMLElement {
  const made = SLIDERS.map(({ field, ...options }) => ({
    field,
    slider: new Slider({ ...options, beginGesture: () => app.beginGesture(), change: (value, gesture) => apply(app, { [field]: value }, gesture) }),
  }));
  watch(app, (body) => {
    for (const { field, slider } of made) slider.set(body[field]);
  });
  return h("div.sliders", { id: "sliders" }, ...made.map(({ slider }) => slider.element));
}

function actions(app: App): HTMLElement {
  const selected = (): number | null => app.studio.selected.value;
  const fixed = h<HTMLInputElement>("input", { type: "checkbox", onchange: () => apply(app, { fixed: fixed.checked }) });
  watch(app, (body) => (fixed.checked = body.kind === "fixed"));
  const hold = h<HTMLButtonElement>("button", { type: "button", title: "Stop it with the hand, as long as pressed" }, "Damp by hand");
  const setHold = (on: boolean): void => {
    const body = selected();
    if (body !== null) app.connection.post({ do: "hold", body, on });
    hold.classList.toggle("pressed", on);
  };
  hold.addEventListener("pointerdown", () => setHold(true));
  for (const end of ["pointerup", "pointerleave", "blur"]) hold.addEventListener(end, () => hold.classList.contains("pressed") && setHold(false));
  hold.addEventListener("keydown", (event) => (event.key === " " || event.key === "Enter") && !event.repeat && setHold(true));
  hold.addEventListener("keyup", () => setHold(false));
  const ask = (request: "duplicate" | "remove") => (): void => {
    const body = selected();
    if (body !== null) void app.do({ do: request, body });
  };
  const compare = h<HTMLButtonElement>("button", { type: "button", id: "compare-recording", onclick: () => selected() !== null && reopenRecording(app, selected() as number) }, "Compare with its recording");
  watch(app, (body) => (compare.hidden = !hasRecording(body.id)));
  return h(
    "div.actions",
    {},
    h("label.check", { title: "Does not move" }, fixed, "Fixed in place"),
    h("div.buttons", {}, hold, h("button", { type: "button", id: "why", onclick: () => void why(app) }, "Why is it silent?")),
    h("div.buttons", {}, iconButton("copy", "Duplicate (Ctrl+D)", ask("duplicate"), "Duplicate"), iconButton("trash", "Remove (Delete)", ask("remove"), "Remove")),
    compare,
  );
}

async function why(app: App): Promise<void> {
  const body = app.studio.selectedBody;
  if (!body) return;
  const answer = await app.attempt(() => app.connection.ask({ do: "why", body: body.id }));
  if (!answer) return;
  const reasons = Array.isArray(answer["reasons"]) ? answer["reasons"].map(String) : [];
  if (app.player.status.value !== "on") reasons.unshift("This page's sound is off: press “Start sound”.");
  else if (app.player.volume.value < 0.01) reasons.unshift("This page's volume is at zero: move the slider at the top right.");
  openDialog(
    `Why is “${body.name}” silent?`,
    reasons.length > 0 ? h("ol.reasons", {}, ...reasons.map((reason) => h("li", {}, reason))) : h("p", {}, "Nothing keeps it from sounding. Strike it harder or nearer to its edge."),
  );
}
