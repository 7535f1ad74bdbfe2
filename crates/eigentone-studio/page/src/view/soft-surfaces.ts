/** Surfaces of soft bodies at the moment that is heard. */

import type { SoftPacket } from "../net/binary";
import type { BodyId } from "../net/protocol";

const KEPT = 8;

interface Kept {
  packets: SoftPacket[];
  shown: SoftPacket | null;
  positions: Float32Array;
}

export class SoftSurfaces {
  private readonly bodies = new Map<BodyId, Kept>();

  push(packet: SoftPacket): void {
    const kept = this.bodies.get(packet.body) ?? { packets: [], shown: null, positions: new Float32Array() };
    this.bodies.set(packet.body, kept);
    const last = kept.packets.at(-1);
    if (last && packet.frame < last.frame) kept.packets = [];
    // The same picture is sent again and again while time stands still.
    if (last && last.timeS === packet.timeS && packet.frame >= last.frame) return;
    kept.packets.push(packet);
    if (kept.packets.length > KEPT) kept.packets.shift();
  }

  clear(): void {
    this.bodies.clear();
  }

  /** The time that is shown of a body, in s. */
  timeOf(body: BodyId): number | null {
    return this.bodies.get(body)?.shown?.timeS ?? null;
  }

  /** Calls `draw` with the vertices of every body, the same array as long as they are the same. */
  at(heardFrame: number | null, draw: (body: BodyId, positions: Float32Array) => void, restOf: (body: BodyId) => Float32Array | undefined): void {
    for (const [body, kept] of this.bodies) {
      const rest = restOf(body);
      const due = heardFrame === null ? kept.packets.length : kept.packets.filter((packet) => packet.frame <= heardFrame).length;
      const newest = kept.packets[Math.max(due, 1) - 1];
      if (!rest || !newest || newest.moved.length !== rest.length) continue;
      if (newest !== kept.shown) {
        kept.shown = newest;
        const { moved, stepM, offset } = newest;
        kept.positions = rest.map((at, i) => at + (offset[i % 3] as number) + stepM * (moved[i] as number));
      }
      draw(body, kept.positions);
    }
  }
}
