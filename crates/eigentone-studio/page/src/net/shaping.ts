/** Messages about surfaces, maps and resonators, as types. */

import type { BodyId } from "./protocol";

export type Point = [number, number];

export interface SurfaceSketch {
  speed_m_s: number;
  force_n: number;
  length_m: number | null;
  length_s: number | null;
  height: number[];
  frequency_hz: number[];
  level_db: number[];
}

export type Profile = "smooth" | { [kind: string]: Record<string, unknown> };

export interface Texture {
  friction: number;
  restitution: number;
  stiffness_n_m: number;
  profile: Profile;
  roughness: number;
  low_pass: { order: number; slip: Point[]; force: Point[] };
  gain: { slip: Point[]; force: Point[] };
  rolling: number;
  decay_s: number;
  direct_pa_per_n: number;
  damping: number;
}

export interface SurfaceInfo {
  name: string | null;
  /** Whether the scene has it, so that a change is saved there. */
  own: boolean;
  like: string | null;
  /** Other bodies that change with it. */
  others: string[];
  texture: Texture;
  sketch: SurfaceSketch;
}

export interface Glide {
  amount: number;
  energy_pa2: number;
  focus: number;
}

export interface Nonlinear {
  sections: number;
  coupling: number;
  reference_pa: number;
  shaper: "square" | "signed_square" | "saturating";
}

export interface Band {
  low_hz: number;
  high_hz: number;
  gain: number;
  t60_s: number;
}

export interface ResonatorInfo {
  glide: Glide | null;
  nonlinear: Nonlinear | null;
  diffuse: Band[];
  own_diffuse: boolean;
}

export interface SurfaceMap {
  file: string;
  dark: number;
  bright: number;
}

export type ShapingRequest =
  | { do: "surface"; body: BodyId; gesture?: number; set?: Record<string, unknown>; own?: boolean }
  | { do: "surface_map"; body: BodyId; gesture?: number; dark?: number; bright?: number; remove?: boolean }
  | { do: "resonator"; body: BodyId; gesture?: number; glide?: Partial<Glide> | null; nonlinear?: Partial<Nonlinear> | null; diffuse?: Band[] | null }
  | { do: "mode_add"; body: BodyId; gesture?: number; frequency_hz: number; decay_per_s?: number; gain?: number; like?: number };
