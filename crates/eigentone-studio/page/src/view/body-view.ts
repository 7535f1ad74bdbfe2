/** One body on the screen. */

import { BackSide, Color, Mesh, MeshBasicMaterial, SRGBColorSpace, type Texture, type WebGLProgramParametersWithUniforms } from "three";
import type { Body } from "../net/protocol";
import { drawn, reshape, type Drawn } from "./geometry";
import { bodyMaterial, dress, type BodyMaterial } from "./looks";
import type { MeshData } from "../net/binary";
import type { Pose } from "./poses";

/** Bodies larger than this, such as floors, do not count when the camera looks for what to show, in m. */
export const LARGE_M = 8;
const GLOW_FROM_DB = 25;
const GLOW_TO_DB = 95;
const GLOW_COLOR = new Color("#ff9a3c");

const outlineMaterial = new MeshBasicMaterial({ color: "#f2a94b", side: BackSide });
outlineMaterial.onBeforeCompile = (shader: WebGLProgramParametersWithUniforms) => {
  // Pushed outwards by about two pixels, whatever the distance.
  shader.vertexShader = shader.vertexShader.replace(
    "#include <project_vertex>",
    "#include <project_vertex>\nvec3 outward = normalize(normalMatrix * normal);\nmvPosition.xyz += outward * 0.0028 * -mvPosition.z;\ngl_Position = projectionMatrix * mvPosition;",
  );
};

export class BodyView {
  readonly mesh: Mesh<Drawn["geometry"], BodyMaterial>;
  private readonly outline: Mesh;
  private shape: Drawn;
  /** Its surface at rest, as it came. */
  rest: Float32Array;
  private bent: Float32Array | null = null;
  private modeScale = 0;
  private emphasis = 0;

  constructor(
    public body: Body,
    data: MeshData,
  ) {
    this.shape = drawn(data);
    this.rest = data.positions;
    this.mesh = new Mesh(this.shape.geometry, bodyMaterial());
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.userData["body"] = body.id;
    this.outline = new Mesh(this.shape.geometry, outlineMaterial);
    this.outline.visible = false;
    this.outline.raycast = () => {};
    this.mesh.add(this.outline);
    this.update(body);
  }

  get radius(): number {
    return (this.shape.geometry.boundingSphere?.radius ?? 0) * this.mesh.scale.x;
  }

  get outlined(): boolean {
    return this.outline.visible;
  }

  get vertices(): number {
    return this.shape.vertices;
  }

  update(body: Body): void {
    this.body = body;
    dress(this.mesh.material, body.material, body.sounds);
    if (body.color) this.mesh.material.color.setRGB(...body.color, SRGBColorSpace);
    // A floor without end is drawn by the ground.
    this.mesh.material.visible = body.sounds || this.radius < LARGE_M;
    this.mesh.castShadow = this.mesh.material.visible;
  }

  setMesh(data: MeshData): void {
    this.shape.geometry.dispose();
    this.shape = drawn(data);
    this.rest = data.positions;
    this.mesh.geometry = this.outline.geometry = this.shape.geometry;
    this.modeScale = 0;
  }

  /** Lays a picture over the body, or takes it away. */
  setMap(picture: Texture | null): void {
    this.mesh.material.map?.dispose();
    this.mesh.material.map = picture;
    this.mesh.material.needsUpdate = true;
  }

  place(pose: Pose): void {
    // A soft body's surface is in the world already.
    if (this.body.shape !== "soft") {
      this.mesh.position.copy(pose.position);
      this.mesh.quaternion.copy(pose.rotation);
    }
    const share = pose.sounding ? Math.min(1, Math.max(0, (pose.levelDb - GLOW_FROM_DB) / (GLOW_TO_DB - GLOW_FROM_DB))) : 0;
    this.mesh.material.emissive.copy(GLOW_COLOR);
    this.mesh.material.emissiveIntensity = 0.32 * share * share + this.emphasis;
  }

  /** Gives the surface another form; false if it has that already or these are not its vertices. */
  bend(positions: Float32Array): boolean {
    if (positions.length !== 3 * this.shape.vertices || positions === this.bent) return false;
    this.bent = positions;
    reshape(this.shape, positions);
    return true;
  }

  setEmphasis(selected: boolean, hovered: boolean): void {
    // The outline does not bend with a mode.
    this.outline.visible = selected && this.modeScale === 0;
    this.emphasis = hovered ? 0.05 : 0;
  }

  /** Bends the body into a mode's shape; null straightens it. */
  setModeShape(shape: Float32Array | null): void {
    const attribute = this.shape.geometry.getAttribute("modeShape");
    const array = attribute.array as Float32Array;
    if (shape) {
      this.shape.corner.forEach((vertex, corner) => array.set(shape.subarray(3 * vertex, 3 * vertex + 3), 3 * corner));
      this.modeScale = 0.12 * (this.shape.geometry.boundingSphere?.radius ?? 1);
    } else {
      array.fill(0);
      this.modeScale = 0;
    }
    attribute.needsUpdate = true;
    this.animateMode(0);
  }

  animateMode(seconds: number): void {
    const { amount, glow } = this.mesh.material.userData;
    amount.value = this.modeScale * Math.sin(2 * Math.PI * 1.1 * seconds);
    glow.value = this.modeScale > 0 ? 0.55 : 0;
  }

  dispose(): void {
    this.shape.geometry.dispose();
    this.mesh.material.map?.dispose();
    this.mesh.material.dispose();
  }
}
