/** Contacts light up where and when they are heard. */

import { BufferAttribute, BufferGeometry, Color, Points, ShaderMaterial } from "three";
import type { ContactPacket } from "../net/binary";

const MAX = 256;
const LIFE_S = 0.28;

interface Flash {
  position: [number, number, number];
  size: number;
  bornS: number;
}

export class Flashes {
  readonly points: Points<BufferGeometry, ShaderMaterial>;
  private waiting: { frame: number; flash: Omit<Flash, "bornS"> }[] = [];
  private alive: Flash[] = [];

  constructor() {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * MAX), 3));
    geometry.setAttribute("look", new BufferAttribute(new Float32Array(2 * MAX), 2));
    geometry.setDrawRange(0, 0);
    const material = new ShaderMaterial({
      transparent: true,
      depthTest: false,
      depthWrite: false,
      uniforms: { ratio: { value: 1 }, color: { value: new Color() }, strength: { value: 1 } },
      vertexShader: `attribute vec2 look; varying float age; uniform float ratio;
        void main() { age = look.y; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); gl_PointSize = look.x * ratio * (0.6 + 0.9 * age); }`,
      fragmentShader: `varying float age; uniform vec3 color; uniform float strength;
        void main() { float r = 2.0 * length(gl_PointCoord - 0.5); if (r > 1.0) discard;
          float ring = smoothstep(0.16, 0.0, abs(r - 0.82)) + 0.8 * smoothstep(0.45, 0.0, r) * (1.0 - age);
          gl_FragColor = vec4(color, strength * ring * (1.0 - age)); }`,
    });
    this.points = new Points(geometry, material);
    this.points.frustumCulled = false;
    this.points.renderOrder = 10;
    this.points.raycast = () => {};
  }

  setLight(light: boolean): void {
    (this.points.material.uniforms["color"] as { value: Color }).value.setRGB(...((light ? [0.85, 0.4, 0] : [1, 0.72, 0.36]) as [number, number, number]));
  }

  push(packet: ContactPacket): void {
    for (const contact of packet.contacts) {
      if (contact.kind === "end") continue;
      const size = 9 + 24 * Math.min(1, Math.max(0, 1 + Math.log10(Math.max(contact.impulseNs, 1e-4)) / 4));
      this.waiting.push({ frame: packet.frame, flash: { position: contact.position, size } });
    }
    if (this.waiting.length > 4 * MAX) this.waiting.splice(0, this.waiting.length - 4 * MAX);
  }

  /** Shows a blow of this page at once: the eye is faster than the sound. */
  add(position: [number, number, number], size: number): void {
    this.alive.push({ position, size, bornS: performance.now() / 1000 });
  }

  /** Whether there is anything to draw, or was until now. */
  animate(heardFrame: number | null, ratio: number): boolean {
    const nowS = performance.now() / 1000;
    const due = (entry: { frame: number }): boolean => heardFrame === null || entry.frame <= heardFrame || entry.frame > heardFrame + 48_000;
    for (const entry of this.waiting) if (due(entry)) this.alive.push({ ...entry.flash, bornS: nowS });
    this.waiting = this.waiting.filter((entry) => !due(entry));
    const before = this.alive.length;
    this.alive = this.alive.filter((flash) => nowS - flash.bornS < LIFE_S).slice(-MAX);
    const position = this.points.geometry.getAttribute("position") as BufferAttribute;
    const look = this.points.geometry.getAttribute("look") as BufferAttribute;
    this.alive.forEach((flash, i) => {
      position.setXYZ(i, ...flash.position);
      look.setXY(i, flash.size, (nowS - flash.bornS) / LIFE_S);
    });
    position.needsUpdate = look.needsUpdate = true;
    this.points.geometry.setDrawRange(0, this.alive.length);
    const uniforms = this.points.material.uniforms as Record<"ratio" | "strength", { value: number }>;
    uniforms.ratio.value = ratio;
    // A hail must not hide what it falls on.
    uniforms.strength.value = 1 / (1 + this.alive.length / 40);
    return before > 0 || this.alive.length > 0;
  }
}
