/** Dark or light: as the system says until the person chooses. */

import { Signal } from "../state/signal";
import { memory } from "./dom";

export type Theme = "dark" | "light";

const system = matchMedia("(prefers-color-scheme: light)");

function wanted(): Theme {
  const chosen = memory.get("theme");
  if (chosen === "dark" || chosen === "light") return chosen;
  return system.matches ? "light" : "dark";
}

export const theme = new Signal<Theme>(wanted());

export function watchTheme(): void {
  theme.subscribe((value) => (document.documentElement.dataset["theme"] = value));
  system.addEventListener("change", () => (theme.value = wanted()));
}

export function toggleTheme(): void {
  const next = theme.value === "dark" ? "light" : "dark";
  memory.set("theme", next);
  theme.value = next;
}
