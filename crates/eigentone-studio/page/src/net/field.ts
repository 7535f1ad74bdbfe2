/** The acoustic field as the server tells it. */

import type { Vec3 } from "./protocol";

export interface FieldParameter {
  name: string;
  title: string;
  /** What the numbers are relative to. */
  about: string;
  unit: string;
}

export interface FieldInfo {
  name: string;
  f_max_hz: number;
  cell_m: number;
  grid_m: number;
  bounds: { min: Vec3; max: Vec3 };
  probes: Vec3[];
  stored_bytes: number;
  parameters: FieldParameter[];
  /** Whether it knows from where sound arrives. */
  directions: boolean;
  warnings: string[];
}

/** What the scene says of its rooms. */
export interface RoomsState {
  /** Changes with the field and with the scene. */
  version: number;
  /** Whether the scene describes rooms. */
  acoustics: boolean;
  /** Whether they are baked and heard. */
  field: boolean;
  baking: boolean;
}

export interface BakeEvent {
  event: "bake";
  stage: "preparing" | "baking" | "paused" | "done" | "cancelled" | "failed";
  share?: number;
  finished?: number;
  of?: number;
  seconds_left?: number | null;
  error?: string;
  hint?: string;
}

/** A horizontal cut through a field. */
export interface Slice {
  columns: number;
  rows: number;
  /** The corner that is lowest in x and y. */
  corner: [number, number];
  stepM: number;
  heightM: number;
  /** x fastest; not a number in solids and where nothing is known. */
  values: Float32Array;
}

const HEAD = 24;

export function parseSlice(buffer: ArrayBuffer): Slice | null {
  if (buffer.byteLength < HEAD) return null;
  const view = new DataView(buffer);
  const [columns, rows] = [view.getUint32(0, true), view.getUint32(4, true)];
  if (columns * rows * 4 + HEAD !== buffer.byteLength) return null;
  const float = (at: number): number => view.getFloat32(at, true);
  return { columns, rows, corner: [float(8), float(12)], stepM: float(16), heightM: float(20), values: new Float32Array(buffer, HEAD) };
}

/** The value around a point; not a number where nothing is known. */
export function valueAt(slice: Slice, x: number, y: number): number {
  const [column, row] = [Math.floor((x - slice.corner[0]) / slice.stepM), Math.floor((y - slice.corner[1]) / slice.stepM)];
  if (column < 0 || row < 0 || column >= slice.columns || row >= slice.rows) return NaN;
  return slice.values[row * slice.columns + column] ?? NaN;
}
