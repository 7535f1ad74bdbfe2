/** Baking the rooms of the scene: what it would take, how far it is, and how to end it. */

import type { App } from "../app";
import type { BakeEvent } from "../net/field";
import type { Rooms } from "../state/rooms";
import { h } from "../ui/dom";
import { digits, si } from "../ui/format";

function duration(seconds: number): string {
  if (seconds < 90) return `${digits(Math.max(1, seconds), 2)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${digits(seconds / 3600, 2)} h`;
}

export function bakeBox(app: App, rooms: Rooms): HTMLElement {
  const estimate = h("p.muted", { id: "bake-estimate" });
  const stage = h("p", { id: "bake-stage", role: "status" });
  const bar = h("div.bar");
  const progress = h("div.progress", { role: "progressbar", "aria-label": "Bake", "aria-valuemin": 0, "aria-valuemax": 100 }, bar);
  const begin = h<HTMLButtonElement>("button", { type: "button", id: "bake", onclick: () => void app.do({ do: "bake" }) }, "Bake the rooms");
  const pause = h<HTMLButtonElement>("button", { type: "button", id: "bake-pause", onclick: () => void app.do({ do: "pause_bake", on: app.studio.bake.value?.stage !== "paused" }) }, "Pause");
  const cancel = h<HTMLButtonElement>("button", { type: "button", id: "bake-cancel", onclick: () => void app.do({ do: "cancel_bake" }) }, "Cancel");
  const show = (event: BakeEvent | null): void => {
    const running = event !== null && ["preparing", "baking", "paused"].includes(event.stage);
    begin.hidden = running;
    progress.hidden = pause.hidden = cancel.hidden = !running;
    pause.textContent = event?.stage === "paused" ? "Go on" : "Pause";
    const share = Math.round(100 * (event?.share ?? 0));
    bar.style.width = `${share}%`;
    progress.setAttribute("aria-valuenow", String(share));
    stage.textContent = event ? words(event) : "";
  };
  app.studio.bake.subscribe(show);
  let asked = -1;
  const ask = async (): Promise<void> => {
    const { version, acoustics } = app.studio.rooms.value;
    if (!acoustics || !rooms.open.value || asked === version) return;
    asked = version;
    estimate.textContent = "Estimating…";
    const told = (await app.attempt(() => app.connection.ask({ do: "estimate_bake" }))) as unknown as Estimate | undefined;
    if (asked !== version) return;
    estimate.textContent = told
      ? `A bake takes about ${duration(told.seconds)} for ${told.probes} probes, ${si(told.memory_bytes, "B", 2)} of memory and ${si(told.stored_bytes, "B", 2)} of disk.${told.warnings.map((warning) => ` Beware: ${warning}.`).join("")}`
      : "";
    begin.disabled = told !== undefined && !told.allowed;
    begin.title = begin.disabled ? "Too large for the studio: run `eigentone bake` in a terminal" : "";
  };
  rooms.open.subscribe(() => void ask());
  app.studio.rooms.subscribe(() => void ask());
  return h("section.bake", {}, h("h3", {}, "Bake"), estimate, stage, progress, h("div.buttons", {}, begin, pause, cancel));
}

interface Estimate {
  probes: number;
  seconds: number;
  memory_bytes: number;
  stored_bytes: number;
  warnings: string[];
  allowed: boolean;
}

function words(event: BakeEvent): string {
  switch (event.stage) {
    case "preparing":
      return "Looking at the walls…";
    case "baking": {
      const left = event.seconds_left ? `, about ${duration(event.seconds_left)} left` : "";
      return `${event.finished ?? 0} of ${event.of ?? "?"} probes${left}`;
    }
    case "paused":
      return `Paused at ${event.finished ?? 0} of ${event.of ?? "?"} probes`;
    case "done":
      return "Baked, and heard now. Save the scene to keep it.";
    case "cancelled":
      return "Cancelled: nothing has changed.";
    case "failed":
      return `Failed: ${event.error ?? "nobody knows why"}`;
  }
}
