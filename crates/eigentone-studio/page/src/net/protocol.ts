/** The messages of docs/studio-protocol.md as types. Lengths in metres, z is up, quaternions are x, y, z, w. */

import type { BakeEvent, RoomsState } from "./field";
import type { ShapingRequest, SurfaceMap } from "./shaping";

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];
export type BodyId = number;

export interface Material {
  name: string;
  young_pa: number;
  density_kg_m3: number;
  poisson: number;
  tan_phi: number;
}

export interface ShelfObject {
  name: string;
  title: string;
  material?: string;
}

export interface Shelf {
  objects: ShelfObject[];
  scenes: { name: string; title: string }[];
}

export interface Body {
  id: BodyId;
  name: string;
  material: string | null;
  surface: string | null;
  map: SurfaceMap | null;
  kind: "fixed" | "dynamic" | "kinematic";
  shape: string;
  sounds: boolean;
  provisional: boolean;
  modes: number;
  first_hz: number | null;
  mass_kg: number | null;
  size: number;
  pitch: number;
  damping: number;
  brightness: number;
  gain: number;
  mesh_version: number;
  model_version: number;
  /** Of soft bodies, if their scene has one: red, green, blue from 0 to 1. */
  color?: Vec3 | null;
}

export interface Model {
  material: string | null;
  method: string;
  modes: { frequency_hz: number; decay_per_s: number; gain: number; mute?: boolean; solo?: boolean; number?: number; like?: number }[];
  /** Numbers of those that were taken out. */
  deleted?: number[];
  sites: number;
  warnings: string[];
  tail_from_hz: number | null;
}

export interface Hail {
  on: boolean;
  center: Vec3;
  size: Vec3;
  particles: number;
  radius_m: number;
}

export interface Quality {
  masking_db: number | null;
  truncation_pa: number | null;
  budget_modes: number | null;
  budget_us: number | null;
  playback_db: number | null;
}

export interface Listener {
  position: Vec3;
  look: Vec3;
  up: Vec3;
}

export type Mallet = "felt" | "rubber" | "wood" | "plastic" | "metal" | { mass_kg: number; stiffness_n_m: number };

export interface Blow {
  at: Vec3;
  impulse_ns: number;
  mallet: Mallet;
}

export type BodySetting = Partial<
  Pick<Body, "material" | "surface" | "size" | "pitch" | "damping" | "brightness" | "gain" | "name"> & {
    position: Vec3;
    rotation: Quat;
    fixed: boolean;
  }
>;

export type Request =
  | ShapingRequest
  | { do: "strike"; body: BodyId; at: Vec3; direction: Vec3; impulse_ns: number; mallet: Mallet }
  | { do: "grab"; body: BodyId; at: Vec3 }
  | { do: "drag"; grab: number; to: Vec3 }
  | { do: "release"; grab: number }
  | { do: "hold"; body: BodyId; on: boolean }
  | ({ do: "set"; body: BodyId; gesture: number } & BodySetting)
  | { do: "add"; object: string }
  | { do: "remove" | "duplicate" | "why"; body: BodyId }
  | { do: "open"; scene: string }
  | { do: "save"; file?: string }
  | { do: "settle" | "reset" | "undo" | "redo" | "step" }
  | { do: "ab"; slot: "a" | "b"; store: boolean }
  | { do: "play"; on: boolean }
  | { do: "record"; on: boolean; settle?: boolean }
  | { do: "speed"; value: number }
  | { do: "seek"; time_s: number }
  | ({ do: "listener" } & Partial<Listener>)
  | ({ do: "quality"; gesture?: number } & Partial<Quality>)
  | ({ do: "hail" } & Partial<Hail>)
  | { do: "modes"; body: BodyId | null }
  | ({ do: "mode"; body: BodyId; mode: number } & ModeEdit)
  | { do: "query_field"; source: Vec3; listener?: Vec3 }
  | { do: "estimate_bake" | "bake" | "cancel_bake" }
  | { do: "pause_bake"; on: boolean }
  | { do: "credit"; frames: number }
  | { do: "audio"; lead: number };

export interface ModeEdit {
  frequency_hz?: number;
  decay_per_s?: number;
  gain?: number;
  mute?: boolean;
  solo?: boolean;
  /** As the model has it. */
  reset?: boolean;
  /** Takes it out. */
  delete?: boolean;
  gesture?: number;
}

export interface Answer {
  re: number;
  ok: boolean;
  error?: string;
  hint?: string;
  [key: string]: unknown;
}

export interface HelloEvent {
  event: "hello";
  protocol: number;
  sample_rate_hz: number;
  title: string;
  autosave?: string | boolean | null;
}

export interface SceneEvent {
  event: "scene";
  title?: string;
  bodies: Body[];
  listener: Partial<Listener> | null;
  hail: Partial<Hail> | null;
  quality: Partial<Quality> | null;
  rooms?: RoomsState;
  playing: boolean;
  speed: number;
  file: string | null;
  dirty: boolean;
  take?: Take;
}

/** Where the take stands. */
export interface Take {
  recording: boolean;
  ready: boolean;
  seconds: number;
  inputs: number;
  differences: string[];
}

/** Where a scene with soft bodies is played, and what of it has been simulated; `recorded` is false without any. */
export interface TransportEvent {
  event: "transport";
  recorded: boolean;
  time_s?: number;
  begin_s?: number;
  end_s?: number;
  simulating?: boolean;
  /** Seconds of motion per second. */
  factor?: number | null;
}

export type ServerEvent =
  | HelloEvent
  | SceneEvent
  | { event: "body"; body: Body }
  | { event: "gone"; body: BodyId }
  | ({ event: "take" } & Take)
  | { event: "quality"; quality: Partial<Quality> }
  | { event: "hail"; hail: Partial<Hail> }
  | { event: "listener"; listener: Partial<Listener> }
  | { event: "task"; body: BodyId | null; stage: string; share: number }
  | BakeEvent
  | { event: "audio"; on: boolean }
  | TransportEvent
  | { event: "trim"; trim_db: number }
  | { event: "history"; undo: number; redo: number; label: string | null }
  | { event: "log"; level: "info" | "warning" | "error"; text: string };

/** A refusal by the server, with what to do about it. */
export class StudioError extends Error {
  constructor(
    message: string,
    readonly hint: string | undefined,
  ) {
    super(message);
  }
}
