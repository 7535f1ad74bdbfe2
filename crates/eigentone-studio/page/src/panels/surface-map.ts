/** A map of roughness: a picture over the body. */

import type { App } from "../app";
import { h } from "../ui/dom";
import { digits } from "../ui/format";
import { Slider } from "../ui/slider";
import { toast } from "../ui/toast";

/** Larger pictures are made smaller before they are sent, in pixels. */
const MAX_SIDE = 1024;

export const PICTURE = /\.(png|jpe?g|webp|gif|bmp|avif)$/i;

/** Lays a picture of any kind that the browser knows over the selected body. */
export async function layPicture(app: App, file: File): Promise<void> {
  const body = app.studio.selectedBody;
  if (!body) {
    toast("error", "No body is selected.", "Select the one that the picture is laid over, then drop it again.");
    return;
  }
  const picture = await app.attempt(() => grey(file));
  if (!picture) return;
  const answer = await app.attempt(() => app.api.layMap(body.id, file.name, picture, body.map?.dark ?? 0, body.map?.bright ?? 1));
  for (const warning of answer?.warnings ?? []) toast("warning", warning);
}

/** The picture as a PNG of greys. */
async function grey(file: Blob): Promise<Blob> {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, MAX_SIDE / Math.max(picture.width, picture.height));
  const canvas = h<HTMLCanvasElement>("canvas", { width: Math.max(1, Math.round(picture.width * scale)), height: Math.max(1, Math.round(picture.height * scale)) });
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The picture could not be drawn.");
  context.filter = "grayscale(1)";
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The picture could not be read.");
  return blob;
}

export function mapSection(app: App): HTMLElement {
  const input = h<HTMLInputElement>("input", { type: "file", accept: "image/*", hidden: true, id: "map-file" });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void layPicture(app, file);
    input.value = "";
  });
  const send = (change: { dark?: number; bright?: number; remove?: boolean }, gesture = app.beginGesture()): void => {
    const body = app.studio.selected.value;
    if (body !== null) void app.do({ do: "surface_map", body, gesture, ...change });
  };
  const factor = (label: string, key: "dark" | "bright", initial: number): Slider =>
    new Slider({ label, min: 0, max: 5, initial, format: (v) => `${digits(v)} ×`, hint: "How rough it is there, beside the surface's own roughness", beginGesture: () => app.beginGesture(), change: (value, gesture) => send({ [key]: value }, gesture) });
  const dark = factor("Where it is black", "dark", 0);
  const bright = factor("Where it is white", "bright", 1);
  const remove = h<HTMLButtonElement>("button", { type: "button", id: "map-remove", onclick: () => send({ remove: true }) }, "Remove");
  const name = h("span.muted", { id: "map-name" });
  const choose = h<HTMLButtonElement>("button", { type: "button", id: "map-choose", onclick: () => input.click() }, "Choose a picture…");
  const sliders = h("div.sliders", {}, dark.element, bright.element);
  const update = (): void => {
    const map = app.studio.selectedBody?.map;
    name.textContent = map ? map.file.replace(/^.*\/[0-9a-f]{8}-/, "") : "A picture over the body makes places rough or smooth.";
    remove.hidden = sliders.hidden = !map;
    dark.set(map?.dark);
    bright.set(map?.bright);
  };
  app.studio.bodies.subscribe(update);
  app.studio.selected.changed(update);
  return h("section.map", {}, h("h4", {}, "Map of roughness"), name, sliders, h("div.buttons", {}, choose, remove), input);
}
