/** Left: what is in the scene, and a shelf of objects to add. */

import type { App } from "../app";
import type { Body, ShelfObject } from "../net/protocol";
import { h, replace } from "../ui/dom";
import { hertz } from "../ui/format";
import { swatch } from "../view/looks";
import { Thumbnails } from "../view/thumbnails";
import { chooseFiles } from "./drop";

export function shelfPanel(app: App): HTMLElement {
  return h("aside.left", { "aria-label": "Objects" }, bodyList(app), shelf(app));
}

function bodyList(app: App): HTMLElement {
  const list = h("ul.bodies", { role: "listbox", "aria-label": "Bodies in the scene" });
  const count = h("span.count");
  const draw = (): void => {
    const bodies = [...app.studio.bodies.value.values()];
    count.textContent = String(bodies.length);
    const focused = list.contains(document.activeElement);
    replace(list, ...bodies.map((body) => bodyRow(app, body)));
    if (bodies.length === 0) replace(list, h("li.empty", {}, "Nothing here yet. Take something from the shelf, or drop a mesh file."));
    if (focused) list.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  };
  app.studio.bodies.subscribe(draw);
  app.studio.selected.changed(() => {
    draw();
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  app.studio.tasks.changed(draw);
  return h("section", {}, h("h2", {}, "In the scene", count), list);
}

function bodyRow(app: App, body: Body): HTMLElement {
  const selected = app.studio.selected.value === body.id;
  const task = app.studio.tasks.value.get(body.id);
  const dot = h("span.dot");
  dot.style.background = swatch(body.material);
  const row = h(
    "li",
    {
      role: "option",
      tabindex: selected ? 0 : -1,
      "aria-selected": String(selected),
      onclick: () => (app.studio.selected.value = body.id),
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
        event.preventDefault();
        const ids = [...app.studio.bodies.value.keys()];
        const next = ids[ids.indexOf(body.id) + (event.key === "ArrowDown" ? 1 : -1)];
        if (next !== undefined) app.studio.selected.value = next;
      },
    },
    dot,
    h("span.name", {}, body.name || body.shape),
    body.provisional && h("span.badge", { title: "A quick guess from the shape; its own model is being made." }, task ? `${Math.round(100 * task.share)} %` : "provisional"),
    h("span.detail", {}, body.sounds ? hertz(body.first_hz) : "silent"),
  );
  return row;
}

function shelf(app: App): HTMLElement {
  const grid = h("div.shelf-grid");
  const thumbnails = new Thumbnails();
  app.studio.shelf.subscribe(({ objects }) => replace(grid, ...objects.map((object) => card(app, object, thumbnails))));
  const add = h<HTMLButtonElement>("button.drop-button", { type: "button", id: "add-mesh", onclick: () => chooseFiles(app, "mesh") }, h("strong", {}, "Drop a mesh here"), h("span", {}, "or choose: OBJ, STL, PLY, glTF"));
  const fit = h<HTMLButtonElement>("button.quiet", { type: "button", id: "fit", onclick: () => chooseFiles(app, "sound") }, "Compare or fit a recording…");
  return h("section.shelf", { id: "shelf" }, h("h2", {}, "Shelf"), add, fit, grid);
}

function card(app: App, object: ShelfObject, thumbnails: Thumbnails): HTMLElement {
  const canvas = h<HTMLCanvasElement>("canvas", { "aria-hidden": "true" });
  const button = h<HTMLButtonElement>(
    "button.card",
    { type: "button", title: `Add ${object.title}`, "data-object": object.name, onclick: () => void addObject(app, object.name) },
    canvas,
    h("span", {}, object.title || object.name),
  );
  void thumbnails.draw(canvas, object.material ?? null, () => app.api.shelfMesh(object.name));
  return button;
}

async function addObject(app: App, object: string): Promise<void> {
  const answer = await app.attempt(() => app.connection.ask({ do: "add", object }));
  if (typeof answer?.["body"] === "number") app.studio.selected.value = answer["body"];
}
