/** Renderer, camera, light and ground. */

import {
  ACESFilmicToneMapping, Color, DirectionalLight, HemisphereLight, Mesh, PCFShadowMap, PMREMGenerator, PerspectiveCamera, PlaneGeometry, Scene,
  ShaderMaterial, ShadowMaterial, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import { frugal } from "../ui/frames";
import { theme } from "../ui/theme";

/** Slower than this for a while, and shadows, then sharpness are given up. */
const SLOW_FRAME_S = 0.045;

/** Pixels of the picture per pixel of the page where the processor draws them: the cost is almost all in their number. */
const FRUGAL_RATIO = 0.6;

/**
 * Whether the browser has no graphics hardware: then the same processor draws and sounds, and what a picture costs is given up at once and not after seconds of
 * stumbling. `graphics=full` in the address' fragment asks for everything all the same.
 */
function drawnByProcessor(): boolean {
  if (new URLSearchParams(location.hash.slice(1)).get("graphics") === "full") return false;
  const context = document.createElement("canvas").getContext("webgl2");
  if (!context) return false;
  const about = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(about?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** Lines one pixel wide that fade with the distance from the middle. */
function gridMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: { color: { value: new Color() }, cell: { value: 1 }, reach: { value: 7 } },
    vertexShader: `varying vec2 place; varying vec2 away;
      void main() { vec4 world = modelMatrix * vec4(position, 1.0); place = world.xy; away = world.xy - modelMatrix[3].xy; gl_Position = projectionMatrix * viewMatrix * world; }`,
    fragmentShader: `varying vec2 place; varying vec2 away; uniform vec3 color; uniform float cell; uniform float reach;
      float lines(vec2 p) { vec2 w = fwidth(p); vec2 d = abs(fract(p - 0.5) - 0.5) / w; return (1.0 - min(min(d.x, d.y), 1.0)) * (1.0 - smoothstep(0.2, 0.7, max(w.x, w.y))); }
      void main() { float fade = 1.0 - smoothstep(0.0, 1.0, length(away) / reach);
        gl_FragColor = vec4(color, fade * (0.28 * lines(place / cell) + 0.5 * lines(place / (10.0 * cell))));
        #include <colorspace_fragment>
      }`,
  });
}

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(40, 1, 0.01, 500);
  readonly controls: OrbitControls;
  private readonly sun = new DirectionalLight("#fff4e0", 2.2);
  private readonly sky = new HemisphereLight("#dfe9ff", "#3a3530", 0.5);
  private readonly ground: Mesh;
  private readonly grid = new Mesh(new PlaneGeometry(1, 1), gridMaterial());
  private meanFrameS = 0.016;
  private economy = 0;
  private size = 1;
  private stale = true;
  private drewLast = false;

  constructor(readonly canvas: HTMLCanvasElement) {
    frugal.value = drawnByProcessor();
    this.renderer = new WebGLRenderer({ canvas, antialias: !frugal.value, powerPreference: "high-performance" });
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    if (!frugal.value) this.reflect();
    this.scene.add(this.sky, this.sun, this.sun.target);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    this.ground = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.35 }));
    this.ground.receiveShadow = true;
    this.ground.raycast = () => {};
    this.grid.raycast = () => {};
    this.scene.add(this.ground, this.grid);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(1.2, -2, 1.2);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.15;
    this.controls.zoomToCursor = true;
    theme.subscribe(() => this.dress());
    if (frugal.value) this.economise();
  }

  /** Metal shines because a room is mirrored in it. */
  private reflect(): void {
    const generator = new PMREMGenerator(this.renderer);
    this.scene.environment = generator.fromScene(new RoomEnvironment(), 0.04).texture;
    // The room was built with y up.
    this.scene.environmentRotation.x = Math.PI / 2;
    generator.dispose();
  }

  /** Looks at everything within `radius` around `center`. */
  frame(center: Vector3, radius: number): void {
    const distance = radius / Math.sin((this.camera.fov * Math.PI) / 360);
    const aspect = Math.min(1, this.camera.aspect);
    const direction = new Vector3(0.45, -1, 0.62).normalize();
    // A little below the middle: the mallets cover the lower edge of the view.
    this.controls.target.copy(center).addScaledVector(this.camera.up, -0.16 * radius);
    this.camera.position.copy(this.controls.target).addScaledVector(direction, distance / aspect);
    this.camera.near = Math.max(0.001, radius / 200);
    this.camera.far = 400 * radius + 100;
    this.camera.updateProjectionMatrix();
    this.stale = true;
    this.size = radius;
    this.sun.position.copy(center).add(new Vector3(-1.2, -0.8, 2.6).multiplyScalar(2 * radius));
    this.sun.target.position.copy(center);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -2.2 * radius;
    shadow.right = shadow.top = 2.2 * radius;
    shadow.near = 0.1 * radius;
    shadow.far = 14 * radius;
    shadow.updateProjectionMatrix();
    // Three texels of the map.
    this.sun.shadow.normalBias = (3 * 4.4 * radius) / 1024;
    this.ground.scale.setScalar(60 * radius);
    this.grid.scale.setScalar(16 * radius);
    this.grid.position.set(center.x, center.y, this.grid.position.z);
    this.dress();
  }

  setGround(z: number): void {
    this.ground.position.z = z - 0.0005 * this.size;
    this.grid.position.z = z - 0.001 * this.size;
  }

  resize(width: number, height: number): void {
    this.stale = true;
    this.renderer.setPixelRatio(frugal.value ? FRUGAL_RATIO : this.economy > 1 ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  /** Draws if the camera moved or `changed` says that anything else did: a still picture costs nothing. */
  render(elapsedS: number, changed: boolean): void {
    const moved = this.controls.update();
    if (!moved && !changed && !this.stale) {
      this.drewLast = false;
      return;
    }
    this.stale = false;
    this.renderer.render(this.scene, this.camera);
    const consecutive = this.drewLast;
    this.drewLast = true;
    if (document.hidden || elapsedS > 1 || !consecutive) return;
    this.meanFrameS += 0.03 * (elapsedS - this.meanFrameS);
    if (this.meanFrameS > SLOW_FRAME_S && this.economy < 2) this.economise();
  }

  private economise(): void {
    this.stale = true;
    this.economy++;
    this.meanFrameS = 0.016;
    if (this.economy === 1) {
      this.renderer.shadowMap.enabled = false;
      this.sun.castShadow = false;
      this.ground.visible = false;
    } else if (!frugal.value) {
      this.renderer.setPixelRatio(1);
    }
  }

  private dress(): void {
    this.stale = true;
    const light = theme.value === "light";
    this.scene.background = new Color(light ? "#dfe3e9" : "#16191e");
    this.scene.environmentIntensity = light ? 0.75 : 0.55;
    // Without the room around, its light has to come from the sky.
    this.sky.intensity = frugal.value ? (light ? 3.2 : 2.4) : 0.5;
    this.renderer.toneMappingExposure = light ? 1.05 : 1;
    const uniforms = this.grid.material.uniforms as Record<"color" | "cell" | "reach", { value: unknown }>;
    uniforms.color.value = new Color(light ? "#8d97a6" : "#5a6473");
    // Cells of 1, 0.1, 0.01 … m, whichever gives a few per body.
    uniforms.cell.value = 10 ** Math.floor(Math.log10(Math.max(this.size, 1e-3)));
    uniforms.reach.value = 7 * this.size;
  }
}
