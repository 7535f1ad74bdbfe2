/** What the mouse does in the view. */

import type { App } from "../app";
import type { Tool } from "../state/studio";
import { h, icon, iconButton, type IconName } from "../ui/dom";
import type { WorldView } from "../view/world-view";

export const TOOLS: { tool: Tool; label: string; icon: IconName; keys: string; hint: string }[] = [
  { tool: "strike", label: "Strike", icon: "strike", keys: "1", hint: "Click a body: longer or faster is harder" },
  { tool: "grab", label: "Grab", icon: "grab", keys: "2", hint: "Drag, throw and slide (also Shift+drag)" },
  { tool: "orbit", label: "Look", icon: "orbit", keys: "3", hint: "Turn the camera (also right button, or drag on empty space)" },
];

export function toolBar(app: App, view: WorldView): HTMLElement {
  const group = h("div.tools", { role: "radiogroup", "aria-label": "Mouse tool", id: "tools" });
  for (const { tool, label, icon: name, keys, hint } of TOOLS) {
    const button = h<HTMLButtonElement>(
      "button",
      { type: "button", role: "radio", title: `${label} (${keys}): ${hint}`, "data-tool": tool, onclick: () => (app.studio.tool.value = tool) },
      icon(name),
      h("span", {}, label),
      h("kbd", {}, keys),
    );
    group.append(button);
    app.studio.tool.subscribe((value) => button.setAttribute("aria-checked", String(value === tool)));
  }
  const ear = iconButton("ear", "Listen from the camera (otherwise W A S D Q E move the listener)", () => {
    view.listener.followsCamera = !view.listener.followsCamera;
    ear.setAttribute("aria-pressed", String(view.listener.followsCamera));
  });
  ear.setAttribute("aria-pressed", "false");
  const frame = iconButton("frame", "Show everything (F)", () => view.frameAll());
  return h("div.toolbar", {}, group, h("div.tools.small", {}, frame, ear));
}

/** What is going on while a scene is opened. */
export function openingLine(app: App): HTMLElement {
  const line = h("p.hint.opening", { role: "status", hidden: true });
  app.studio.opening.subscribe((task) => {
    line.hidden = task === null;
    if (task) line.textContent = `Opening: ${task.stage} ${Math.round(100 * task.share)} %`;
  });
  return line;
}

export function hintLine(app: App): HTMLElement {
  const line = h("p.hint");
  app.studio.tool.subscribe((tool) => (line.textContent = TOOLS.find((entry) => entry.tool === tool)?.hint ?? ""));
  return line;
}
