/** Rooms in the view: their walls, and a slice through what is heard in them. */

import {
  Box3, BufferAttribute, BufferGeometry, DataTexture, DoubleSide, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshStandardMaterial,
  NearestFilter, Plane, PlaneGeometry, SRGBColorSpace, Vector3, type Ray,
} from "three";
import type { MeshData } from "../net/binary";
import { valueAt, type Slice } from "../net/field";
import type { Scale } from "./colors";

const WALL_OPACITY = 0.13;

export class FieldView {
  readonly group = new Group();
  /** Around all walls; empty without any. */
  readonly bounds = new Box3();
  slice: Slice | null = null;
  private readonly walls = new Mesh(new BufferGeometry(), new MeshStandardMaterial({ color: "#b9c4d4", roughness: 0.9, transparent: true, opacity: WALL_OPACITY, depthWrite: false, side: DoubleSide }));
  private readonly ceiling = new Mesh(new BufferGeometry(), this.walls.material);
  private readonly edges = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: "#8fa3bd", transparent: true, opacity: 0.55 }));
  private readonly plane = new Mesh(new PlaneGeometry(1, 1), new MeshBasicMaterial({ toneMapped: false, alphaTest: 0.5, side: DoubleSide }));

  /** `changed` is told of everything that is to be drawn anew. */
  constructor(private readonly changed: () => void) {
    // Nothing of this is struck or grabbed.
    for (const part of [this.walls, this.ceiling, this.edges, this.plane]) part.raycast = () => {};
    this.plane.visible = false;
    this.ceiling.visible = false;
    this.group.add(this.walls, this.ceiling, this.edges, this.plane);
  }

  /** Shows walls; null for none. Ceilings are not drawn while one looks in from above. */
  setWalls(mesh: MeshData | null): void {
    for (const part of [this.walls, this.ceiling, this.edges]) {
      part.geometry.dispose();
      part.geometry = new BufferGeometry();
    }
    this.bounds.makeEmpty();
    if (mesh) {
      this.bounds.setFromArray(mesh.positions);
      const top = this.bounds.max.z;
      const split: [number[], number[]] = [[], []];
      for (let at = 0; at < mesh.triangles.length; at += 3) {
        const corners = [0, 1, 2].map((k) => new Vector3().fromArray(mesh.positions, 3 * (mesh.triangles[at + k] as number)));
        const flat = corners.every((corner) => Math.abs(corner.z - (corners[0] as Vector3).z) < 1e-3);
        const high = flat && (corners[0] as Vector3).z > this.bounds.min.z + 0.75 * (top - this.bounds.min.z);
        for (const corner of corners) split[high ? 1 : 0].push(...corner.toArray());
      }
      this.walls.geometry = flatGeometry(split[0]);
      this.ceiling.geometry = flatGeometry(split[1]);
      this.edges.geometry = new EdgesGeometry(this.walls.geometry, 30);
    }
    this.changed();
  }

  /** Rooms as they look from inside, or translucent from outside. */
  setInside(inside: boolean): void {
    const material = this.walls.material;
    material.transparent = !inside;
    material.depthWrite = inside;
    material.opacity = inside ? 1 : WALL_OPACITY;
    material.needsUpdate = true;
    this.ceiling.visible = inside;
    this.changed();
  }

  setSlice(slice: Slice | null, scale: Scale | null): void {
    this.slice = slice;
    this.plane.visible = slice !== null;
    this.changed();
    if (!slice || !scale) return;
    const pixels = new Uint8Array(4 * slice.values.length);
    slice.values.forEach((value, at) => {
      if (Number.isFinite(value)) pixels.set([...scale.color(value), 255], 4 * at);
    });
    const texture = new DataTexture(pixels, slice.columns, slice.rows);
    texture.colorSpace = SRGBColorSpace;
    texture.magFilter = texture.minFilter = NearestFilter;
    texture.needsUpdate = true;
    this.plane.material.map?.dispose();
    this.plane.material.map = texture;
    this.plane.material.needsUpdate = true;
    const [width, depth] = [slice.columns * slice.stepM, slice.rows * slice.stepM];
    this.plane.scale.set(width, depth, 1);
    this.plane.position.set(slice.corner[0] + width / 2, slice.corner[1] + depth / 2, slice.heightM);
  }

  /** The value of the slice where a ray meets it, and where that is. */
  under(ray: Ray): { value: number; x: number; y: number } | null {
    if (!this.slice || !this.plane.visible) return null;
    const point = ray.intersectPlane(new Plane(new Vector3(0, 0, 1), -this.slice.heightM), new Vector3());
    if (!point) return null;
    const value = valueAt(this.slice, point.x, point.y);
    return Number.isFinite(value) ? { value, x: point.x, y: point.y } : null;
  }
}

/** Triangles without common corners, each with its own normal. */
function flatGeometry(corners: number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(corners), 3));
  geometry.computeVertexNormals();
  return geometry;
}
