/** What the page knows: the server's state as it was last told, and the page's own choices. */

import type { Meters, ModesPacket } from "../net/binary";
import type { LinkStatus } from "../net/connection";
import type {
  Body, BodyId, Hail, Listener, Mallet, Material, Quality, SceneEvent, ServerEvent, Shelf, Take, TransportEvent,
} from "../net/protocol";
import type { BakeEvent, RoomsState } from "../net/field";
import { Signal } from "./signal";

export type Tool = "strike" | "grab" | "orbit";
export type LogLevel = "info" | "warning" | "error";

export interface LogEntry {
  time: Date;
  level: LogLevel;
  text: string;
}

export interface Task {
  stage: string;
  share: number;
}

export interface History {
  undo: number;
  redo: number;
  label: string | null;
}

export interface SceneInfo {
  title: string;
  file: string | null;
  dirty: boolean;
  playing: boolean;
  speed: number;
}

const MAX_LOG = 300;

const HAIL: Hail = { on: false, center: [0, 0, 3], size: [2, 2, 0.5], particles: 500, radius_m: 0.004 };
const LISTENER: Listener = { position: [0, -2, 1], look: [0, 1, 0], up: [0, 0, 1] };
const QUALITY: Quality = { masking_db: null, truncation_pa: null, budget_modes: null, budget_us: null, playback_db: null };

export class Studio {
  readonly link = new Signal<LinkStatus>("connecting");
  readonly sampleRateHz = new Signal(48000);
  readonly bodies = new Signal<ReadonlyMap<BodyId, Body>>(new Map());
  readonly selected = new Signal<BodyId | null>(null);
  /** A scene that is being opened. */
  readonly opening = new Signal<Task | null>(null);
  readonly tasks = new Signal<ReadonlyMap<BodyId, Task>>(new Map());
  readonly scene = new Signal<SceneInfo>({ title: "", file: null, dirty: false, playing: true, speed: 1 });
  readonly listener = new Signal<Listener>(LISTENER);
  readonly hail = new Signal<Hail>(HAIL);
  readonly quality = new Signal<Quality>(QUALITY);
  readonly rooms = new Signal<RoomsState>({ version: 0, acoustics: false, field: false, baking: false });
  readonly bake = new Signal<BakeEvent | null>(null);
  /** Null without soft bodies. */
  readonly transport = new Signal<TransportEvent | null>(null);
  readonly history = new Signal<History>({ undo: 0, redo: 0, label: null });
  readonly take = new Signal<Take>({ recording: false, ready: false, seconds: 0, inputs: 0, differences: [] });
  readonly log = new Signal<readonly LogEntry[]>([]);
  readonly meters = new Signal<Meters | null>(null);
  /** Modes that are mixed, as a share of those that ring; not a number in silence. */
  readonly keptShare = new Signal(NaN);
  readonly modes = new Signal<ModesPacket | null>(null);
  readonly materials = new Signal<readonly Material[]>([]);
  readonly surfaces = new Signal<readonly string[]>([]);
  readonly shelf = new Signal<Shelf>({ objects: [], scenes: [] });

  readonly tool = new Signal<Tool>("strike");
  readonly mallet = new Signal<Mallet>("wood");
  /** Whether work of a session that ended early can be had back. */
  readonly autosave = new Signal(false);
  readonly slot = new Signal<"a" | "b" | null>(null);
  /** How much what is heard is turned down while two versions are compared, in dB. */
  readonly trimDb = new Signal(0);
  /** Counts scenes that replaced one another. */
  readonly sceneNumber = new Signal(0);

  get selectedBody(): Body | null {
    const id = this.selected.value;
    return id === null ? null : (this.bodies.value.get(id) ?? null);
  }

  apply(event: ServerEvent): void {
    switch (event.event) {
      case "hello":
        this.sampleRateHz.value = event.sample_rate_hz;
        this.scene.value = { ...this.scene.value, title: event.title };
        this.autosave.value = Boolean(event.autosave);
        break;
      case "scene":
        this.replaceScene(event);
        break;
      case "body":
        this.bodies.value = new Map(this.bodies.value).set(event.body.id, event.body);
        break;
      case "gone":
        this.removeBody(event.body);
        break;
      case "quality":
        this.quality.value = { ...this.quality.value, ...event.quality };
        break;
      case "hail":
        this.hail.value = { ...this.hail.value, ...event.hail };
        break;
      case "listener":
        this.listener.value = { ...this.listener.value, ...event.listener };
        break;
      case "task":
        if (event.body === null) this.opening.value = event.share >= 1 ? null : { stage: event.stage, share: event.share };
        else this.updateTask(event.body, event.stage, event.share);
        break;
      case "history":
        this.history.value = { undo: event.undo, redo: event.redo, label: event.label };
        break;
      case "bake":
        this.bake.value = event.stage === "paused" || event.stage === "baking" ? { ...this.bake.value, ...event } : event;
        break;
      case "take":
        this.take.value = event;
        break;
      case "audio":
        break;
      case "transport":
        this.transport.value = event.recorded ? event : null;
        break;
      case "trim":
        this.trimDb.value = event.trim_db;
        break;
      case "log":
        this.addLog(event.level, event.text);
        break;
    }
  }

  addLog(level: LogLevel, text: string): void {
    this.log.value = [...this.log.value.slice(-MAX_LOG + 1), { time: new Date(), level, text }];
  }

  /** The page's guess until the server tells what it made of a change. */
  assume(id: BodyId, change: Partial<Body>): void {
    const body = this.bodies.value.get(id);
    if (body) this.bodies.value = new Map(this.bodies.value).set(id, { ...body, ...change });
  }

  private replaceScene(event: SceneEvent): void {
    const before = this.bodies.value;
    this.opening.value = null;
    this.bodies.value = new Map(event.bodies.map((body) => [body.id, body]));
    if (event.listener) this.listener.value = { ...this.listener.value, ...event.listener };
    if (event.hail) this.hail.value = { ...this.hail.value, ...event.hail };
    if (event.quality) this.quality.value = { ...this.quality.value, ...event.quality };
    if (event.rooms) this.rooms.value = event.rooms;
    const { playing, speed, file, dirty } = event;
    this.scene.value = { title: event.title ?? this.scene.value.title, playing, speed, file, dirty };
    if (event.take) this.take.value = event.take;
    const selected = this.selected.value;
    if (selected === null || !this.bodies.value.has(selected)) {
      const sounding = event.bodies.find((body) => body.sounds) ?? event.bodies[0];
      this.selected.value = sounding?.id ?? null;
    }
    if (![...before.keys()].some((id) => this.bodies.value.has(id))) this.sceneNumber.value++;
  }

  private removeBody(id: BodyId): void {
    const bodies = new Map(this.bodies.value);
    bodies.delete(id);
    this.bodies.value = bodies;
    if (this.selected.value === id) this.selected.value = null;
    this.updateTask(id, "", 1);
  }

  private updateTask(id: BodyId, stage: string, share: number): void {
    const tasks = new Map(this.tasks.value);
    if (share >= 1) tasks.delete(id);
    else tasks.set(id, { stage, share });
    this.tasks.value = tasks;
  }
}
