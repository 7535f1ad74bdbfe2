/** A take: recorded, told how long it is and what is special about it, exported with what it was made of. */

import type { App } from "../app";
import { openMenu } from "../ui/dialog";
import { h, iconButton, save, setIcon } from "../ui/dom";
import { toast } from "../ui/toast";

/** Minutes, seconds and tenths. */
function length(seconds: number): string {
  const tenths = Math.floor(10 * seconds);
  const minutes = Math.floor(tenths / 600);
  return `${minutes}:${String(Math.floor((tenths % 600) / 10)).padStart(2, "0")}.${tenths % 10}`;
}

export function recorder(app: App): HTMLElement {
  const { take } = app.studio;
  const time = h("output.take-time", { "aria-live": "off" });
  let shown = 0;
  const begin = async (settle: boolean): Promise<void> => {
    button.disabled = true;
    await app.do({ do: "record", on: true, settle });
    button.disabled = false;
  };
  const press = (): void => {
    if (take.value.recording) {
      void app.do({ do: "record", on: false });
      return;
    }
    openMenu(button, [
      { label: "Record from the scene's beginning", action: () => void begin(false) },
      { label: "Record from where things are now, at rest", action: () => void begin(true) },
    ]);
  };
  const button: HTMLButtonElement = iconButton("record", "Record a take", press, "Record");
  button.id = "record";
  button.setAttribute("aria-haspopup", "menu");
  const text = button.querySelector("span");
  take.subscribe(({ recording, ready, seconds, differences }, before) => {
    button.classList.toggle("recording", recording);
    setIcon(button, recording ? "stop" : "record");
    if (text) text.textContent = recording ? "Stop" : "Record";
    button.title = recording ? "End the take" : "Record a take: sound, and all that is done, to be rendered again";
    button.setAttribute("aria-label", button.title);
    time.hidden = !recording && !ready;
    shown = seconds;
    time.textContent = length(shown);
    time.classList.toggle("differs", differences.length > 0);
    time.title = [recording ? "Length of the take so far" : "Length of the last take", ...differences].join("\n• ");
    if (before?.recording && !recording && ready) {
      if (differences.length > 0) toast("warning", "The take is kept, with a difference.", differences.join(" "));
      else toast("info", "The take is kept: Export has it.");
    }
  });
  setInterval(() => {
    // Between two messages of the server the clock goes on by itself.
    if (take.value.recording && app.studio.scene.value.playing) time.textContent = length((shown += 0.1));
  }, 100);
  return h("div.group.recorder", { role: "group", "aria-label": "Take" }, button, time);
}

/** The last take: its sound alone, or with what it was made of. */
export async function exportRecording(app: App, ending: "wav" | "zip"): Promise<void> {
  const file = await app.attempt(() => app.api.recording(ending));
  if (!file) return;
  save(file, `take.${ending}`);
  const { differences } = app.studio.take.value;
  if (differences.length > 0) toast("warning", "The take differs:", differences.join(" "));
}
