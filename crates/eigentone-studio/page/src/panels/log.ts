/** What happened, newest first. */

import type { App } from "../app";
import type { ContactPacket } from "../net/binary";
import { h, replace } from "../ui/dom";
import { si } from "../ui/format";

const SHOWN = 100;
const CONTACT_MS = 120;
/** Weaker impacts are not worth a line: what rests trembles a little. */
const FAINT_NS = 2e-3;

export function logPanel(app: App): HTMLElement {
  const list = h("ol.log", { "aria-label": "Event log" });
  app.studio.log.subscribe((entries) => {
    const newest = entries.slice(-SHOWN).reverse();
    replace(
      list,
      ...newest.map(({ time, level, text }) => h("li", { "data-level": level }, h("time", {}, time.toLocaleTimeString("en-GB")), h("span", {}, text))),
    );
    if (newest.length === 0) replace(list, h("li.empty", {}, "Nothing has happened yet."));
  });
  return list;
}

/** Writes the strongest impact of each moment into the log: a hail would flood it. */
export function logContacts(app: App): (packet: ContactPacket) => void {
  let lastMs = 0;
  return (packet) => {
    const now = performance.now();
    if (now - lastMs < CONTACT_MS) return;
    const impacts = packet.contacts.filter((contact) => contact.kind === "impact");
    const strongest = impacts.reduce((best, contact) => (contact.impulseNs > (best?.impulseNs ?? 0) ? contact : best), impacts[0]);
    if (!strongest || strongest.impulseNs < FAINT_NS) return;
    lastMs = now;
    const name = (id: number): string | null => app.studio.bodies.value.get(id)?.name ?? null;
    const names = [name(strongest.a), name(strongest.b)].filter((entry) => entry !== null);
    if (names.length === 0) return;
    app.studio.addLog("info", `${names.join(" on ")}: ${si(strongest.impulseNs, "N·s", 2)}${impacts.length > 1 ? ` and ${impacts.length - 1} more` : ""}`);
  };
}

/** A dot on the tab while there is a warning that nobody has seen. */
export function markUnseen(app: App, tab: HTMLElement): void {
  app.studio.log.changed((entries) => {
    const open = tab.getAttribute("aria-selected") === "true";
    if (!open && entries.at(-1)?.level !== "info") tab.dataset["unseen"] = "";
  });
  tab.addEventListener("click", () => delete tab.dataset["unseen"]);
}
