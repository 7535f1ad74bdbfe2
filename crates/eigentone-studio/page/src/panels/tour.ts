/** Five steps for the first visit. */

import { h, memory } from "../ui/dom";

const STEPS: { at: string; title: string; text: string }[] = [
  { at: ".view", title: "Strike it", text: "Click a body: it is struck where you click. Press longer, or swing the mouse faster, to strike harder. Choose the mallet below." },
  { at: "#tools", title: "Move it", text: "Grab (2) drags, throws and slides bodies. Look (3) turns the camera; so does dragging on empty space. W A S D walk the listener." },
  { at: "#shelf", title: "Bring your own", text: "Drop a mesh on the page and say what it is made of. It sounds at once and gets better by itself. A recording works as well." },
  { at: ".right", title: "Change it while it rings", text: "Material, size, pitch, damping: everything is heard at once. Double-click a slider to bring it back; Ctrl+Z undoes." },
  { at: ".modes", title: "See what you hear", text: "Every stem is a mode. Point at one to see its shape on the body, drag it to retune it, and export what you like at the top right." },
];

let open: HTMLElement | null = null;

/** Shows the tour once; later from the help button. */
export function offerTour(): void {
  if (memory.get("tour") !== "done") startTour();
}

export function startTour(): void {
  endTour();
  showStep(0);
}

function endTour(): void {
  open?.remove();
  open = null;
  document.querySelector(".tour-target")?.classList.remove("tour-target");
}

function showStep(index: number): void {
  endTour();
  const step = STEPS[index];
  if (!step) return finish();
  const target = document.querySelector(step.at);
  target?.classList.add("tour-target");
  const next = h<HTMLButtonElement>("button.primary", { type: "button", onclick: () => showStep(index + 1) }, index + 1 < STEPS.length ? "Next" : "Done");
  open = h(
    "div.tour",
    { role: "dialog", "aria-label": `Tour, step ${index + 1} of ${STEPS.length}`, onkeydown: (event: KeyboardEvent) => event.key === "Escape" && finish() },
    h("small", {}, `${index + 1} of ${STEPS.length}`),
    h("h2", {}, step.title),
    h("p", {}, step.text),
    h("footer", {}, h("button.quiet", { type: "button", onclick: finish }, "Skip"), next),
  );
  document.body.append(open);
  if (target) place(open, target.getBoundingClientRect());
  next.focus();
}

function finish(): void {
  endTour();
  memory.set("tour", "done");
}

/** Beside the target where there is room, else inside it. */
function place(box: HTMLElement, target: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = box;
  const gap = 14;
  let x = target.right + gap;
  let y = target.top + 20;
  if (x + width > innerWidth) x = target.left - width - gap;
  if (x < 0) {
    x = target.left + (target.width - width) / 2;
    y = target.top - height - gap;
  }
  if (target.width > innerWidth / 2 && target.height > innerHeight / 3) {
    x = target.left + (target.width - width) / 2;
    y = target.top + target.height * 0.12;
  }
  box.style.left = `${Math.min(Math.max(8, x), innerWidth - width - 8)}px`;
  box.style.top = `${Math.min(Math.max(8, y), innerHeight - height - 8)}px`;
}
