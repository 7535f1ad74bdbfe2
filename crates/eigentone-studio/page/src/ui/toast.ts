/** Short notices that go by themselves; errors stay until they are read. */

import { h, iconButton } from "./dom";

const region = h("div.toasts", { role: "status", "aria-live": "polite" });

export function mountToasts(parent: HTMLElement): void {
  parent.append(region);
}

export function toast(level: "info" | "warning" | "error", text: string, hint?: string): void {
  const box = h("div.toast", { "data-level": level }, h("div", {}, h("strong", {}, text), hint && h("p", {}, hint)));
  box.append(iconButton("close", "Dismiss", () => box.remove()));
  region.append(box);
  while (region.children.length > 4) region.firstElementChild?.remove();
  setTimeout(() => box.remove(), level === "info" ? 4000 : 9000);
}
