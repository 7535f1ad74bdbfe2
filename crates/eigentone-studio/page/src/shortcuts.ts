/** Keys of the whole page. */

import type { App } from "./app";
import { pickScene, saveScene } from "./panels/scene-menu";
import { TOOLS } from "./panels/tools";
import type { Pointer } from "./view/pointer";
import type { WorldView } from "./view/world-view";

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input:not([type=range]):not([type=checkbox]), select, textarea") || target.closest("dialog") !== null);
}

export function watchKeys(app: App, view: WorldView, pointer: Pointer): void {
  addEventListener("keydown", (event) => {
    if (typing(event.target)) return;
    if (event.ctrlKey || event.metaKey ? command(app, event) : plain(app, view, pointer, event)) event.preventDefault();
  });
  addEventListener("keyup", (event) => {
    view.listener.key(event.code, false);
    view.walk.key(event.code, false);
    if (event.code === "Space" || event.code === "Enter") pointer.keyUp();
  });
  addEventListener("blur", () => {
    view.listener.releaseKeys();
    view.walk.releaseKeys();
  });
}

function command(app: App, event: KeyboardEvent): boolean {
  const selected = app.studio.selected.value;
  switch (event.key.toLowerCase()) {
    case "z":
      app.step(event.shiftKey ? "redo" : "undo");
      return true;
    case "y":
      app.step("redo");
      return true;
    case "s":
      void saveScene(app);
      return true;
    case "o":
      pickScene(app);
      return true;
    case "b":
      document.getElementById("ab")?.dispatchEvent(new Event("switch"));
      return true;
    case "d":
      if (selected !== null) void app.do({ do: "duplicate", body: selected });
      return true;
    default:
      return false;
  }
}

function plain(app: App, view: WorldView, pointer: Pointer, event: KeyboardEvent): boolean {
  const tool = TOOLS.find(({ keys }) => keys === event.key)?.tool;
  if (tool) {
    app.studio.tool.value = tool;
    return true;
  }
  const onButton = event.target instanceof HTMLElement && event.target.matches("button, a, [role=option], [role=radio]");
  switch (event.code) {
    case "Space":
    case "Enter":
      if (onButton) return false;
      if (!event.repeat) pointer.keyDown();
      return true;
    case "KeyF":
      view.frameAll();
      return true;
    case "KeyP":
      void app.do({ do: "play", on: !app.studio.scene.value.playing });
      return true;
    case "Delete":
      if (app.studio.selected.value !== null) void app.do({ do: "remove", body: app.studio.selected.value });
      return true;
    default:
      // Arrows belong to sliders and tabs that have the focus.
      if (event.code.startsWith("Arrow")) return (event.target === document.body || event.target === view.stage.canvas) && view.walk.key(event.code, true);
      return view.listener.key(event.code, true);
  }
}
