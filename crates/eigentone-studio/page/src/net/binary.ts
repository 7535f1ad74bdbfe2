/** The binary messages of the WebSocket and of the HTTP API. Every count is checked against the bytes that came. */

import type { BodyId } from "./protocol";

export const AUDIO = 1;
export const STATE = 2;
export const CONTACTS = 3;
export const METERS = 4;
export const MODES = 5;
export const STONES = 6;
export const SOFT = 12;

const VERSION = 1;
const HEADER_BYTES = 8;

export interface AudioPacket {
  frame: number;
  /** Left and right in turns. */
  samples: Float32Array;
}

export interface BodyPose {
  id: BodyId;
  position: [number, number, number];
  rotation: [number, number, number, number];
  levelDb: number;
  sounding: boolean;
  held: boolean;
  asleep: boolean;
}

export interface StatePacket {
  frame: number;
  timeS: number;
  bodies: BodyPose[];
}

export type ContactKind = "impact" | "begin" | "end";

export interface Contact {
  a: BodyId;
  b: BodyId;
  position: [number, number, number];
  impulseNs: number;
  kind: ContactKind;
}

export interface ContactPacket {
  frame: number;
  contacts: Contact[];
}

const METER_FIELDS = [
  "peakL", "peakR", "rmsL", "rmsR", "loudnessLufs", "load",
  "modesTotal", "modesMixed", "modesMasked", "modesTruncated", "modesScaled",
  "lateEvents", "shed", "fixedUs", "modeUs", "keptShare", "realtimeFactor", "budgetKept",
] as const;

export type Meters = { frame: number } & Record<(typeof METER_FIELDS)[number], number>;

export type ModeState = "asleep" | "sounding" | "masked" | "truncated" | "scaled";
export const MODE_STATES: readonly ModeState[] = ["asleep", "sounding", "masked", "truncated", "scaled"];

export interface ModesPacket {
  body: BodyId;
  frequencyHz: Float32Array;
  levelDb: Float32Array;
  state: Uint8Array;
  bandHz: Float32Array;
  thresholdDb: Float32Array;
}

/** The kind of a message, or 0 for anything this page does not understand. */
export function kindOf(buffer: ArrayBuffer): number {
  if (buffer.byteLength < HEADER_BYTES) return 0;
  const view = new DataView(buffer);
  return view.getUint8(1) === VERSION ? view.getUint8(0) : 0;
}

function frameAt(view: DataView, offset: number): number {
  return Number(view.getBigUint64(offset, true));
}

export function parseAudio(buffer: ArrayBuffer): AudioPacket | null {
  if (buffer.byteLength < 16) return null;
  const frames = (buffer.byteLength - 16) >> 3;
  return { frame: frameAt(new DataView(buffer), 8), samples: new Float32Array(buffer, 16, frames * 2) };
}

export function parseState(buffer: ArrayBuffer): StatePacket | null {
  const RECORD = 44;
  if (buffer.byteLength < 32) return null;
  const view = new DataView(buffer);
  const count = view.getUint32(24, true);
  if (32 + count * RECORD > buffer.byteLength) return null;
  const bodies: BodyPose[] = [];
  for (let i = 0, at = 32; i < count; i++, at += RECORD) {
    const f = (k: number) => view.getFloat32(at + 8 + 4 * k, true);
    const flags = view.getUint32(at + 40, true);
    bodies.push({
      id: view.getFloat64(at, true),
      position: [f(0), f(1), f(2)],
      rotation: [f(3), f(4), f(5), f(6)],
      levelDb: f(7),
      sounding: (flags & 1) !== 0,
      held: (flags & 2) !== 0,
      asleep: (flags & 4) !== 0,
    });
  }
  return { frame: frameAt(view, 8), timeS: view.getFloat64(16, true), bodies };
}

export function parseContacts(buffer: ArrayBuffer): ContactPacket | null {
  const RECORD = 40;
  if (buffer.byteLength < 24) return null;
  const view = new DataView(buffer);
  const count = view.getUint32(16, true);
  if (24 + count * RECORD > buffer.byteLength) return null;
  const contacts: Contact[] = [];
  for (let i = 0, at = 24; i < count; i++, at += RECORD) {
    const f = (k: number) => view.getFloat32(at + 16 + 4 * k, true);
    const kind = view.getUint32(at + 32, true);
    contacts.push({
      a: view.getFloat64(at, true),
      b: view.getFloat64(at + 8, true),
      position: [f(0), f(1), f(2)],
      impulseNs: f(3),
      kind: kind === 0 ? "impact" : kind === 1 ? "begin" : "end",
    });
  }
  return { frame: frameAt(view, 8), contacts };
}

export interface StonesPacket {
  frame: number;
  /** x, y, z in turns, in m. */
  positions: Float32Array;
}

export function parseStones(buffer: ArrayBuffer): StonesPacket | null {
  if (buffer.byteLength < 24) return null;
  const view = new DataView(buffer);
  const count = view.getUint32(16, true);
  if (24 + 12 * count > buffer.byteLength) return null;
  return { frame: frameAt(view, 8), positions: new Float32Array(buffer, 24, 3 * count) };
}

/** A soft body's surface: each vertex is at its place at rest + offset + step · moved. */
export interface SoftPacket {
  frame: number;
  timeS: number;
  body: BodyId;
  stepM: number;
  offset: [number, number, number];
  /** x, y, z in turns. */
  moved: Int16Array;
}

export function parseSoft(buffer: ArrayBuffer): SoftPacket | null {
  const HEAD = 56;
  if (buffer.byteLength < HEAD) return null;
  const view = new DataView(buffer);
  const count = view.getUint32(32, true);
  if (HEAD + 6 * count > buffer.byteLength) return null;
  return {
    frame: frameAt(view, 8),
    timeS: view.getFloat64(16, true),
    body: view.getFloat64(24, true),
    stepM: view.getFloat32(36, true),
    offset: [view.getFloat32(40, true), view.getFloat32(44, true), view.getFloat32(48, true)],
    moved: new Int16Array(buffer, HEAD, 3 * count),
  };
}

export function parseMeters(buffer: ArrayBuffer): Meters | null {
  if (buffer.byteLength < 16 + 4 * METER_FIELDS.length) return null;
  const view = new DataView(buffer);
  const meters = { frame: frameAt(view, 8) } as Meters;
  METER_FIELDS.forEach((field, i) => {
    meters[field] = view.getFloat32(16 + 4 * i, true);
  });
  return meters;
}

export function parseModes(buffer: ArrayBuffer): ModesPacket | null {
  if (buffer.byteLength < 24) return null;
  const view = new DataView(buffer);
  const count = view.getUint32(16, true);
  const bands = view.getUint32(20, true);
  if (24 + count * 12 + bands * 8 > buffer.byteLength) return null;
  const packet: ModesPacket = {
    body: view.getFloat64(8, true),
    frequencyHz: new Float32Array(count),
    levelDb: new Float32Array(count),
    state: new Uint8Array(count),
    bandHz: new Float32Array(bands),
    thresholdDb: new Float32Array(bands),
  };
  let at = 24;
  for (let i = 0; i < count; i++, at += 12) {
    packet.frequencyHz[i] = view.getFloat32(at, true);
    packet.levelDb[i] = view.getFloat32(at + 4, true);
    packet.state[i] = Math.min(view.getUint32(at + 8, true), MODE_STATES.length - 1);
  }
  for (let i = 0; i < bands; i++, at += 8) {
    packet.bandHz[i] = view.getFloat32(at, true);
    packet.thresholdDb[i] = view.getFloat32(at + 4, true);
  }
  return packet;
}

export interface MeshData {
  positions: Float32Array;
  triangles: Uint32Array;
}

/** `GET /api/mesh/BODY`; triangles that name vertices which do not exist make it unreadable. */
export function parseMesh(buffer: ArrayBuffer): MeshData | null {
  if (buffer.byteLength < 8) return null;
  const view = new DataView(buffer);
  const vertices = view.getUint32(0, true);
  const triangles = view.getUint32(4, true);
  if (8 + 12 * (vertices + triangles) > buffer.byteLength) return null;
  const indices = new Uint32Array(buffer, 8 + 12 * vertices, 3 * triangles);
  for (const index of indices) if (index >= vertices) return null;
  return { positions: new Float32Array(buffer, 8, 3 * vertices), triangles: indices };
}

/** `GET /api/shape/BODY/MODE`: displacements of `vertices` vertices. */
export function parseShape(buffer: ArrayBuffer, vertices: number): Float32Array | null {
  return buffer.byteLength < 12 * vertices ? null : new Float32Array(buffer, 0, 3 * vertices);
}
