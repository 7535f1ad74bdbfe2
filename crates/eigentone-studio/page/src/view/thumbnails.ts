/** Small pictures of shelf objects, drawn once with the same materials as the view. */

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, DirectionalLight, LatheGeometry, Mesh, PMREMGenerator, PerspectiveCamera, Scene, SphereGeometry,
  TorusGeometry, Vector2, Vector3, WebGLRenderer, ACESFilmicToneMapping,
} from "three";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import { bodyMaterial, dress } from "./looks";

const WIDTH = 200;
const HEIGHT = 150;

function lathe(points: [number, number][]): BufferGeometry {
  return new LatheGeometry(points.map(([x, y]) => new Vector2(x, y)), 48).rotateX(Math.PI / 2);
}

const tumbler = (base: number, rim: number, height: number) => (): BufferGeometry => lathe([[0, 0.02], [base * 0.95, 0.02], [base, 0.06], [rim, height]]);
const box = (x: number, y: number, z: number) => (): BufferGeometry => new BoxGeometry(x, y, z);
const rod = (radius: number, length: number) => (): BufferGeometry => new CylinderGeometry(radius, radius, length, 48).rotateX(Math.PI / 2);

/** Shapes by the names of shelf objects; what is not known is a box. */
const SHAPES: [RegExp, () => BufferGeometry][] = [
  [/bowl|cup/, () => lathe([[0, 0], [0.3, 0.02], [0.6, 0.15], [0.85, 0.42], [0.95, 0.7]])],
  [/bell/, () => lathe([[0, 1], [0.3, 0.97], [0.42, 0.8], [0.5, 0.4], [0.62, 0.14], [0.72, 0]])],
  [/bottle/, tumbler(0.35, 0.3, 2.2)],
  [/glass/, tumbler(0.3, 0.4, 1.1)],
  [/can|drum/, tumbler(0.37, 0.37, 1.1)],
  [/coin/, rod(0.7, 0.1)],
  [/gong|cymbal|disc/, rod(0.9, 0.03)],
  [/dinner|^plate|dish/, rod(0.85, 0.07)],
  [/ring|hoop/, () => new TorusGeometry(0.7, 0.06, 20, 72)],
  [/ball|marble|sphere/, () => new SphereGeometry(0.7, 40, 24)],
  [/rod|tube|pipe|stick|chime|cylinder/, () => new CylinderGeometry(0.05, 0.05, 2, 32).rotateZ(Math.PI / 2)],
  [/sheet|pane|table|tray/, box(1.5, 1.1, 0.015)],
  [/tile/, box(1.2, 1.2, 0.08)],
  [/brick/, box(1.4, 0.7, 0.42)],
  [/plank|board/, box(2, 0.4, 0.08)],
  [/key|xylo|marimba/, box(2, 0.28, 0.14)],
  [/bar|beam|ruler/, box(2, 0.32, 0.08)],
  [/.*/, box(0.9, 0.9, 0.9)],
];

function shapeOf(name: string): BufferGeometry {
  const geometry = (SHAPES.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? box(1, 1, 1))();
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
  draw(canvas: HTMLCanvasElement, name: string, material: string | undefined): void {
    const renderer = this.open();
    const geometry = shapeOf(name);
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
