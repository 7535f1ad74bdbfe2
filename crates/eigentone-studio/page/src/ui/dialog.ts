/** Modal dialogs and drop-down menus. */

import { h, iconButton, type Child } from "./dom";

/** Opens a modal dialog; it is gone from the page once closed. */
export function openDialog(title: string, ...content: Child[]): HTMLDialogElement {
  const dialog = h<HTMLDialogElement>("dialog", { "aria-label": title });
  dialog.append(
    h("header", {}, h("h2", {}, title), iconButton("close", "Close", () => dialog.close())),
    h("div.content", {}, ...content),
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export interface MenuItem {
  label: string;
  keys?: string;
  action?: () => void;
  heading?: boolean;
  /** Address of a picture, or nothing for an empty one: such items stand beside each other. */
  picture?: string;
}

/** Opens a menu below `anchor`; arrow keys move, Escape closes. */
export function openMenu(anchor: HTMLElement, items: MenuItem[]): void {
  document.querySelector(".menu")?.remove();
  const menu = h("div.menu", { role: "menu" });
  const close = (): void => {
    menu.remove();
    anchor.setAttribute("aria-expanded", "false");
    removeEventListener("pointerdown", outside, true);
  };
  const outside = (event: Event): void => {
    if (!menu.contains(event.target as Node) && !anchor.contains(event.target as Node)) close();
  };
  for (const item of items) {
    if (item.heading) {
      menu.append(h("div.heading", {}, item.label));
      continue;
    }
    const run = (): void => {
      close();
      item.action?.();
    };
    if (item.picture === undefined) {
      menu.append(h("button", { type: "button", role: "menuitem", onclick: run }, h("span", {}, item.label), item.keys && h("kbd", {}, item.keys)));
      continue;
    }
    const picture = item.picture ? h("img", { src: item.picture, alt: "" }) : h("div.no-picture");
    const grid = menu.lastElementChild?.matches(".scene-grid") ? menu.lastElementChild : menu.appendChild(h("div.scene-grid"));
    grid.append(h("button.scene-card", { type: "button", role: "menuitem", onclick: run }, picture, h("span", {}, item.label)));
  }
  menu.addEventListener("keydown", (event) => {
    const entries = [...menu.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") (close(), anchor.focus());
    else if (event.key === "ArrowDown" || event.key === "ArrowRight") entries[(at + 1) % entries.length]?.focus();
    else if (event.key === "ArrowUp" || event.key === "ArrowLeft") entries[(at - 1 + entries.length) % entries.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(menu);
  const box = anchor.getBoundingClientRect();
  menu.style.top = `${box.bottom + 4}px`;
  menu.style.left = `${Math.min(box.left, innerWidth - menu.offsetWidth - 8)}px`;
  anchor.setAttribute("aria-expanded", "true");
  addEventListener("pointerdown", outside, true);
  menu.querySelector<HTMLElement>("[role=menuitem]")?.focus();
}
