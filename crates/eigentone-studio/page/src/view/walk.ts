/** Walking: the camera is the listener's head. The mouse or the arrow keys turn it, W A S D move it. */

import { MOUSE, Vector3 } from "three";
import { Signal } from "../state/signal";
import type { WorldView } from "./world-view";

/** The camera turns around a point so close that it turns on the spot, in m. */
const REACH_M = 0.02;
const TURN_PER_S = 1.7;
const FIELD_OF_VIEW = 68;
const TURNS: Record<string, number> = { ArrowLeft: 1, ArrowRight: -1 };
const STEPS: Record<string, string> = { ArrowUp: "KeyW", ArrowDown: "KeyS" };

export class Walk {
  readonly on = new Signal(false);
  private readonly turning = new Set<string>();
  private before: { position: Vector3; target: Vector3; fov: number; near: number; followed: boolean } | null = null;

  constructor(private readonly view: WorldView) {
    view.beforeFrame.push((elapsedS) => this.animate(Math.min(elapsedS, 0.1)));
  }

  toggle(): void {
    if (this.on.value) this.leave();
    else this.enter();
  }

  /** Whether a key is one that walks. */
  key(code: string, down: boolean): boolean {
    if (!this.on.value) return false;
    const step = STEPS[code];
    if (step) return this.view.listener.key(step, down);
    if (!(code in TURNS)) return false;
    if (down) this.turning.add(code);
    else this.turning.delete(code);
    return true;
  }

  releaseKeys(): void {
    this.turning.clear();
  }

  private enter(): void {
    const { camera, controls } = this.view.stage;
    const { listener } = this.view;
    this.before = { position: camera.position.clone(), target: controls.target.clone(), fov: camera.fov, near: camera.near, followed: listener.followsCamera };
    const pose = listener.pose;
    const look = new Vector3().fromArray(pose.look).normalize();
    camera.position.fromArray(pose.position);
    controls.target.copy(camera.position).addScaledVector(look, REACH_M);
    camera.fov = FIELD_OF_VIEW;
    camera.near = 0.03;
    camera.updateProjectionMatrix();
    controls.enableZoom = controls.enablePan = controls.enableDamping = false;
    controls.rotateSpeed = -0.35;
    controls.mouseButtons.RIGHT = MOUSE.ROTATE;
    listener.followsCamera = true;
    this.view.field.setInside(true);
    this.on.value = true;
  }

  leave(): void {
    if (!this.before) return;
    const { camera, controls } = this.view.stage;
    camera.position.copy(this.before.position);
    controls.target.copy(this.before.target);
    camera.fov = this.before.fov;
    camera.near = this.before.near;
    camera.updateProjectionMatrix();
    controls.enableZoom = controls.enablePan = controls.enableDamping = true;
    controls.rotateSpeed = 1;
    controls.mouseButtons.RIGHT = MOUSE.PAN;
    this.view.listener.followsCamera = this.before.followed;
    this.before = null;
    this.turning.clear();
    this.view.field.setInside(false);
    this.on.value = false;
  }

  private animate(elapsedS: number): void {
    if (!this.on.value) return;
    const { camera, controls } = this.view.stage;
    let turn = 0;
    for (const code of this.turning) turn += (TURNS[code] ?? 0) * TURN_PER_S * elapsedS;
    const look = controls.target.clone().sub(camera.position).applyAxisAngle(new Vector3(0, 0, 1), turn);
    const step = this.view.listener.step(elapsedS);
    if (step) camera.position.add(step);
    if (turn !== 0 || step) controls.target.copy(camera.position).add(look.setLength(REACH_M));
  }
}
