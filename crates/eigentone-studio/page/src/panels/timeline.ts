/** Time of scenes with soft bodies: what has been simulated can be played again from anywhere. */

import type { App } from "../app";
import { h } from "../ui/dom";
import { digits } from "../ui/format";

/** How finely the slider moves, in s: one picture. */
const STEP_S = 1 / 30;

export function timeline(app: App): HTMLElement {
  const range = h<HTMLInputElement>("input", {
    type: "range", min: 0, max: 1, step: "any", value: 0, id: "seek", "aria-label": "Time in s; arrow keys go one picture on or back",
    oninput: () => void seek(Number(range.value)),
    onkeydown: (event: KeyboardEvent) => {
      const by = { ArrowLeft: -STEP_S, ArrowDown: -STEP_S, ArrowRight: STEP_S, ArrowUp: STEP_S, PageDown: -0.25, PageUp: 0.25 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      void seek(Number(range.value) + by);
    },
  });
  const again = h<HTMLButtonElement>("button", { type: "button", id: "replay", title: "Play what has been simulated from the beginning, in real time and with its sound" }, "Play from start");
  const text = h("output", { for: "seek" });
  const bar = h("div.timeline", { role: "group", "aria-label": "Time", hidden: true }, again, range, text);
  let asked: number | null = null;
  let busy = false;

  async function seek(timeS: number): Promise<void> {
    asked = timeS;
    range.value = String(timeS);
    if (busy) return;
    busy = true;
    // While one is on its way, only the last of those that follow counts.
    while (asked !== null) {
      const next: number = asked;
      asked = null;
      await app.do({ do: "seek", time_s: next });
    }
    busy = false;
  }

  again.onclick = async () => {
    await seek(app.studio.transport.value?.begin_s ?? 0);
    if (!app.studio.scene.value.playing) await app.do({ do: "play", on: true });
  };
  app.studio.transport.subscribe((transport) => {
    bar.hidden = transport === null;
    if (!transport) return;
    const { time_s = 0, begin_s = 0, end_s = 0, simulating = false, factor = null } = transport;
    range.min = String(begin_s);
    range.max = String(Math.max(end_s, begin_s + 1e-3));
    if (!busy) range.value = String(time_s);
    range.setAttribute("aria-valuetext", `${digits(time_s, 3)} s`);
    range.style.setProperty("--share", `${(100 * (time_s - begin_s)) / Math.max(end_s - begin_s, 1e-3)}%`);
    const slow = factor === null || factor >= 0.98 ? "" : ` · ${digits(factor, 2)} × real time, no sound until it is played again`;
    text.textContent = `${time_s.toFixed(2)} s of ${end_s.toFixed(2)} s${simulating ? ` · simulating${slow}` : ""}`;
  });
  return bar;
}
