/** The rooms of the scene: the field that is heard, and the slice of it that is seen. */

import type { App } from "../app";
import type { FieldInfo, FieldParameter, Slice } from "../net/field";
import type { Body, Vec3 } from "../net/protocol";
import { scaleOf, type Scale } from "../view/colors";
import type { WorldView } from "../view/world-view";
import { Signal } from "./signal";

/** What the field says at the listener. */
export interface Here {
  level_db: number;
  direct_db: number;
  early_db: number;
  early_decay_s: number;
  late_decay_s: number;
  distance_m: number;
  confidence: number;
  /** False outside of what was baked. */
  known: boolean;
}

/** How often the listener's numbers are asked for, and how often it is looked whether the source has moved. */
const ASK_MS = 200;
const LOOK_MS = 500;
/** A source that moves less than this leaves the slice as it is, in m. */
const MOVED_M = 0.1;
/** Where slices are cut at first, above the lowest air, in m. */
const FIRST_HEIGHT_M = 1.2;

export class Rooms {
  readonly field = new Signal<FieldInfo | null>(null);
  readonly parameter = new Signal("level");
  readonly heightM = new Signal(FIRST_HEIGHT_M);
  readonly show = new Signal(true);
  /** Whether anybody looks: without that nothing is asked for. */
  readonly open = new Signal(false);
  readonly cut = new Signal<{ slice: Slice; scale: Scale; parameter: FieldParameter } | null>(null);
  readonly here = new Signal<Here | null>(null);
  readonly source = new Signal<Body | null>(null);
  private version = -1;
  private acoustics = false;
  /** While this is so, the field that is known here may be gone. */
  private loading = false;
  private drawn: { key: string; at: Vec3 } | null = null;
  private asking = false;
  private waiting = false;

  constructor(
    private readonly app: App,
    private readonly view: WorldView,
  ) {
    app.studio.rooms.subscribe((rooms) => {
      if (rooms.version !== this.version) void this.load(rooms.version, rooms.acoustics, rooms.field);
    });
    for (const signal of [this.parameter, this.heightM, this.show, this.open]) (signal as Signal<unknown>).changed(() => this.refresh());
    app.studio.selected.subscribe(() => this.chooseSource());
    app.studio.bodies.subscribe(() => this.chooseSource());
    setInterval(() => void this.ask(), ASK_MS);
    setInterval(() => this.refresh(), LOOK_MS);
  }

  /** Where the sound comes from; null while that is not known. */
  sourceAt(): Vec3 | null {
    const body = this.source.value;
    const mesh = body && this.view.view(body.id)?.mesh;
    return mesh?.visible ? mesh.position.toArray() : null;
  }

  private async load(version: number, acoustics: boolean, field: boolean): Promise<void> {
    this.version = version;
    this.loading = true;
    const [walls, info] = await Promise.all([
      acoustics ? this.app.attempt(() => this.app.api.walls()) : undefined,
      field ? this.app.attempt(() => this.app.api.field()) : undefined,
    ]);
    if (version !== this.version) return;
    this.loading = false;
    this.view.field.setWalls(walls ?? null);
    if (walls && !this.acoustics) this.view.frameAll();
    this.acoustics = acoustics;
    this.drawn = null;
    if (info) {
      const [low, high] = [info.bounds.min[2], info.bounds.max[2]];
      this.heightM.value = Math.min(high - 0.01, Math.max(low + 0.01, this.field.value ? this.heightM.value : low + FIRST_HEIGHT_M));
    }
    this.field.value = info ?? null;
    this.here.value = null;
    this.refresh();
  }

  /** The selected body, if it sounds, or any that does. */
  private chooseSource(): void {
    const { selectedBody, bodies } = this.app.studio;
    const before = this.source.value && bodies.value.get(this.source.value.id);
    const any = [...bodies.value.values()].find((body) => body.sounds) ?? null;
    this.source.value = selectedBody?.sounds ? selectedBody : before?.sounds ? before : any;
    this.refresh();
  }

  /** Cuts anew if anything that the slice shows has changed. */
  private refresh(): void {
    const info = this.field.value;
    if (!info || !this.open.value || !this.show.value) {
      if (this.cut.value) {
        this.cut.value = null;
        this.view.field.setSlice(null, null);
      }
      this.drawn = null;
      return;
    }
    const at = this.sourceAt();
    if (!at || this.loading) return;
    const key = `${this.version} ${this.parameter.value} ${this.heightM.value} ${this.source.value?.id}`;
    const moved = this.drawn ? Math.hypot(...at.map((x, axis) => x - (this.drawn?.at[axis] ?? 0))) : Infinity;
    if (this.drawn?.key === key && moved < MOVED_M) return;
    if (this.asking) {
      this.waiting = true;
      return;
    }
    this.drawn = { key, at };
    void this.draw(info, this.parameter.value, this.heightM.value, at);
  }

  private async draw(info: FieldInfo, name: string, heightM: number, source: Vec3): Promise<void> {
    this.asking = true;
    const slice = await this.app.attempt(() => this.app.api.slice(name, heightM, source));
    this.asking = false;
    const parameter = info.parameters.find((entry) => entry.name === name);
    if (slice && parameter && this.field.value === info && this.open.value && this.show.value) {
      const scale = scaleOf(name, slice.values);
      this.view.field.setSlice(slice, scale);
      this.cut.value = { slice, scale, parameter };
    }
    if (this.waiting) {
      this.waiting = false;
      this.refresh();
    }
  }

  /** Asks what is heard where the listener is. */
  private async ask(): Promise<void> {
    const source = this.sourceAt();
    if (!this.field.value || !this.open.value || !source || this.loading || this.app.studio.link.value !== "open") return;
    try {
      const answer = await this.app.connection.ask({ do: "query_field", source, listener: this.view.listener.pose.position });
      this.here.value = answer as unknown as Here;
    } catch {
      // The field has just been taken away; the scene tells of it.
      this.here.value = null;
    }
  }
}
