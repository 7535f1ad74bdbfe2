/** Small pictures of shelf objects, drawn once with the same materials as the view. */

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, DirectionalLight, LatheGeometry, Mesh, PMREMGenerator, PerspectiveCamera, Scene, SphereGeometry,
  TorusGeometry, Vector2, Vector3, WebGLRenderer, ACESFilmicToneMapping,
} from "three";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import type { MeshData } from "../net/binary";
import { drawn } from "./geometry";
import { bodyMaterial, dress } from "./looks";

const WIDTH = 200;
const HEIGHT = 150;

function lathe(points: [number, number][]): BufferGeometry {
  return new LatheGeometry(points.map(([x, y]) => new Vector2(x, y)), 48).rotateX(Math.PI / 2);
}

/** Guesses a shape from an object's name; the server's own mesh is better where there is one. */
const GUESSES: [RegExp, () => BufferGeometry][] = [
  [/bowl|cup/, () => lathe([[0, 0], [0.3, 0.02], [0.6, 0.15], [0.85, 0.42], [0.95, 0.7]])],
  [/bell/, () => lathe([[0, 1], [0.3, 0.97], [0.42, 0.8], [0.5, 0.4], [0.65, 0.12], [0.85, 0]])],
  [/glass|goblet|bottle|vase/, () => lathe([[0, 0], [0.45, 0], [0.45, 0.05], [0.08, 0.1], [0.08, 0.6], [0.4, 0.85], [0.48, 1.3], [0.42, 1.7]])],
  [/gong|cymbal|disc|pan|lid|dish/, () => lathe([[0, 0.14], [0.15, 0.12], [0.2, 0.05], [0.9, 0.02], [1, -0.12]])],
  [/drum|can|bin|barrel|pot/, () => new CylinderGeometry(0.6, 0.6, 1.1, 48).rotateX(Math.PI / 2)],
  [/tube|pipe|rod|stick|chime/, () => new CylinderGeometry(0.09, 0.09, 2, 32).rotateZ(Math.PI / 2)],
  [/ring|hoop|torus/, () => new TorusGeometry(0.7, 0.12, 24, 64)],
  [/ball|sphere|marble|bead/, () => new SphereGeometry(0.7, 40, 24)],
  [/bar|xylo|marimba|ruler|beam|plank|key|fork/, () => new BoxGeometry(2, 0.34, 0.12)],
  [/plate|sheet|pane|table|tray|board|tile|panel/, () => new BoxGeometry(1.5, 1.1, 0.03)],
  [/cylinder/, () => new CylinderGeometry(0.45, 0.45, 1.2, 48).rotateX(Math.PI / 2)],
  [/.*/, () => new BoxGeometry(0.9, 0.9, 0.9)],
];

export function guessedShape(name: string): BufferGeometry {
  const geometry = (GUESSES.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? (() => new BoxGeometry()))();
  const corners = (geometry.getAttribute("position") as BufferAttribute).count;
  geometry.setAttribute("modeShape", new BufferAttribute(new Float32Array(3 * corners), 3));
  return geometry;
}

export class Thumbnails {
  private renderer: WebGLRenderer | null = null;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(30, WIDTH / HEIGHT, 0.001, 1000);
  private idle = 0;

  /** Draws an object into `canvas`. */
  draw(canvas: HTMLCanvasElement, name: string, material: string | undefined, mesh: MeshData | null): void {
    const renderer = this.open();
    const geometry = mesh ? drawn(mesh).geometry : guessedShape(name);
    const surface = bodyMaterial();
    dress(surface, material ?? null, true);
    const body = new Mesh(geometry, surface);
    geometry.computeBoundingSphere();
    const sphere = geometry.boundingSphere;
    const radius = sphere?.radius || 1;
    const center = sphere?.center ?? new Vector3();
    this.camera.up.set(0, 0, 1);
    this.camera.position.copy(center).addScaledVector(new Vector3(0.55, -1, 0.7).normalize(), (0.92 * radius) / Math.sin((15 * Math.PI) / 180));
    this.camera.lookAt(center);
    this.scene.add(body);
    renderer.render(this.scene, this.camera);
    this.scene.remove(body);
    canvas.width = WIDTH;
    canvas.height = HEIGHT;
    canvas.getContext("2d")?.drawImage(renderer.domElement, 0, 0);
    geometry.dispose();
    surface.dispose();
  }

  private open(): WebGLRenderer {
    clearTimeout(this.idle);
    // Browsers allow few WebGL contexts: this one goes when the shelf is drawn.
    this.idle = window.setTimeout(() => this.close(), 5000);
    if (this.renderer) return this.renderer;
    const renderer = new WebGLRenderer({ alpha: true, antialias: true, preserveDrawingBuffer: true });
    renderer.setSize(WIDTH, HEIGHT, false);
    renderer.toneMapping = ACESFilmicToneMapping;
    const generator = new PMREMGenerator(renderer);
    this.scene.environment = generator.fromScene(new RoomEnvironment(), 0.04).texture;
    this.scene.environmentRotation.x = Math.PI / 2;
    this.scene.environmentIntensity = 0.8;
    generator.dispose();
    const sun = new DirectionalLight("#fff4e0", 2);
    sun.position.set(-1, -1, 2);
    this.scene.add(sun);
    this.renderer = renderer;
    return renderer;
  }

  private close(): void {
    this.scene.clear();
    this.scene.environment?.dispose();
    this.scene.environment = null;
    this.renderer?.dispose();
    this.renderer?.forceContextLoss();
    this.renderer = null;
  }
}
