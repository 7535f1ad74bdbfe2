/** What strikes: five mallets and one's own. */

import type { App } from "../app";
import type { Mallet } from "../net/protocol";
import { h } from "../ui/dom";
import { kilograms, si } from "../ui/format";
import { Slider } from "../ui/slider";

const NAMED = ["felt", "rubber", "wood", "plastic", "metal"] as const;
const HINTS = { felt: "Soft and dark", rubber: "Round", wood: "Clear", plastic: "Bright", metal: "Hard and bright" };

export function malletBar(app: App): HTMLElement {
  const own = { mass_kg: 0.05, stiffness_n_m: 5e6 };
  const use = (mallet: Mallet): void => {
    app.studio.mallet.value = mallet;
  };
  const useOwn = (): void => use({ ...own });
  const buttons = h("div.segments", { role: "radiogroup", "aria-label": "Mallet" });
  for (const name of [...NAMED, "own"] as const) {
    const button = h(
      "button",
      {
        type: "button", role: "radio", "data-mallet": name,
        title: name === "own" ? "Mass and hardness of your own" : HINTS[name],
        onclick: () => (name === "own" ? useOwn() : use(name)),
      },
      h("i", { "aria-hidden": "true" }),
      name === "own" ? "Own" : name[0]?.toUpperCase() + name.slice(1),
    );
    buttons.append(button);
  }
  let gesture = 0;
  const beginGesture = (): number => ++gesture;
  const mass = new Slider({ label: "Mass", min: 0.001, max: 2, initial: 0.05, log: true, format: kilograms, parse: (text) => parseFloat(text) * (/kg/.test(text) ? 1 : 0.001), beginGesture, change: (value) => ((own.mass_kg = value), useOwn()) });
  const hardness = new Slider({ label: "Hardness", min: 1e3, max: 1e9, initial: 5e6, log: true, format: (v) => si(v, "N/m", 2), parse: parseSi, beginGesture, change: (value) => ((own.stiffness_n_m = value), useOwn()), hint: "10 kN/m is felt, 100 MN/m steel" });
  const details = h("div.own", {}, mass.element, hardness.element);
  app.studio.mallet.subscribe((mallet) => {
    const name = typeof mallet === "string" ? mallet : "own";
    for (const button of buttons.children) button.setAttribute("aria-checked", String((button as HTMLElement).dataset["mallet"] === name));
    details.hidden = name !== "own";
  });
  return h("div.mallets", { id: "mallets" }, details, buttons);
}

function parseSi(text: string): number {
  const match = /^\s*([\d.,]+(?:e[+-]?\d+)?)\s*([kMG]?)/.exec(text);
  if (!match) return NaN;
  return parseFloat((match[1] as string).replace(",", ".")) * ({ k: 1e3, M: 1e6, G: 1e9 }[match[2] as string] ?? 1);
}
