/** The bar on top: scene, history, time, comparison, export, sound. */

import type { App } from "../app";
import { openMenu } from "../ui/dialog";
import { h, icon, iconButton, setIcon } from "../ui/dom";
import { toggleTheme } from "../ui/theme";
import { comparison } from "./comparison";
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
