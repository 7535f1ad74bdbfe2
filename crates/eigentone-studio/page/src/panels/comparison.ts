/** Two versions of the scene, as on a mixing desk: going to the other one keeps this one as it is now, and the louder one is turned down. */

import type { App } from "../app";
import { loudestLufs } from "../audio/loudness";
import type { BodyId } from "../net/protocol";
import { h } from "../ui/dom";

type Slot = "a" | "b";

/** Differences beyond this are left: the page does not turn down to silence. */
const MAX_MATCH_DB = 40;
/** How long models may take before the versions are compared, in ms. */
const READY_MS = 8000;

export function comparison(app: App): HTMLElement {
  const stored = { a: false, b: false };
  const group = h("div.group.ab", { role: "group", "aria-label": "Compare two versions at equal loudness", id: "ab" });
  const matched = h("span.matched", { id: "ab-match", title: "The louder version is turned down by so much, for the blow you struck last on the selected body" });
  let busy = false;
  const match = (db: number): void => {
    app.player.match.value = 10 ** (db / 20);
    matched.textContent = Math.abs(db) < 0.05 ? "" : `−${Math.abs(db).toFixed(1)} dB`;
  };
  const press = async (slot: Slot): Promise<void> => {
    const here = app.studio.slot.value;
    if (here === slot || busy) return;
    busy = true;
    try {
      const body = app.studio.selected.value;
      const before = here === null || !stored[slot] ? null : await loudness(app, body);
      if (here !== null && !(await app.do({ do: "ab", slot: here, store: true }))) return;
      if (!(await app.do({ do: "ab", slot, store: !stored[slot] }))) return;
      const known = stored[slot];
      stored[slot] = true;
      app.studio.slot.value = slot;
      if (!known) return;
      const now = before === null ? null : await loudness(app, body);
      match(before === null || now === null || Math.abs(now - before) > MAX_MATCH_DB ? 0 : Math.min(0, before - now));
    } finally {
      busy = false;
    }
  };
  for (const slot of ["a", "b"] as const) {
    const name = slot.toUpperCase();
    const button = h<HTMLButtonElement>("button.slot", { type: "button", title: `Version ${name}: the first press keeps what is there now, later presses switch to it at equal loudness (Ctrl+B switches)`, onclick: () => void press(slot) }, name);
    app.studio.slot.subscribe((value) => {
      button.setAttribute("aria-pressed", String(value === slot));
      button.classList.toggle("stored", stored[slot]);
    });
    group.append(button);
  }
  group.append(matched);
  group.addEventListener("switch", () => void press(app.studio.slot.value === "a" ? "b" : "a"));
  app.studio.sceneNumber.changed(() => {
    stored.a = stored.b = false;
    app.studio.slot.value = null;
    match(0);
  });
  return group;
}

/** Loudness of the last blow on a body with the model it has now; null if it has none. */
async function loudness(app: App, body: BodyId | null): Promise<number | null> {
  if (body === null || !(await ready(app, body))) return null;
  const blow = app.lastBlow?.body === body ? app.lastBlow.blow : null;
  try {
    const wav = await app.api.blow(body, blow);
    const buffer = await new OfflineAudioContext(1, 1, app.studio.sampleRateHz.value).decodeAudioData(wav);
    return loudestLufs(buffer.getChannelData(0), buffer.sampleRate);
  } catch {
    return null;
  }
}

/** Waits for the body's own model. */
function ready(app: App, body: BodyId): Promise<boolean> {
  const state = (): boolean | null => {
    const found = app.studio.bodies.value.get(body);
    return found?.sounds ? (found.provisional ? null : true) : false;
  };
  const first = state();
  if (first !== null) return Promise.resolve(first);
  return new Promise((resolve) => {
    const finish = (result: boolean): void => {
      stop();
      clearTimeout(timer);
      resolve(result);
    };
    const timer = setTimeout(() => finish(true), READY_MS);
    const stop = app.studio.bodies.changed(() => {
      const now = state();
      if (now !== null) finish(now);
    });
  });
}
