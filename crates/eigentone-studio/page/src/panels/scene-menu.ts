/** The menu of scenes: shipped ones, files, saving. */

import type { App } from "../app";
import { openMenu, type MenuItem } from "../ui/dialog";
import { h, save } from "../ui/dom";
import { toast } from "../ui/toast";

export function sceneMenu(app: App): HTMLElement {
  const name = h("span.name");
  const dirty = h("span.dirty", { title: "Changed since it was saved" });
  const button = h<HTMLButtonElement>(
    "button.scene-button",
    { type: "button", id: "scene", "aria-haspopup": "menu", "aria-label": "Scene", onclick: () => openMenu(button, items(app)) },
    name,
    dirty,
    h("span.caret", {}, "▾"),
  );
  app.studio.scene.subscribe((scene) => {
    const file = scene.file?.split(/[\\/]/).pop();
    name.textContent = file || scene.title || "Untitled scene";
    dirty.hidden = !scene.dirty;
    document.title = `${scene.dirty ? "• " : ""}${name.textContent} – Eigentone studio`;
  });
  app.studio.autosave.changed((waits) => {
    if (waits) toast("info", "Work of last time was not saved.", "Scene menu: “Bring back unsaved work”.");
  });
  return button;
}

function items(app: App): MenuItem[] {
  const scenes = app.studio.shelf.value.scenes;
  return [
    { label: "Save", keys: "Ctrl+S", action: () => void saveScene(app) },
    { label: "Download a copy (.toml)", action: () => void downloadScene(app) },
    { label: "Open a scene file…", keys: "Ctrl+O", action: () => pickScene(app) },
    { label: "Keep bodies where they are now", action: () => void app.do({ do: "settle" }) },
    { label: "New empty scene", action: () => void app.do({ do: "open", scene: "empty" }) },
    ...(app.studio.autosave.value ? [{ label: "Bring back unsaved work", action: () => void app.do({ do: "open", scene: "autosave" }) }] : []),
    ...(scenes.length > 0 ? [{ label: "Shipped scenes", heading: true }] : []),
    ...scenes.map((scene) => ({ label: scene.title || scene.name, picture: `./scenes/${scene.name}.webp`, action: () => void app.do({ do: "open", scene: scene.name }) })),
  ];
}

export async function saveScene(app: App): Promise<void> {
  const answer = await app.attempt(() => app.connection.ask({ do: "save" }));
  if (!answer) return;
  const file = typeof answer["file"] === "string" ? answer["file"] : app.studio.scene.value.file;
  toast("info", file ? `Saved to ${file}.` : "Saved.");
}

async function downloadScene(app: App): Promise<void> {
  const text = await app.attempt(() => app.api.sceneText());
  if (text !== undefined) save(new Blob([text], { type: "application/toml" }), "scene.toml");
}

export function pickScene(app: App): void {
  const input = h<HTMLInputElement>("input", { type: "file", accept: ".toml" });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void app.attempt(async () => app.api.openScene(await file.text()));
  });
  input.click();
}
