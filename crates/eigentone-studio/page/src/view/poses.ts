/** Where bodies are at the moment that is heard: packets come early and 30 times a second, the screen draws 60 times. */

import { Quaternion, Vector3 } from "three";
import type { BodyPose, StatePacket } from "../net/binary";
import type { BodyId } from "../net/protocol";

interface Stamped extends StatePacket {
  arrivedMs: number;
  byId: Map<BodyId, BodyPose>;
}

const KEPT = 90;
/** Without sound, poses are shown this late, so that there is something to interpolate to. */
const DELAY_MS = 45;

export interface Pose {
  position: Vector3;
  rotation: Quaternion;
  levelDb: number;
  sounding: boolean;
  held: boolean;
}

export class Poses {
  private packets: Stamped[] = [];
  private readonly a = new Quaternion();
  private readonly b = new Quaternion();

  push(packet: StatePacket): void {
    const last = this.packets.at(-1);
    if (last && packet.frame < last.frame) this.packets = [];
    this.packets.push({ ...packet, arrivedMs: performance.now(), byId: new Map(packet.bodies.map((body) => [body.id, body])) });
    if (this.packets.length > KEPT) this.packets.shift();
  }

  /** Calls `place` with every body's pose at the frame that is heard, or by the clock if nothing is. */
  at(heardFrame: number | null, place: (id: BodyId, pose: Pose) => void): void {
    const [before, after, share] = this.bracket(heardFrame);
    if (!before || !after) return;
    const pose: Pose = { position: new Vector3(), rotation: new Quaternion(), levelDb: 0, sounding: false, held: false };
    for (const [id, to] of after.byId) {
      const from = before.byId.get(id) ?? to;
      pose.position.fromArray(from.position).lerp(new Vector3().fromArray(to.position), share);
      pose.rotation.copy(this.a.fromArray(from.rotation)).slerp(this.b.fromArray(to.rotation), share);
      pose.levelDb = from.levelDb + (to.levelDb - from.levelDb) * share;
      pose.sounding = to.sounding;
      pose.held = to.held;
      place(id, pose);
    }
  }

  private bracket(heardFrame: number | null): [Stamped | undefined, Stamped | undefined, number] {
    const newest = this.packets.at(-1);
    const oldest = this.packets[0];
    const usesFrames = heardFrame !== null && newest !== undefined && oldest !== undefined && heardFrame >= oldest.frame - 4800 && heardFrame < newest.frame + 48_000;
    const key = (packet: Stamped): number => (usesFrames ? packet.frame : packet.arrivedMs);
    const at = usesFrames ? heardFrame : performance.now() - DELAY_MS;
    const after = this.packets.find((packet) => key(packet) >= at);
    if (!after) return [newest, newest, 0];
    const before = this.packets[this.packets.indexOf(after) - 1] ?? after;
    const span = key(after) - key(before);
    return [before, after, span > 0 ? (at - key(before)) / span : 0];
  }
}
