/** Rooms: what is heard where, walking about in it, and baking it. */

import type { App } from "../app";
import type { FieldParameter } from "../net/field";
import type { Here, Rooms } from "../state/rooms";
import { h, replace } from "../ui/dom";
import { decibels, digits, hertz, si } from "../ui/format";
import { Slider } from "../ui/slider";
import type { WorldView } from "../view/world-view";
import { bakeBox } from "./bake";

export function roomsPanel(app: App, view: WorldView, rooms: Rooms): HTMLElement {
  const none = h("div.none", {},
    h("p.muted", {}, "This scene has no rooms: its bodies are heard in open air. Scenes describe rooms under [acoustics]."),
    h("button", { type: "button", id: "open-rooms", onclick: () => void app.do({ do: "open", scene: "two-rooms" }) }, "Open two rooms and a door"),
  );
  const slice = sliceBox(rooms);
  const here = hereBox(view, rooms);
  const bake = bakeBox(app, rooms);
  const panel = h("div.rooms", {}, none, here, slice, bake);
  const show = (): void => {
    const { acoustics } = app.studio.rooms.value;
    const field = rooms.field.value !== null;
    none.hidden = acoustics || field;
    slice.hidden = here.hidden = !field;
    bake.hidden = !acoustics;
  };
  app.studio.rooms.subscribe(show);
  rooms.field.subscribe(show);
  // The tab is open as long as it takes up space.
  new ResizeObserver(() => (rooms.open.value = panel.offsetParent !== null)).observe(panel);
  return panel;
}

/** What the slice shows, and how high it is cut. */
function sliceBox(rooms: Rooms): HTMLElement {
  const on = h<HTMLInputElement>("input", { type: "checkbox", role: "switch", id: "slice-on", onchange: () => (rooms.show.value = on.checked) });
  const parameter = h<HTMLSelectElement>("select", { id: "slice-parameter", onchange: () => (rooms.parameter.value = parameter.value) });
  const heights = h("div", { id: "slice-height" });
  const about = h("p.muted");
  rooms.show.subscribe((value) => (on.checked = value));
  rooms.parameter.subscribe((value) => (parameter.value = value));
  rooms.field.subscribe((info) => {
    if (!info) return;
    replace(parameter, ...info.parameters.map((entry: FieldParameter) => h("option", { value: entry.name }, `${entry.title} (${entry.unit})`)));
    parameter.value = rooms.parameter.value;
    const [low, high] = [info.bounds.min[2] + 0.01, info.bounds.max[2] - 0.01];
    const height = new Slider({
      label: "Height", min: low, max: high, initial: Math.min(high, low + 1.2), format: (v) => `${v.toFixed(2)} m`,
      hint: "At which the field is cut", beginGesture: () => 0, change: (value) => (rooms.heightM.value = value),
    });
    height.set(rooms.heightM.value);
    replace(heights, height.element);
    const directions = info.directions ? "" : " It has no directions of arrival.";
    about.textContent = `${info.probes.length} probes, simulated to ${hertz(info.f_max_hz)}, cubes of ${si(info.grid_m, "m", 2)}, ${si(info.stored_bytes, "B")}.${directions}`;
  });
  return h("section.slice", {},
    h("label.switch", {}, on, h("span", {}, "Slice through the field")),
    h("label.field", {}, h("span", {}, "Shows"), parameter),
    heights,
    about,
  );
}

/** The numbers at the listener, and how to walk. */
function hereBox(view: WorldView, rooms: Rooms): HTMLElement {
  const walk = h<HTMLButtonElement>("button.primary", { type: "button", id: "walk", onclick: () => {
    view.walk.toggle();
    view.stage.canvas.focus();
  } });
  view.walk.on.subscribe((on) => {
    walk.textContent = on ? "Look from outside again" : "Walk about in it";
    walk.setAttribute("aria-pressed", String(on));
  });
  const from = h("p.muted");
  rooms.source.subscribe((body) => (from.textContent = body ? `What arrives from “${body.name}” at the listener:` : "Nothing sounds here yet."));
  const value = (name: string, id: string): [HTMLElement, HTMLElement] => {
    const number = h("dd", { id }, "–");
    return [h("div", {}, h("dt", {}, name), number), number];
  };
  const [levelBox, level] = value("Level", "here-level");
  const [directBox, direct] = value("Direct", "here-direct");
  const [earlyBox, early] = value("Early decay", "here-early-decay");
  const [lateBox, late] = value("Late decay", "here-late-decay");
  const outside = h("p.outside", { role: "status", id: "outside-field", hidden: true }, "The listener is outside the baked field: what is nearest, or the free field, stands in.");
  rooms.here.subscribe((here: Here | null) => {
    outside.hidden = here === null || here.known;
    level.textContent = here ? decibels(here.level_db) : "–";
    direct.textContent = here ? decibels(here.direct_db) : "–";
    early.textContent = here ? `${digits(here.early_decay_s, 2)} s` : "–";
    late.textContent = here ? `${digits(here.late_decay_s, 2)} s` : "–";
  });
  return h("section.here", {},
    walk,
    h("p.muted", {}, "W A S D walk, the mouse or the arrow keys turn; Space strikes the selected body."),
    from,
    h("dl.facts", { title: "Level: direct and early sound relative to the direct sound at 1 m. Direct: relative to the free field at that distance. Decays: reverberation times" }, levelBox, directBox, earlyBox, lateBox),
    outside,
  );
}
