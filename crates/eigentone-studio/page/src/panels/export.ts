/** Files to take along. */

import type { App } from "../app";
import { openDialog } from "../ui/dialog";
import { h, save } from "../ui/dom";
import { toast } from "../ui/toast";

export async function exportTake(app: App): Promise<void> {
  const take = await app.attempt(() => app.api.take());
  if (!take) return;
  save(take, "take.wav");
  toast("info", "The take is in your downloads.");
}

function field(label: string, input: HTMLElement, unit = ""): HTMLElement {
  return h("label.field", {}, h("span", {}, label), input, h("span.unit", {}, unit));
}

/** Asks how many, how different, and from which seed; equal seeds give equal files. */
export function openVariations(app: App): void {
  const body = app.studio.selectedBody;
  if (!body) {
    toast("warning", "Nothing is selected.", "Click the body whose blows you want to export.");
    return;
  }
  const blow = app.lastBlow?.body === body.id ? app.lastBlow.blow : null;
  const count = h<HTMLInputElement>("input", { type: "number", id: "variations-count", min: 1, max: 256, value: 5 });
  const spread = h<HTMLInputElement>("input", { type: "number", min: 0, max: 100, value: 30 });
  const seed = h<HTMLInputElement>("input", { type: "number", min: 0, max: 999999, value: 1 });
  const make = h<HTMLButtonElement>("button.primary", { type: "submit" }, "Export ZIP");
  const form = h(
    "form",
    {
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        void run();
      },
    },
    h("p", {}, `Blows on “${body.name}” ${blow ? "like your last one" : "on its top"}, that differ in place and force, one WAV each.`),
    field("How many", count),
    field("How different", spread, "%"),
    field("Seed", seed),
    h("footer", {}, make),
  );
  const dialog = openDialog("Export variations", form);
  const run = async (): Promise<void> => {
    make.disabled = true;
    make.textContent = "Rendering…";
    const zip = await app.attempt(() => app.api.variations(body.id, Number(count.value), Number(seed.value), Number(spread.value) / 100, blow));
    dialog.close();
    if (zip) save(zip, `${body.name.replace(/[^\w-]+/g, "_")}_variations.zip`);
  };
}
