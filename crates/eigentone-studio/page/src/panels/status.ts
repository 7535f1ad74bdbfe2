/** The line at the bottom: is everything all right, and what does it cost. */

import type { App } from "../app";
import { h } from "../ui/dom";
import { count, digits, percent } from "../ui/format";

const LINK = { connecting: "connecting…", open: "connected", lost: "connection lost, trying again…", refused: "refused: open the address that the studio printed" };

export function statusBar(app: App): HTMLElement {
  const bar = h("footer.status", { "aria-label": "Status" });
  const cell = (id: string, label: string, title: string): HTMLElement => {
    const value = h("b");
    bar.append(h("span", { id, title }, label, value));
    return value;
  };
  const link = cell("status-link", "", "The server in your terminal");
  const load = cell("status-load", "Load ", "Share of a sound block's time that rendering takes");
  const budget = cell("status-budget", "Budget ", "Most modes or processor time that rendering may take, and how many of its blocks kept it");
  const latency = cell("status-latency", "Latency ", "From rendering in the server to the loudspeaker, measured");
  const strike = cell("status-strike", "Click to sound ", "From the last blow on a quiet scene to its first sample");
  const underruns = cell("status-underruns", "Underruns ", "Times the sound ran dry since it was started");
  const modes = cell("status-modes", "Modes ", "Mixed now, of all in the scene");
  const late = cell("status-late", "Late ", "Events that came too late for their sample");
  bar.append(h("span.spacer"));
  const last = h("span.last-log", { role: "log", "aria-live": "polite" });
  bar.append(last);

  app.studio.link.subscribe((status) => {
    link.textContent = LINK[status];
    link.dataset["state"] = status;
  });
  const showBudget = (): void => {
    const { budget_modes: modes, budget_us: us } = app.studio.quality.value;
    const kept = app.studio.meters.value?.budgetKept ?? 1;
    const limits = [modes ? `${count(modes)} modes` : "", us ? `${digits(us)} µs, ${percent(kept)} kept` : ""].filter(Boolean);
    budget.textContent = limits.length > 0 ? limits.join(", ") : "none";
    budget.classList.toggle("bad", Boolean(us) && kept < 0.99);
  };
  app.studio.quality.subscribe(showBudget);
  app.studio.meters.subscribe((meters) => {
    showBudget();
    load.textContent = meters ? percent(meters.load) : "–";
    load.classList.toggle("bad", (meters?.load ?? 0) > 0.8);
    modes.textContent = meters ? `${count(meters.modesMixed)} / ${count(meters.modesTotal)}` : "–";
    late.textContent = count(meters?.lateEvents ?? 0);
    late.parentElement?.toggleAttribute("hidden", !meters || meters.lateEvents < 1);
  });
  app.player.figures.subscribe((figures) => {
    const on = app.player.status.value === "on";
    latency.textContent = on ? `${digits(figures.latencyMs, 2)} ms` : "–";
    underruns.textContent = on ? String(figures.underruns) : "–";
    underruns.classList.toggle("bad", figures.underruns > 0);
    strike.textContent = figures.strikeMs === null ? "–" : `${figures.strikeMs.toFixed(0)} ms`;
  });
  app.studio.log.subscribe((entries) => {
    const entry = entries.at(-1);
    last.textContent = entry?.text ?? "";
    last.dataset["level"] = entry?.level ?? "info";
    last.title = entry?.text ?? "";
  });
  return bar;
}
