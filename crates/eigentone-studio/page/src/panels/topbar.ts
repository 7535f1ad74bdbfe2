/** The bar on top: scene, history, time, comparison, export, sound. */

import type { App } from "../app";
import { openMenu } from "../ui/dialog";
import { h, icon, iconButton, setIcon } from "../ui/dom";
import { decibels } from "../ui/format";
import { toggleTheme } from "../ui/theme";
import { exportTake, openVariations } from "./export";
import { exportRecording, recorder } from "./record";
import { sceneMenu } from "./scene-menu";
import { startTour } from "./tour";

const SPEEDS = [1, 0.5, 0.25, 0.1];

export function topbar(app: App): HTMLElement {
  return h(
    "header.topbar",
    {},
    h("div.brand", {}, brandMark(), h("span", {}, "Eigentone")),
    sceneMenu(app),
    history(app),
    transport(app),
    comparison(app),
    h("div.spacer"),
    recorder(app),
    exporter(app),
    volume(app),
    iconButton("theme", "Dark or light", toggleTheme),
    iconButton("help", "Short tour and keys", () => startTour()),
  );
}

function brandMark(): SVGSVGElement {
  const svg = icon("menu");
  svg.classList.replace("icon", "mark");
  svg.innerHTML = '<path d="M4 20V9M9.300 20V4M14.600 20v-8M20 20v-5" />';
  return svg;
}

function history(app: App): HTMLElement {
  const undo = iconButton("undo", "Undo (Ctrl+Z)", () => app.step("undo"));
  const redo = iconButton("redo", "Redo (Ctrl+Y)", () => app.step("redo"));
  undo.id = "undo";
  redo.id = "redo";
  app.studio.history.subscribe((state) => {
    undo.disabled = state.undo === 0;
    redo.disabled = state.redo === 0;
    undo.title = state.undo > 0 && state.label ? `Undo: ${state.label} (Ctrl+Z)` : "Undo (Ctrl+Z)";
  });
  return h("div.group", { role: "group", "aria-label": "History" }, undo, redo);
}

function transport(app: App): HTMLElement {
  const play = iconButton("pause", "Pause the motion (P)", () => void app.do({ do: "play", on: !app.studio.scene.value.playing }));
  const step = iconButton("step", "One step", () => void app.do({ do: "step" }));
  const reset = iconButton("reset", "Everything back to its place", () => void app.do({ do: "reset" }));
  const speed = h<HTMLSelectElement>("select", {
    "aria-label": "Speed of the motion",
    title: "Speed of the motion",
    onchange: () => void app.do({ do: "speed", value: Number(speed.value) }),
  });
  for (const value of SPEEDS) speed.append(h("option", { value }, value === 1 ? "1 ×" : `${value} ×`));
  play.id = "play";
  app.studio.scene.subscribe(({ playing, speed: value }) => {
    setIcon(play, playing ? "pause" : "play");
    play.title = playing ? "Pause the motion (P)" : "Let it move (P)";
    play.setAttribute("aria-label", play.title);
    step.disabled = playing;
    if (SPEEDS.includes(value)) speed.value = String(value);
  });
  return h("div.group", { role: "group", "aria-label": "Motion" }, play, step, reset, speed);
}

/** Two versions of the scene, as on a mixing desk: going to the other one keeps this one as it is now. */
function comparison(app: App): HTMLElement {
  const stored = { a: false, b: false };
  const group = h("div.group.ab", { role: "group", "aria-label": "Compare two versions at equal loudness", id: "ab" });
  const press = async (slot: "a" | "b"): Promise<void> => {
    const here = app.studio.slot.value;
    if (here !== null && here !== slot && !(await app.do({ do: "ab", slot: here, store: true }))) return;
    if (here === slot || !(await app.do({ do: "ab", slot, store: !stored[slot] }))) return;
    stored[slot] = true;
    app.studio.slot.value = slot;
  };
  for (const slot of ["a", "b"] as const) {
    const name = slot.toUpperCase();
    const button = h<HTMLButtonElement>("button.slot", { type: "button", title: `Version ${name}: first press keeps what is there now, later presses switch to it at equal loudness`, onclick: () => void press(slot) }, name);
    app.studio.slot.subscribe((value) => {
      button.setAttribute("aria-pressed", String(value === slot));
      button.classList.toggle("stored", stored[slot]);
    });
    group.append(button);
  }
  const trim = h("output", { id: "ab-trim", title: "Turned down by so much, to be as loud as the other version; a change ends this" });
  app.studio.trimDb.subscribe((db) => {
    trim.textContent = db < -0.05 ? decibels(db) : "";
    trim.hidden = db >= -0.05;
  });
  group.append(trim);
  app.studio.sceneNumber.changed(() => {
    stored.a = stored.b = false;
    app.studio.slot.value = null;
  });
  return group;
}

function exporter(app: App): HTMLElement {
  const button: HTMLButtonElement = iconButton("download", "Export", () => {
    const recorded = [
      { label: "The last take, as WAV", action: () => void exportRecording(app, "wav") },
      { label: "The last take with all it was made of, as ZIP", action: () => void exportRecording(app, "zip") },
    ];
    openMenu(button, [
      ...(app.studio.take.value.ready ? recorded : []),
      { label: "What was just heard, as WAV", action: () => void exportTake(app) },
      { label: "Variations of a blow, as ZIP…", action: () => openVariations(app) },
    ]);
  }, "Export");
  button.id = "export";
  button.setAttribute("aria-haspopup", "menu");
  return button;
}

function volume(app: App): HTMLElement {
  const button = iconButton("mute", "Start sound", () => void (app.player.status.value === "on" ? app.player.stop() : app.player.start()));
  const range = h<HTMLInputElement>("input", {
    type: "range", min: 0, max: 1.4, step: 0.01, value: 1, "aria-label": "Volume", title: "Volume of this page (the export does not change)",
    oninput: () => (app.player.volume.value = Number(range.value) ** 2),
    ondblclick: () => {
      range.value = "1";
      app.player.volume.value = 1;
    },
  });
  const fill = (): void => range.style.setProperty("--share", `${(100 * Number(range.value)) / 1.4}%`);
  app.player.volume.subscribe(fill);
  app.player.status.subscribe((status) => {
    setIcon(button, status === "on" ? "sound" : "mute");
    button.title = status === "on" ? "Stop sound" : "Start sound";
    button.setAttribute("aria-label", button.title);
  });
  return h("div.group.volume", {}, button, range);
}
