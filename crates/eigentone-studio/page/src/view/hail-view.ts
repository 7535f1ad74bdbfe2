/** The cloud that hail falls from: a box to drag, and streaks that show where it falls. The streaks are a picture; real impacts flash. */

import {
  BoxGeometry, BufferAttribute, BufferGeometry, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, type Vector3,
} from "three";
import type { Hail } from "../net/protocol";

const MAX_STREAKS = 400;
const FALL_M_S = 9;

export class HailView {
  readonly group = new Group();
  /** What the mouse takes hold of. */
  readonly handle: Mesh<BoxGeometry, MeshBasicMaterial>;
  private readonly streaks: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly seeds = Float32Array.from({ length: 3 * MAX_STREAKS }, () => Math.random());
  private hail: Hail | null = null;

  constructor() {
    const box = new BoxGeometry(1, 1, 1);
    this.handle = new Mesh(box, new MeshBasicMaterial({ color: "#7fb4ff", transparent: true, opacity: 0.14, depthWrite: false }));
    const edges = new LineSegments(new EdgesGeometry(box), new LineBasicMaterial({ color: "#7fb4ff", transparent: true, opacity: 0.8 }));
    edges.raycast = () => {};
    this.handle.add(edges);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(6 * MAX_STREAKS), 3));
    this.streaks = new LineSegments(geometry, new LineBasicMaterial({ color: "#9cc4ff", transparent: true, opacity: 0.35 }));
    this.streaks.frustumCulled = false;
    this.streaks.raycast = () => {};
    this.group.add(this.handle, this.streaks);
    this.group.visible = false;
  }

  update(hail: Hail): void {
    this.hail = hail;
    this.group.visible = hail.on;
    this.handle.position.fromArray(hail.center);
    this.handle.scale.fromArray(hail.size.map((side) => Math.max(side, 0.02)));
  }

  moveTo(center: Vector3): void {
    this.handle.position.copy(center);
    if (this.hail) this.hail = { ...this.hail, center: center.toArray() };
  }

  setHover(hovered: boolean): void {
    this.handle.material.opacity = hovered ? 0.3 : 0.14;
  }

  animate(seconds: number): void {
    const hail = this.hail;
    if (!hail?.on) return;
    const shown = Math.min(MAX_STREAKS, hail.particles);
    const position = this.streaks.geometry.getAttribute("position") as BufferAttribute;
    const bottom = Math.max(hail.center[2] + hail.size[2] / 2, 0.1);
    for (let i = 0; i < shown; i++) {
      const seed = (k: number): number => this.seeds[3 * i + k] as number;
      const x = hail.center[0] + (seed(0) - 0.5) * hail.size[0];
      const y = hail.center[1] + (seed(1) - 0.5) * hail.size[1];
      const z = bottom * (1 - ((seed(2) + (seconds * FALL_M_S) / bottom) % 1));
      position.setXYZ(2 * i, x, y, z);
      position.setXYZ(2 * i + 1, x, y, z + 0.05);
    }
    position.needsUpdate = true;
    this.streaks.geometry.setDrawRange(0, 2 * shown);
  }
}
