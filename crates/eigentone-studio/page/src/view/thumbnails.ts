/** Small pictures of shelf objects: their own surfaces, drawn once with the same materials as the view. */

import { ACESFilmicToneMapping, DirectionalLight, Mesh, PMREMGenerator, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import type { MeshData } from "../net/binary";
import { drawn } from "./geometry";
import { bodyMaterial, dress } from "./looks";

const WIDTH = 200;
const HEIGHT = 150;
/** Share of the picture that the object fills. */
const FILL = 0.88;

export class Thumbnails {
  private renderer: WebGLRenderer | null = null;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(30, WIDTH / HEIGHT, 0.001, 1000);
  private idle = 0;
  private last: Promise<void> = Promise.resolve();

  /** Draws a surface into `canvas` when its turn comes: one at a time, so that the page answers while the shelf fills. */
  draw(canvas: HTMLCanvasElement, material: string | null, load: () => Promise<MeshData>): Promise<void> {
    const turn = this.last.then(async () => {
      try {
        const data = await load();
        await new Promise(requestAnimationFrame);
        this.paint(canvas, material, data);
      } catch {
        // Without a picture the object still has its name.
        canvas.hidden = true;
      }
    });
    this.last = turn;
    return turn;
  }

  private paint(canvas: HTMLCanvasElement, material: string | null, data: MeshData): void {
    const renderer = this.open();
    const { geometry } = drawn(data);
    const surface = bodyMaterial();
    dress(surface, material, true);
    const body = new Mesh(geometry, surface);
    this.aim(geometry.attributes["position"]?.array as Float32Array);
    this.scene.add(body);
    renderer.render(this.scene, this.camera);
    this.scene.remove(body);
    canvas.width = WIDTH;
    canvas.height = HEIGHT;
    canvas.getContext("2d")?.drawImage(renderer.domElement, 0, 0);
    geometry.dispose();
    surface.dispose();
  }

  /** Moves the camera back until every corner is in the picture, and the picture is full. */
  private aim(positions: Float32Array): void {
    const { camera } = this;
    const back = new Vector3(0.55, -1, 0.62).normalize();
    const right = new Vector3(0, 0, 1).cross(back).normalize();
    const up = back.clone().cross(right);
    const tangent = Math.tan(((camera.fov / 2) * Math.PI) / 180) * FILL;
    const corner = new Vector3();
    const range = { right: [Infinity, -Infinity], up: [Infinity, -Infinity] };
    const each = (visit: () => void): void => {
      for (let i = 0; i < positions.length; i += 3) {
        corner.fromArray(positions, i);
        visit();
      }
    };
    each(() => {
      for (const [axis, limits] of [[right, range.right], [up, range.up]] as const) {
        limits[0] = Math.min(limits[0] as number, corner.dot(axis));
        limits[1] = Math.max(limits[1] as number, corner.dot(axis));
      }
    });
    const middle = (limits: number[]): number => ((limits[0] as number) + (limits[1] as number)) / 2;
    const [x, y] = [middle(range.right), middle(range.up)];
    let distance = 0;
    each(() => {
      const [dx, dy, towards] = [Math.abs(corner.dot(right) - x), Math.abs(corner.dot(up) - y), corner.dot(back)];
      distance = Math.max(distance, towards + dx / (tangent * camera.aspect), towards + dy / tangent);
    });
    camera.up.set(0, 0, 1);
    camera.position.set(0, 0, 0).addScaledVector(right, x).addScaledVector(up, y).addScaledVector(back, distance);
    camera.lookAt(corner.copy(camera.position).sub(back));
    camera.updateMatrixWorld();
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
