/** The head that listens: drawn as one, moved with keys, or carried by the camera. */

import { ConeGeometry, Group, Mesh, MeshStandardMaterial, SphereGeometry, Vector3, type Camera } from "three";
import type { App } from "../app";
import type { Listener } from "../net/protocol";

const SPEED_M_S = 1.6;
const SEND_MS = 50;
const KEYS: Record<string, [number, number, number]> = {
  KeyW: [0, 1, 0],
  KeyS: [0, -1, 0],
  KeyA: [-1, 0, 0],
  KeyD: [1, 0, 0],
  KeyE: [0, 0, 1],
  KeyQ: [0, 0, -1],
};

export class ListenerView {
  readonly group = new Group();
  followsCamera = false;
  private readonly pressed = new Set<string>();
  private sentMs = 0;
  private local: Listener | null = null;

  constructor(
    private readonly app: App,
    private readonly camera: Camera,
  ) {
    const material = new MeshStandardMaterial({ color: "#6fb1ff", roughness: 0.5, transparent: true, opacity: 0.55 });
    const head = new Mesh(new SphereGeometry(0.09, 24, 16), material);
    const nose = new Mesh(new ConeGeometry(0.03, 0.07, 16), material);
    nose.position.y = 0.11;
    this.group.add(head, nose);
    for (const side of [-1, 1]) {
      const ear = new Mesh(new SphereGeometry(0.03, 12, 8), material);
      ear.position.x = 0.09 * side;
      ear.scale.x = 0.5;
      this.group.add(ear);
    }
    for (const part of this.group.children) part.raycast = () => {};
    app.studio.listener.subscribe((listener) => this.show(listener));
  }

  /** A head of its true size would hide small things, and not be seen in a house. */
  setSceneSize(radiusM: number): void {
    this.group.scale.setScalar(Math.min(2.5, Math.max(0.1, radiusM / 2)));
  }

  /** Whether a key belongs to the listener. */
  key(code: string, down: boolean): boolean {
    if (!(code in KEYS)) return false;
    if (down) this.pressed.add(code);
    else this.pressed.delete(code);
    return true;
  }

  releaseKeys(): void {
    this.pressed.clear();
  }

  animate(elapsedS: number): void {
    this.group.visible = !this.followsCamera;
    if (this.followsCamera) this.fromCamera();
    else if (this.pressed.size > 0) this.walk(elapsedS);
    else if (this.local) this.flush(true);
  }

  /** Where it is and looks. */
  get pose(): Listener {
    return this.local ?? this.app.studio.listener.value;
  }

  /** How far the pressed keys carry it, seen from the camera; null if there are none. */
  step(elapsedS: number): Vector3 | null {
    if (this.pressed.size === 0) return null;
    const forward = this.forward();
    const right = new Vector3(forward.y, -forward.x, 0);
    const step = new Vector3();
    for (const code of this.pressed) {
      const [x, y, z] = KEYS[code] ?? [0, 0, 0];
      step.addScaledVector(right, x).addScaledVector(forward, y);
      step.z += z;
    }
    return step.multiplyScalar(SPEED_M_S * elapsedS);
  }

  private forward(): Vector3 {
    return this.camera.getWorldDirection(new Vector3()).setZ(0).normalize();
  }

  private walk(elapsedS: number): void {
    const step = this.step(elapsedS);
    if (!step) return;
    const forward = this.forward();
    const listener = this.pose;
    const position = new Vector3().fromArray(listener.position).add(step);
    this.local = { ...listener, position: position.toArray(), look: forward.toArray() };
    this.show(this.local);
    this.flush(false);
  }

  private fromCamera(): void {
    const look = this.camera.getWorldDirection(new Vector3());
    const listener: Listener = { position: this.camera.position.toArray(), look: look.toArray(), up: [0, 0, 1] };
    const before = this.app.studio.listener.value;
    const moved = new Vector3().fromArray(before.position).distanceTo(this.camera.position) + look.distanceTo(new Vector3().fromArray(before.look));
    if (moved < 1e-4) return;
    this.local = listener;
    this.flush(false);
  }

  private flush(last: boolean): void {
    const now = performance.now();
    if (!this.local || (!last && now - this.sentMs < SEND_MS)) return;
    this.sentMs = now;
    this.app.connection.post({ do: "listener", ...this.local });
    this.app.studio.listener.value = this.local;
    if (last) this.local = null;
  }

  private show(listener: Listener): void {
    this.group.position.fromArray(listener.position);
    const [x, y] = listener.look;
    this.group.rotation.set(0, 0, Math.atan2(y, x) - Math.PI / 2);
  }
}
