/** The HTTP side of the protocol. */

import { parseMesh, parseShape, type MeshData } from "./binary";
import type { Connection } from "./connection";
import { parseSlice, type FieldInfo, type Slice } from "./field";
import { StudioError, type Blow, type BodyId, type Material, type Model, type Shelf, type Vec3 } from "./protocol";
import type { ResonatorInfo, SurfaceInfo } from "./shaping";

export class Api {
  constructor(private readonly connection: Connection) {}

  materials(): Promise<Material[]> {
    return this.json("/api/materials");
  }

  surfaces(): Promise<string[]> {
    return this.json("/api/surfaces");
  }

  shelf(): Promise<Shelf> {
    return this.json("/api/shelf");
  }

  /** Scene files where the studio was started. */
  files(): Promise<string[]> {
    return this.json("/api/files");
  }

  async shelfMesh(object: string): Promise<MeshData> {
    const mesh = parseMesh(await this.bytes(`/api/shelf/${encodeURIComponent(object)}/mesh`));
    if (!mesh) throw new StudioError("The object's mesh could not be read.", undefined);
    return mesh;
  }

  model(body: BodyId): Promise<Model> {
    return this.json(`/api/model/${body}`);
  }

  async mesh(body: BodyId): Promise<MeshData> {
    const mesh = parseMesh(await this.bytes(`/api/mesh/${body}`));
    if (!mesh) throw new StudioError("The body's mesh could not be read.", undefined);
    return mesh;
  }

  async shape(body: BodyId, mode: number, vertices: number): Promise<Float32Array> {
    const shape = parseShape(await this.bytes(`/api/shape/${body}/${mode}`), vertices);
    if (!shape) throw new StudioError("The mode's shape could not be read.", undefined);
    return shape;
  }

  /** The baked field, or null if there is none. */
  async field(): Promise<FieldInfo | null> {
    return (await this.json<{ field: FieldInfo | null }>("/api/field")).field;
  }

  /** What arrives from a source at a height. */
  async slice(parameter: string, heightM: number, source: Vec3): Promise<Slice> {
    const query = new URLSearchParams({ parameter, height_m: String(heightM), source: source.join(",") });
    const slice = parseSlice(await this.bytes(`/api/field/slice?${query}`));
    if (!slice) throw new StudioError("The slice of the field could not be read.", undefined);
    return slice;
  }

  async walls(): Promise<MeshData> {
    const mesh = parseMesh(await this.bytes("/api/field/walls"));
    if (!mesh) throw new StudioError("The walls could not be read.", undefined);
    return mesh;
  }

  /** `thicknessM` of 0 leaves it to the mesh. */
  addMesh(file: File, material: string, scale: number, thicknessM: number): Promise<{ body: BodyId; warnings: string[] }> {
    const query = new URLSearchParams({ name: file.name, material, scale: String(scale) });
    if (thicknessM > 0) query.set("thickness_m", String(thicknessM));
    return this.json(`/api/mesh?${query}`, { method: "POST", body: file });
  }

  fit(file: File): Promise<{ body: BodyId; warnings?: string[]; report?: { modes?: number; explained?: number; band_error_db?: number } }> {
    const query = new URLSearchParams({ name: file.name });
    return this.json(`/api/fit?${query}`, { method: "POST", body: file });
  }

  /** The surface of a body, with what there is to see of it. */
  surface(body: BodyId): Promise<SurfaceInfo> {
    return this.json(`/api/surface/${body}`);
  }

  resonator(body: BodyId): Promise<ResonatorInfo> {
    return this.json(`/api/resonator/${body}`);
  }

  /** The picture over a body. */
  async map(body: BodyId): Promise<Blob> {
    return (await this.connection.fetch(`/api/map/${body}`)).blob();
  }

  layMap(body: BodyId, name: string, png: Blob, dark: number, bright: number): Promise<{ warnings: string[] }> {
    const query = new URLSearchParams({ body: String(body), name, dark: String(dark), bright: String(bright) });
    return this.json(`/api/map?${query}`, { method: "POST", body: png });
  }

  async take(): Promise<Blob> {
    return (await this.connection.fetch("/api/export/take.wav")).blob();
  }

  /** The last take that was recorded: its sound, or a ZIP with what it was made of. */
  async recording(ending: "wav" | "zip"): Promise<Blob> {
    return (await this.connection.fetch(`/api/export/recording.${ending}`)).blob();
  }

  /** One blow alone as WAV, in Pa at one metre. */
  async blow(body: BodyId, blow: Blow | null): Promise<ArrayBuffer> {
    const response = await this.connection.fetch("/api/blow.wav", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...blow, body }) });
    return response.arrayBuffer();
  }

  /** Blows like `blow`, or on the body's top. */
  async variations(body: BodyId, count: number, seed: number, spread: number, blow: Blow | null): Promise<Blob> {
    const response = await this.connection.fetch("/api/export/variations", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...blow, body, count, seed, spread }),
    });
    return response.blob();
  }

  async sceneText(): Promise<string> {
    return (await this.connection.fetch("/api/scene.toml")).text();
  }

  async openScene(text: string): Promise<void> {
    await this.connection.fetch("/api/scene", { method: "POST", body: text });
  }

  private async json<T>(path: string, init?: RequestInit): Promise<T> {
    return (await this.connection.fetch(path, init)).json() as Promise<T>;
  }

  private async bytes(path: string): Promise<ArrayBuffer> {
    return (await this.connection.fetch(path)).arrayBuffer();
  }
}
