/** The cloud that hail falls from, a box to drag, and the stones in the air. */

import { BoxGeometry, BufferAttribute, BufferGeometry, DynamicDrawUsage, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, type Vector3 } from "three";
import type { StonesPacket } from "../net/binary";
import type { Hail } from "../net/protocol";

const MAX_STONES = 4096;
/** Stones are drawn as streaks of this length, in m: they fall too fast to be seen as balls. */
const STREAK_M = 0.06;

export class HailView {
  readonly group = new Group();
  /** What the mouse takes hold of. */
  readonly handle: Mesh<BoxGeometry, MeshBasicMaterial>;
  private readonly streaks: LineSegments<BufferGeometry, LineBasicMaterial>;
  private waiting: StonesPacket[] = [];

  constructor() {
    const box = new BoxGeometry(1, 1, 1);
    this.handle = new Mesh(box, new MeshBasicMaterial({ color: "#7fb4ff", transparent: true, opacity: 0.14, depthWrite: false }));
    const edges = new LineSegments(new EdgesGeometry(box), new LineBasicMaterial({ color: "#7fb4ff", transparent: true, opacity: 0.8 }));
    edges.raycast = () => {};
    this.handle.add(edges);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(6 * MAX_STONES), 3).setUsage(DynamicDrawUsage));
    geometry.setDrawRange(0, 0);
    this.streaks = new LineSegments(geometry, new LineBasicMaterial({ color: "#8fbcff", transparent: true, opacity: 0.7 }));
    this.streaks.frustumCulled = false;
    this.streaks.raycast = () => {};
    this.group.add(this.handle, this.streaks);
    this.group.visible = false;
  }

  update(hail: Hail): void {
    this.group.visible = hail.on;
    this.handle.position.fromArray(hail.center);
    this.handle.scale.fromArray(hail.size.map((side) => Math.max(side, 0.02)));
    if (!hail.on) this.waiting = [];
  }

  setStones(packet: StonesPacket): void {
    this.waiting.push(packet);
    if (this.waiting.length > 60) this.waiting.shift();
  }

  moveTo(center: Vector3): void {
    this.handle.position.copy(center);
  }

  setHover(hovered: boolean): void {
    this.handle.material.opacity = hovered ? 0.3 : 0.14;
  }

  /** Shows the stones of the moment that is heard. */
  animate(heardFrame: number | null): void {
    let due: StonesPacket | undefined;
    for (let next = this.waiting[0]; next && (heardFrame === null || next.frame <= heardFrame || next.frame > heardFrame + 48_000); next = this.waiting[0]) {
      due = this.waiting.shift();
    }
    if (!due) return;
    const shown = Math.min(MAX_STONES, due.positions.length / 3);
    const position = this.streaks.geometry.getAttribute("position") as BufferAttribute;
    for (let i = 0; i < shown; i++) {
      const [x, y, z] = due.positions.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number];
      position.setXYZ(2 * i, x, y, z);
      position.setXYZ(2 * i + 1, x, y, z + STREAK_M);
    }
    position.needsUpdate = true;
    this.streaks.geometry.setDrawRange(0, 2 * shown);
  }
}
