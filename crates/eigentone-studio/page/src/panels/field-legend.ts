/** The colours of a slice with their values, and the value under the pointer. */

import type { Rooms } from "../state/rooms";
import { h } from "../ui/dom";
import { digits } from "../ui/format";
import { valueOf } from "../view/colors";
import type { WorldView } from "../view/world-view";

const STEPS = 64;
const MARKS = 5;

function text(value: number): string {
  return (Math.abs(value) >= 10 ? value.toFixed(0) : digits(value, 2)).replace("-", "−");
}

export function fieldLegend(rooms: Rooms, view: WorldView): HTMLElement {
  const title = h("strong");
  const about = h("span.muted");
  const bar = h<HTMLCanvasElement>("canvas", { width: STEPS, height: 1, role: "img" });
  const marks = h("div.marks");
  const pointer = h("output", { id: "field-value" }, "Point at the slice");
  const box = h("div.field-legend", { hidden: true }, title, about, bar, marks, pointer);
  rooms.cut.subscribe((cut) => {
    box.hidden = cut === null;
    if (!cut) return;
    const { scale, parameter } = cut;
    title.textContent = `${parameter.title} in ${parameter.unit}`;
    about.textContent = parameter.about;
    const context = bar.getContext("2d");
    for (let i = 0; i < STEPS; i++) {
      if (!context) break;
      context.fillStyle = `rgb(${scale.color(valueOf(scale, i / (STEPS - 1))).join(" ")})`;
      context.fillRect(i, 0, 1, 1);
    }
    bar.setAttribute("aria-label", `Colours from ${text(scale.low)} to ${text(scale.high)} ${parameter.unit}`);
    marks.replaceChildren(...Array.from({ length: MARKS }, (_, i) => h("span", {}, text(valueOf(scale, i / (MARKS - 1))))));
  });
  view.stage.canvas.addEventListener("pointermove", (event) => {
    const cut = rooms.cut.value;
    if (!cut) return;
    const found = view.field.under(view.cast(event.offsetX, event.offsetY).ray);
    pointer.textContent = found
      ? `${digits(found.value).replace("-", "−")} ${cut.parameter.unit} at x ${found.x.toFixed(1)}, y ${found.y.toFixed(1)} m`
      : "Nothing known here";
  });
  return box;
}
