/** Elements in one line, without a framework. */

type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;
export type Child = Node | string | null | undefined | false;

/** `h("button.primary", { onclick, "aria-label": "Undo" }, "Undo")` */
export function h<T extends HTMLElement = HTMLElement>(tag: string, attributes: Attributes = {}, ...children: Child[]): T {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name || "div");
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.replace(/^on/, ""), value as unknown as EventListener);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, String(value));
  }
  append(element, children);
  return element as T;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) if (child !== null && child !== undefined && child !== false) parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  record: "M12 5a7 7 0 1 0 0 14 7 7 0 1 0 0-14z",
  stop: "M6 6h12v12H6z",
  play: "M7 5v14l12-7z",
  pause: "M7 5h4v14H7zM13 5h4v14h-4z",
  step: "M5 5v14l9-7zM16 5h3v14h-3z",
  reset: "M12 5V1L6 6l6 5V7a6 6 0 1 1-5.7 8H4.2A8 8 0 1 0 12 5z",
  undo: "M9 5 3 11l6 6v-4h5a4 4 0 0 1 0 8h-3v2h3a6 6 0 0 0 0-14H9z",
  redo: "m15 5 6 6-6 6v-4h-5a4 4 0 0 0 0 8h3v2h-3a6 6 0 0 1 0-14h5z",
  strike: "M14.5 3 21 9.500l-3 3-2-2-1.500 1.500-2.500-2.500L13.500 8l-2-2zM10.500 11l2.500 2.500L6 20.500a1.770 1.770 0 0 1-2.500-2.500z",
  grab: "M8 11V5.500a1.500 1.500 0 0 1 3 0V4a1.500 1.500 0 0 1 3 0v1.500a1.500 1.500 0 0 1 3 0V8a1.500 1.500 0 0 1 3 0v6.500A6.500 6.500 0 0 1 13.500 21h-1A6.500 6.500 0 0 1 7 18l-3.500-5.500a1.500 1.500 0 0 1 2.400-1.800z",
  orbit: "M12 5a7 7 0 0 0-6.300 4H3.500A9 9 0 0 1 20 8l2-2v6h-6l2.400-2.400A7 7 0 0 0 12 5zm0 14a7 7 0 0 0 6.300-4h2.200A9 9 0 0 1 4 16l-2 2v-6h6l-2.400 2.400A7 7 0 0 0 12 19z",
  sound: "M4 9v6h4l5 5V4L8 9zM16 8a5 5 0 0 1 0 8v-2.300a3 3 0 0 0 0-3.400zM16 3.500a9 9 0 0 1 0 17v-2.200a7 7 0 0 0 0-12.600z",
  mute: "M4 9v6h4l5 5V4L8 9zM21 9.400 19.600 8 17 10.600 14.400 8 13 9.400l2.600 2.600L13 14.600l1.400 1.400 2.600-2.600 2.600 2.600 1.400-1.400-2.600-2.600z",
  theme: "M12 3a9 9 0 1 0 0 18zM12 1v2a9 9 0 0 1 0 18v2a11 11 0 0 0 0-22z",
  help: "M11 18h2v2h-2zM12 4a5 5 0 0 0-5 5h2a3 3 0 1 1 4.500 2.600C12 12.500 11 13.500 11 15.500v.5h2c0-2 .6-2.500 1.700-3.200A5 5 0 0 0 12 4z",
  menu: "M4 6h16v2H4zM4 11h16v2H4zM4 16h16v2H4z",
  trash: "M6 7h12l-1 14H7zM9 3h6l1 2h4v1.500H4V5h4z",
  copy: "M8 3h12v14h-3v4H4V7h4zm2 4h7v8h1V5h-8zM6 9v10h9V9z",
  ear: "M12 3a7 7 0 0 0-7 7h2a5 5 0 0 1 10 0c0 2-1 3-2.400 4.200C13 15.500 12 17 11.500 18.500 11 20 10.200 20 9.800 20A2.800 2.800 0 0 1 7 17H5a4.800 4.800 0 0 0 4.800 5c1.500 0 3-.8 3.700-3 .4-1.300 1.100-2.200 2.400-3.300C17.600 14.200 19 12.800 19 10a7 7 0 0 0-7-7zm0 4a3 3 0 0 0-3 3h2a1 1 0 1 1 1 1v2a3 3 0 0 0 0-6z",
  frame: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  close: "m6 4.600 6 6 6-6L19.400 6l-6 6 6 6-1.400 1.400-6-6-6 6L4.600 18l6-6-6-6z",
  hand: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zM8 8h8v8H8z",
  download: "M11 3h2v9l3.500-3.500L18 10l-6 6-6-6 1.500-1.500L11 12zM4 18h16v3H4z",
  left: "m15 5-7 7 7 7 1.500-1.500L11 12l5.500-5.500z",
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

export function setIcon(button: HTMLElement, name: IconName): void {
  button.querySelector("svg.icon")?.replaceWith(icon(name));
}

/** A button with an icon; its label is read by screen readers and shown as a tooltip. */
export function iconButton(name: IconName, label: string, onclick: () => void, text?: string): HTMLButtonElement {
  return h<HTMLButtonElement>("button.icon-button", { type: "button", "aria-label": label, title: label, onclick }, icon(name), text && h("span", {}, text));
}

/** Remembers a choice of the page; private windows may forbid it. */
export const memory = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(`eigentone.${key}`);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(`eigentone.${key}`, value);
    } catch {
      /* A choice that is not remembered is no reason to fail. */
    }
  },
};

/** Keeps a canvas as sharp as the screen; `draw` is called after its size changed. */
export function fitCanvas(canvas: HTMLCanvasElement, draw: (width: number, height: number, ratio: number) => void): void {
  new ResizeObserver(() => {
    const ratio = Math.min(devicePixelRatio, 2);
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (width === 0 || height === 0) return;
    canvas.width = width;
    canvas.height = height;
    draw(width, height, ratio);
  }).observe(canvas);
}

/** The value of a CSS variable, for what is drawn on canvases. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h<HTMLAnchorElement>("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
