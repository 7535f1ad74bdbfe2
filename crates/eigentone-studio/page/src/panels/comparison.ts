/** Two versions of the scene, as on a mixing desk: going to the other one keeps this one as it is now, and the louder one is turned down. */

import type { App } from "../app";
import { h } from "../ui/dom";
import { decibels } from "../ui/format";

type Slot = "a" | "b";

export function comparison(app: App): HTMLElement {
  const stored = { a: false, b: false };
  const group = h("div.group.ab", { role: "group", "aria-label": "Compare two versions at equal loudness", id: "ab" });
  let busy = false;
  const press = async (slot: Slot): Promise<void> => {
    const here = app.studio.slot.value;
    if (here === slot || busy) return;
    busy = true;
    try {
      if (here !== null && !(await app.do({ do: "ab", slot: here, store: true }))) return;
      if (!(await app.do({ do: "ab", slot, store: !stored[slot] }))) return;
      stored[slot] = true;
      app.studio.slot.value = slot;
    } finally {
      busy = false;
    }
  };
  for (const slot of ["a", "b"] as const) {
    const name = slot.toUpperCase();
    const button = h<HTMLButtonElement>("button.slot", { type: "button", title: `Version ${name}: the first press keeps what is there now, later presses switch to it at equal loudness (Ctrl+B switches)`, onclick: () => void press(slot) }, name);
    app.studio.slot.subscribe((value) => {
      button.setAttribute("aria-pressed", String(value === slot));
      button.classList.toggle("stored", stored[slot]);
    });
    group.append(button);
  }
  const trim = h("output.matched", { id: "ab-match", title: "Turned down by so much, to be as loud as the other version; a change ends this" });
  app.studio.trimDb.subscribe((db) => {
    trim.textContent = db < -0.05 ? decibels(db) : "";
    trim.hidden = db >= -0.05;
  });
  group.append(trim);
  group.addEventListener("switch", () => void press(app.studio.slot.value === "a" ? "b" : "a"));
  app.studio.sceneNumber.changed(() => {
    stored.a = stored.b = false;
    app.studio.slot.value = null;
  });
  return group;
}
