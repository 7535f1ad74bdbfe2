/** Files dropped on the page or chosen: meshes, recordings, scenes. */

import type { App } from "../app";
import { openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { si } from "../ui/format";
import { toast } from "../ui/toast";
import { fileExtent, guessScale } from "./mesh-size";
import { loadRecording } from "./recording";
import { layPicture, PICTURE } from "./surface-map";

const MESH = /\.(obj|stl|ply|gltf|glb)$/i;
const SOUND = /\.(wav|flac)$/i;
const SCENE = /\.toml$/i;
const MAX_BYTES = 64 * 1024 * 1024;

export function watchDrops(app: App): void {
  const veil = h("div.drop-veil", { "aria-hidden": "true" }, h("div", {}, h("strong", {}, "Drop it"), h("span", {}, "a mesh to hear it, a recording to fit it, a scene to open it")));
  document.body.append(veil);
  let depth = 0;
  const show = (on: boolean): void => void veil.classList.toggle("on", on);
  addEventListener("dragenter", (event) => {
    event.preventDefault();
    depth++;
    show(true);
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) show(false);
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    show(false);
    for (const file of event.dataTransfer?.files ?? []) takeFile(app, file);
  });
}

export function chooseFiles(app: App, kind: "mesh" | "sound"): void {
  const accept = kind === "mesh" ? ".obj,.stl,.ply,.gltf,.glb" : ".wav,.flac";
  const input = h<HTMLInputElement>("input", { type: "file", accept });
  input.addEventListener("change", () => {
    for (const file of input.files ?? []) takeFile(app, file);
  });
  input.click();
}

export function takeFile(app: App, file: File): void {
  if (file.size > MAX_BYTES) toast("error", `${file.name} is too large.`, "At most 64 MiB: reduce the mesh or the recording.");
  else if (SOUND.test(file.name)) void loadRecording(app, file);
  else if (SCENE.test(file.name)) void app.attempt(async () => app.api.openScene(await file.text()));
  else if (PICTURE.test(file.name)) void layPicture(app, file);
  else if (MESH.test(file.name)) askMaterial(app, file);
  else toast("error", `${file.name} is neither mesh, recording, picture nor scene.`, "Meshes: OBJ, STL, PLY, glTF. Recordings: WAV, FLAC. Pictures: PNG, JPEG. Scenes: TOML.");
}

const SCALES: [string, number][] = [
  ["metres", 1],
  ["centimetres", 0.01],
  ["millimetres", 0.001],
  ["inches", 0.0254],
];

/** One question, and it is answered by pressing Enter. */
function askMaterial(app: App, file: File): void {
  const material = h<HTMLSelectElement>("select", { "aria-label": "Material", id: "mesh-material" });
  for (const { name } of app.studio.materials.value) material.append(h("option", { value: name }, name));
  const last = app.studio.selectedBody?.material;
  if (last && app.studio.materials.value.some(({ name }) => name === last)) material.value = last;
  const scale = h<HTMLSelectElement>("select", { "aria-label": "Unit of the file", id: "mesh-scale" });
  for (const [name, value] of SCALES) scale.append(h("option", { value }, name));
  const size = h("p.muted", { role: "status", id: "mesh-size" });
  void fileExtent(file).then((extent) => {
    if (!extent) return;
    const tell = (): void => void (size.textContent = `Then it is ${extent.map((side) => si(side * Number(scale.value), "m")).join(" × ")} large.`);
    scale.value = String(guessScale(extent));
    scale.addEventListener("change", tell);
    tell();
  });
  const thickness = h<HTMLInputElement>("input", { type: "number", min: 0.01, max: 1000, step: "any", placeholder: "as the mesh has it" });
  const form = h(
    "form",
    {
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        dialog.close();
        void add();
      },
    },
    h("label.field", {}, h("span", {}, "Made of"), material),
    h("label.field", {}, h("span", {}, "The file is in"), scale),
    size,
    h("label.field", { title: "For things made of sheet or wall; leave it empty for solid ones" }, h("span", {}, "Thickness"), thickness, h("span.unit", {}, "mm")),
    h("p.muted", {}, "It sounds at once with a provisional model and gets better by itself."),
    h("footer", {}, h("button.primary", { type: "submit", id: "mesh-add" }, "Add it")),
  );
  const dialog = openDialog(file.name, form);
  material.focus();
  const add = async (): Promise<void> => {
    const answer = await app.attempt(() => app.api.addMesh(file, material.value, Number(scale.value), Number(thickness.value) / 1000));
    if (answer) finish(app, answer.body, answer.warnings);
  };
}

function finish(app: App, body: number, warnings: string[]): void {
  app.studio.selected.value = body;
  for (const warning of warnings) {
    app.studio.addLog("warning", warning);
    toast("warning", warning);
  }
}
