/** The menu of scenes: shipped ones, files, saving. */

import type { App } from "../app";
import { openDialog, openMenu, type MenuItem } from "../ui/dialog";
import { h, save } from "../ui/dom";
import { toast } from "../ui/toast";

/** Addresses of pictures that were taken of shipped scenes, by the names of their files. */
const PICTURES = import.meta.glob<string>("../scenes/*.webp", { eager: true, query: "?url", import: "default" });

export function sceneMenu(app: App): HTMLElement {
  const name = h("span.name");
  const dirty = h("span.dirty", { title: "Changed since it was saved" });
  const button = h<HTMLButtonElement>(
    "button.scene-button",
    { type: "button", id: "scene", "aria-haspopup": "menu", "aria-label": "Scene", onclick: () => void openSceneMenu(app, button) },
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

async function openSceneMenu(app: App, button: HTMLElement): Promise<void> {
  let files: string[] = [];
  try {
    files = await app.api.files();
  } catch {
    /* The menu opens all the same. */
  }
  openMenu(button, items(app, files));
}

function items(app: App, files: string[]): MenuItem[] {
  const scenes = app.studio.shelf.value.scenes;
  return [
    { label: "Save", keys: "Ctrl+S", action: () => void saveScene(app) },
    { label: "Save as…", action: () => askName(app) },
    { label: "Download a copy (.toml)", action: () => void downloadScene(app) },
    { label: "Open a scene file…", keys: "Ctrl+O", action: () => pickScene(app) },
    { label: "Keep bodies where they are now", action: () => void app.do({ do: "settle" }) },
    { label: "New empty scene", action: () => void app.do({ do: "open", scene: "empty" }) },
    ...(app.studio.autosave.value ? [{ label: "Bring back unsaved work", action: () => void app.do({ do: "open", scene: "autosave" }) }] : []),
    ...(files.length > 0 ? [{ label: "Your scenes", heading: true }] : []),
    ...files.map((file) => ({ label: file, action: () => void app.do({ do: "open", scene: `./${file}` }) })),
    ...(scenes.length > 0 ? [{ label: "Shipped scenes", heading: true }] : []),
    ...scenes.map((scene) => ({ label: scene.title || scene.name, picture: PICTURES[`../scenes/${scene.name}.webp`] ?? "", action: () => void app.do({ do: "open", scene: scene.name }) })),
  ];
}

export async function saveScene(app: App, name?: string): Promise<boolean> {
  if (name === undefined && app.studio.scene.value.file === null) {
    askName(app);
    return false;
  }
  const answer = await app.attempt(() => app.connection.ask(name === undefined ? { do: "save" } : { do: "save", file: name }));
  if (!answer) return false;
  const file = typeof answer["file"] === "string" ? answer["file"] : app.studio.scene.value.file;
  toast("info", file ? `Saved to ${file}.` : "Saved.", "It is in the scene menu from now on.");
  return true;
}

/** A scene that has no file yet gets a name; the file lies where the studio was started. */
function askName(app: App): void {
  const title = app.studio.scene.value.title;
  const start = app.studio.selectedBody?.name && /^untitled/i.test(title) ? app.studio.selectedBody.name : title;
  const name = h<HTMLInputElement>("input", { type: "text", id: "scene-name", maxlength: 100, spellcheck: "false", value: start.toLowerCase().replace(/[^\w-]+/g, "-").replace(/^-+|-+$/g, "") || "scene" });
  const save = async (): Promise<void> => {
    if (await saveScene(app, name.value.trim())) dialog.close();
  };
  const form = h(
    "form",
    {
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        void save();
      },
    },
    h("label.field", {}, h("span", {}, "Name"), name, h("span.unit", {}, ".toml")),
    h("p.muted", {}, "Saved in the folder where the studio was started, with the meshes it uses. `eigentone render` reads it, too."),
    h("footer", {}, h("button.primary", { type: "submit", id: "scene-save" }, "Save")),
  );
  const dialog = openDialog("Save the scene", form);
  name.select();
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
