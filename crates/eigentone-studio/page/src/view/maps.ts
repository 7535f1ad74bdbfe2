/** Pictures over bodies: what makes places rough or smooth is seen where it lies. */

import { CanvasTexture, SRGBColorSpace } from "three";
import type { App } from "../app";
import type { Body, BodyId } from "../net/protocol";
import type { WorldView } from "./world-view";

/** Black is drawn as this share of white, so that the body is seen there too. */
const DARKEST = 0.25;

export class MapPictures {
  private readonly shown = new Map<BodyId, string | null>();
  /** Pictures whose body is not drawn yet. */
  private readonly waiting = new Map<BodyId, CanvasTexture | null>();

  constructor(
    private readonly app: App,
    private readonly view: WorldView,
  ) {
    app.studio.bodies.subscribe((bodies) => {
      for (const body of bodies.values()) this.sync(body);
      for (const id of this.shown.keys()) if (!bodies.has(id)) this.shown.delete(id);
    });
    view.beforeFrame.push(() => this.hand());
  }

  private sync(body: Body): void {
    const file = body.map?.file ?? null;
    if ((this.shown.get(body.id) ?? null) === file) return;
    this.shown.set(body.id, file);
    if (file === null) this.waiting.set(body.id, null);
    else void this.load(body.id, file);
  }

  private async load(id: BodyId, file: string): Promise<void> {
    try {
      const picture = await createImageBitmap(await this.app.api.map(id));
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [picture.width, picture.height];
      const context = canvas.getContext("2d");
      if (!context || this.shown.get(id) !== file) return;
      context.drawImage(picture, 0, 0);
      picture.close();
      context.globalAlpha = DARKEST;
      context.globalCompositeOperation = "screen";
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      const texture = new CanvasTexture(canvas);
      texture.colorSpace = SRGBColorSpace;
      this.waiting.set(id, texture);
    } catch (error) {
      this.app.studio.addLog("warning", error instanceof Error ? error.message : String(error));
    }
  }

  private hand(): void {
    for (const [id, texture] of this.waiting) {
      const view = this.view.view(id);
      if (!view) continue;
      view.setMap(texture);
      this.view.touch();
      this.waiting.delete(id);
    }
  }
}
