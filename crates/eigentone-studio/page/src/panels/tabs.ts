/** Tabs with arrow keys, as screen readers expect them. */

import { h } from "../ui/dom";

export interface Tab {
  id: string;
  label: string;
  content: HTMLElement;
}

export function tabs(label: string, entries: Tab[]): HTMLElement {
  const list = h("div.tabs", { role: "tablist", "aria-label": label });
  const box = h("div.tab-box");
  const choose = (id: string, focus: boolean): void => {
    for (const entry of entries) {
      const on = entry.id === id;
      const button = list.querySelector<HTMLElement>(`#tab-${entry.id}`);
      button?.setAttribute("aria-selected", String(on));
      button?.setAttribute("tabindex", on ? "0" : "-1");
      if (on && focus) button?.focus();
      (entry.content.parentElement as HTMLElement).hidden = !on;
    }
  };
  entries.forEach((entry, i) => {
    const move = (event: KeyboardEvent): void => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      const next = entries[(i + step + entries.length) % entries.length];
      if (step !== 0 && next) choose(next.id, true);
    };
    list.append(h("button", { type: "button", role: "tab", id: `tab-${entry.id}`, "aria-controls": `panel-${entry.id}`, onclick: () => choose(entry.id, false), onkeydown: move }, entry.label));
    box.append(h("div", { role: "tabpanel", id: `panel-${entry.id}`, "aria-labelledby": `tab-${entry.id}` }, entry.content));
  });
  choose(entries[0]?.id ?? "", false);
  return h("div.tabbed", {}, list, box);
}
