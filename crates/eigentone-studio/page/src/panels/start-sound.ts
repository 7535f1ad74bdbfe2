/** Browsers let a page sound only after a click: say so, plainly. */

import type { App } from "../app";
import { h, icon } from "../ui/dom";

const TEXT = {
  off: "Browsers let a page sound only after a click.",
  starting: "Starting…",
  blocked: "The browser still holds the sound back. Allow sound for this page (at the address bar), then press again.",
  failed: "Sound could not be started. Is an output device connected? Press to try again.",
  on: "",
};

export function startSound(app: App): HTMLElement {
  const text = h("p");
  const button = h("button.primary.big", { type: "button", id: "start-sound", onclick: () => void app.player.start() }, icon("sound"), h("span", {}, "Start sound"));
  const box = h("div.start-sound", {}, button, text);
  app.player.status.subscribe((status) => {
    box.hidden = status === "on";
    text.textContent = TEXT[status];
  });
  return box;
}
