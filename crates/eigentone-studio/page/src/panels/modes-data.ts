/** The modes of one body as the plot shows them: the model's own numbers, and what the server tells of them 20 times a second. */

import { MODE_STATES, type ModesPacket, type ModeState } from "../net/binary";
import type { BodyId, Model } from "../net/protocol";

export interface ShownMode {
  /** Its place in the list. */
  index: number;
  /** Its number, which stays when others are deleted. */
  number: number;
  added: boolean;
  frequencyHz: number;
  decayPerS: number;
  gain: number;
  levelDb: number;
  /** How strong it is beside the strongest, in dB: 0 and below. */
  relativeDb: number;
  state: ModeState;
  muted: boolean;
  soloed: boolean;
}

export const MIN_HZ = 20;
export const MAX_HZ = 20_000;

export class ModesData {
  body: BodyId | null = null;
  modes: ShownMode[] = [];
  bandHz: Float32Array = new Float32Array(0);
  thresholdDb: Float32Array = new Float32Array(0);
  model: Model | null = null;

  clear(body: BodyId | null): void {
    this.body = body;
    this.modes = [];
    this.model = null;
    this.bandHz = this.thresholdDb = new Float32Array(0);
  }

  /** Takes a model; what is told of the same body's levels is kept. */
  setModel(body: BodyId, model: Model): void {
    const before = this.body === body ? this.modes : [];
    const strongest = Math.max(1e-30, ...model.modes.map((mode) => Math.abs(mode.gain)));
    this.body = body;
    this.model = model;
    this.modes = model.modes.map((mode, index) => ({
      index,
      number: mode.number ?? index,
      added: mode.like !== undefined,
      frequencyHz: mode.frequency_hz,
      decayPerS: mode.decay_per_s,
      gain: mode.gain,
      levelDb: before[index]?.levelDb ?? -200,
      relativeDb: 20 * Math.log10(Math.abs(mode.gain) / strongest + 1e-9),
      state: before[index]?.state ?? "asleep",
      muted: mode.mute ?? false,
      soloed: mode.solo ?? false,
    }));
  }

  setLive(packet: ModesPacket): void {
    if (packet.body !== this.body) return;
    for (let i = 0; i < Math.min(packet.frequencyHz.length, this.modes.length); i++) {
      const mode = this.modes[i] as ShownMode;
      mode.levelDb = packet.levelDb[i] as number;
      mode.state = MODE_STATES[packet.state[i] as number] ?? "asleep";
    }
    this.bandHz = packet.bandHz;
    this.thresholdDb = packet.thresholdDb;
  }
}

/** 60 dB down, in s. */
export function t60(decayPerS: number): number {
  return decayPerS > 0 ? Math.log(1000) / decayPerS : Infinity;
}
