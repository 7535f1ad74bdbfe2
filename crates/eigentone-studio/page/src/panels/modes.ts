/** The modes panel: see, point at, mute, solo and retune the modes of the selected body. */

import type { App } from "../app";
import type { BodyId, ModeEdit } from "../net/protocol";
import { h } from "../ui/dom";
import { animate } from "../ui/frames";
import { count, digits, hertz, note, si } from "../ui/format";
import type { WorldView } from "../view/world-view";
import { MAX_HZ, MIN_HZ, ModesData, t60, type ShownMode } from "./modes-data";
import { ModesPlot } from "./modes-plot";

const LEGEND = [
  ["sounding", "sounding"],
  ["masked", "masked"],
  ["truncated", "too quiet"],
  ["scaled", "scaled away"],
  ["threshold", "threshold"],
] as const;
const SEND_MS = 60;

export function modesPanel(app: App, view: WorldView): HTMLElement {
  const panel = new ModesPanel(app, view);
  return panel.element;
}

interface Drag {
  mode: ShownMode;
  x: number;
  y: number;
  axis: "frequency" | "decay" | null;
  from: { frequencyHz: number; decayPerS: number };
  sentMs: number;
  gesture: number;
}

class ModesPanel {
  readonly element: HTMLElement;
  private readonly data = new ModesData();
  private readonly plot: ModesPlot;
  private readonly summary = h("small");
  private readonly readout = h("div.readout", { role: "status" });
  private readonly mute: HTMLButtonElement;
  private readonly solo: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private readonly add: HTMLButtonElement;
  private readonly drop: HTMLButtonElement;
  private readonly restore: HTMLButtonElement;
  private drag: Drag | null = null;
  private version = -1;

  constructor(
    private readonly app: App,
    private readonly view: WorldView,
  ) {
    const canvas = h<HTMLCanvasElement>("canvas", { tabindex: 0, role: "application", "aria-label": "Modes over frequency. Left and right choose a mode, M mutes, O makes it solo, brackets retune, A adds one, Delete deletes." });
    this.plot = new ModesPlot(canvas, this.data);
    this.mute = h<HTMLButtonElement>("button", { type: "button", id: "mode-mute", title: "Mute this mode (M)", onclick: () => this.toggle("muted") }, "Mute");
    this.solo = h<HTMLButtonElement>("button", { type: "button", id: "mode-solo", title: "Only this mode (O)", onclick: () => this.toggle("soloed") }, "Solo");
    this.back = h<HTMLButtonElement>("button", { type: "button", id: "mode-reset", title: "Back to what the model says (double-click a stem)", onclick: () => this.reset() }, "Reset");
    this.add = h<HTMLButtonElement>("button", { type: "button", id: "mode-add", title: "Add a mode (A), or double-click where there is none", onclick: () => this.addMode() }, "Add");
    this.drop = h<HTMLButtonElement>("button", { type: "button", id: "mode-delete", title: "Delete this mode (Delete)", onclick: () => this.deleteMode() }, "Delete");
    this.restore = h<HTMLButtonElement>("button", { type: "button", id: "mode-restore", title: "Bring back all deleted modes", onclick: () => this.restoreModes() }, "Restore");
    const legend = h("div.legend", {}, ...LEGEND.map(([state, label]) => h("span", { "data-state": state }, label)));
    this.element = h(
      "section.panel.modes",
      { "aria-label": "Modes" },
      h("h3", {}, "Modes", this.summary, h("span.spacer"), legend),
      h("div.plot", {}, canvas),
      h("div.mode-line", {}, this.readout, this.solo, this.mute, this.back, this.add, this.drop, this.restore),
    );
    this.listen(canvas);
    app.studio.selected.subscribe((id) => this.subscribe(id));
    app.studio.link.changed((link) => link === "open" && this.subscribe(app.studio.selected.value));
    app.studio.bodies.subscribe(() => this.refresh());
    app.studio.modes.changed((packet) => packet && this.data.setLive(packet));
    // Levels come 20 times a second.
    animate(30, 10, () => this.plot.draw());
  }

  private subscribe(body: BodyId | null): void {
    this.data.clear(body);
    this.version = -1;
    this.plot.chosen = this.plot.hovered = null;
    void this.view.showMode(null);
    this.app.connection.post({ do: "modes", body });
    this.refresh();
    this.tell();
  }

  /** Asks for the model when it is another one. */
  private refresh(): void {
    const body = this.app.studio.selectedBody;
    if (!body || body.model_version === this.version || this.drag) return;
    this.version = body.model_version;
    if (!body.sounds || body.modes === 0) {
      this.data.clear(body.id);
      this.tell();
      return;
    }
    void this.load(body.id);
  }

  private async load(body: BodyId): Promise<void> {
    try {
      const model = await this.app.api.model(body);
      if (this.app.studio.selected.value !== body) return;
      this.data.setModel(body, model);
      this.tell();
    } catch (error) {
      this.app.studio.addLog("warning", error instanceof Error ? error.message : String(error));
    }
  }

  private listen(canvas: HTMLCanvasElement): void {
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerleave", () => this.drag ?? this.hover(null));
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointerup", () => this.up());
    canvas.addEventListener("pointercancel", () => this.up());
    canvas.addEventListener("dblclick", (event) => (this.plot.at(event.offsetX, event.offsetY) === null ? this.addMode(this.plot.hz(event.offsetX)) : this.reset()));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => void this.view.showMode(null));
  }

  private hover(index: number | null): void {
    if (index === this.plot.hovered) return;
    this.plot.hovered = index;
    this.plot.canvas.style.cursor = index === null ? "default" : "move";
    const shown = index ?? (document.activeElement === this.plot.canvas ? this.plot.chosen : null);
    void this.view.showMode(shown === null || this.data.body === null ? null : { body: this.data.body, mode: this.data.modes[shown]?.number ?? shown });
    this.tell();
  }

  private down(event: PointerEvent): void {
    const index = this.plot.at(event.offsetX, event.offsetY);
    this.plot.chosen = index;
    this.tell();
    const mode = index === null ? undefined : this.data.modes[index];
    if (!mode || event.button !== 0) return;
    this.plot.canvas.setPointerCapture(event.pointerId);
    this.drag = { mode, x: event.offsetX, y: event.offsetY, axis: null, from: { frequencyHz: mode.frequencyHz, decayPerS: mode.decayPerS }, sentMs: 0, gesture: this.app.beginGesture() };
  }

  private move(event: PointerEvent): void {
    const drag = this.drag;
    if (!drag) {
      this.hover(this.plot.at(event.offsetX, event.offsetY));
      return;
    }
    const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
    if (!drag.axis && Math.hypot(dx, dy) > 4) drag.axis = Math.abs(dx) >= Math.abs(dy) ? "frequency" : "decay";
    if (drag.axis === "frequency") {
      const ratio = this.plot.hz(this.plot.x(drag.from.frequencyHz) + dx) / drag.from.frequencyHz;
      drag.mode.frequencyHz = Math.min(MAX_HZ, Math.max(MIN_HZ, drag.from.frequencyHz * ratio));
    } else if (drag.axis === "decay") {
      drag.mode.decayPerS = drag.from.decayPerS * 2 ** (dy / 30);
    }
    this.tell();
    if (performance.now() - drag.sentMs > SEND_MS) this.sendDrag();
  }

  private up(): void {
    if (this.drag?.axis) this.sendDrag();
    this.drag = null;
    this.refresh();
  }

  private sendDrag(): void {
    const drag = this.drag;
    if (!drag?.axis) return;
    drag.sentMs = performance.now();
    const change = drag.axis === "frequency" ? { frequency_hz: drag.mode.frequencyHz } : { decay_per_s: drag.mode.decayPerS };
    this.edit(drag.mode, { ...change, gesture: drag.gesture });
  }

  private edit(mode: ShownMode, change: ModeEdit): void {
    if (this.data.body !== null) this.app.connection.post({ do: "mode", body: this.data.body, mode: mode.number, ...change });
  }

  /** Back to what the model says. */
  private reset(): void {
    const mode = this.current();
    if (!mode) return;
    mode.muted = mode.soloed = false;
    this.edit(mode, { reset: true });
    this.tell();
  }

  /** A mode with the shape of its nearest neighbour: at a frequency, or a fifth above the chosen one. */
  private addMode(hz = 1.5 * (this.current()?.frequencyHz ?? 440)): void {
    const body = this.data.body;
    if (body === null || this.data.modes.length === 0) return;
    void this.app.do({ do: "mode_add", body, frequency_hz: Math.min(MAX_HZ, Math.max(MIN_HZ, hz)), gesture: this.app.beginGesture() });
  }

  private deleteMode(): void {
    const mode = this.current();
    if (!mode || this.data.body === null) return;
    void this.app.do({ do: "mode", body: this.data.body, mode: mode.number, delete: true, gesture: this.app.beginGesture() });
    this.plot.chosen = this.plot.hovered = null;
    void this.view.showMode(null);
    this.tell();
  }

  private restoreModes(): void {
    const body = this.data.body;
    const gesture = this.app.beginGesture();
    if (body !== null) for (const mode of this.data.model?.deleted ?? []) void this.app.do({ do: "mode", body, mode, reset: true, gesture });
  }

  private toggle(what: "muted" | "soloed"): void {
    const mode = this.current();
    if (!mode) return;
    mode[what] = !mode[what];
    this.edit(mode, what === "muted" ? { mute: mode.muted } : { solo: mode.soloed });
    this.tell();
  }

  private key(event: KeyboardEvent): void {
    const byFrequency = [...this.data.modes].sort((a, b) => a.frequencyHz - b.frequencyHz);
    const at = byFrequency.findIndex((mode) => mode.index === this.plot.chosen);
    const mode = this.current();
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const next = byFrequency[Math.min(byFrequency.length - 1, Math.max(0, at + (event.key === "ArrowRight" ? 1 : -1)))];
      this.plot.chosen = next?.index ?? null;
      if (next && this.data.body !== null) void this.view.showMode({ body: this.data.body, mode: next.number });
    } else if (event.key === "m") this.toggle("muted");
    else if (event.key === "o") this.toggle("soloed");
    else if (event.key === "a") this.addMode();
    else if (event.key === "Delete" && mode) this.deleteMode();
    else if (mode && (event.key === "]" || event.key === "[")) {
      mode.frequencyHz *= 2 ** ((event.key === "]" ? 1 : -1) / 48);
      this.edit(mode, { frequency_hz: mode.frequencyHz });
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.tell();
  }

  private current(): ShownMode | null {
    const index = this.drag?.mode.index ?? this.plot.chosen ?? this.plot.hovered;
    return index === null || index === undefined ? null : (this.data.modes[index] ?? null);
  }

  private tell(): void {
    const { modes, model } = this.data;
    this.summary.textContent = model ? `${count(modes.length)} · ${model.method}` : this.app.studio.selectedBody ? "none" : "";
    const shown = this.plot.hovered !== null && !this.drag ? (this.data.modes[this.plot.hovered] ?? null) : this.current();
    this.mute.disabled = this.solo.disabled = this.back.disabled = !this.current();
    this.drop.disabled = !this.current() || modes.length < 2;
    this.add.disabled = modes.length === 0;
    const deleted = model?.deleted?.length ?? 0;
    this.restore.hidden = deleted === 0;
    this.restore.textContent = `Restore ${deleted}`;
    this.mute.setAttribute("aria-pressed", String(this.current()?.muted ?? false));
    this.solo.setAttribute("aria-pressed", String(this.current()?.soloed ?? false));
    this.readout.textContent = shown
      ? `Mode ${shown.number + 1}${shown.added ? " (added)" : ""}: ${hertz(shown.frequencyHz)} (${note(shown.frequencyHz)}) · T60 ${si(t60(shown.decayPerS), "s")} · decay ${digits(shown.decayPerS)} 1/s`
      : "Point at a mode to see its shape. Drag sideways for frequency, up and down for decay.";
  }
}
