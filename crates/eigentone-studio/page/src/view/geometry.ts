/** Surfaces for drawing: corners of their own where the surface has an edge, so that edges look sharp and curves look round. */

import { BufferAttribute, BufferGeometry } from "three";
import type { MeshData } from "../net/binary";

/** Faces that meet at less than this look like one curve, in cosine: 40 degrees. */
const CREASE_COSINE = Math.cos((40 * Math.PI) / 180);

/** `corner` names the mesh's vertex of each drawn corner, for mode shapes. */
export interface Drawn {
  geometry: BufferGeometry;
  corner: Uint32Array;
  vertices: number;
  /** Around each vertex, once they were needed. */
  faces?: FaceLists;
}

/** Moves the vertices of a surface, and turns its normals with them. */
export function reshape(shape: Drawn, positions: Float32Array): void {
  const { geometry, corner } = shape;
  const normals = normalsOfFaces(positions, corner);
  shape.faces ??= facesOfVertices(corner, shape.vertices);
  const position = geometry.getAttribute("position");
  const normal = geometry.getAttribute("normal");
  corner.forEach((vertex, c) => {
    (position.array as Float32Array).set(positions.subarray(3 * vertex, 3 * vertex + 3), 3 * c);
    smoothNormal(normal.array as Float32Array, c, Math.floor(c / 3), shape.faces as FaceLists, vertex, normals);
  });
  position.needsUpdate = normal.needsUpdate = true;
  geometry.computeBoundingSphere();
  geometry.computeBoundingBox();
}

export function drawn(mesh: MeshData): Drawn {
  const { positions, triangles } = mesh;
  const vertices = positions.length / 3;
  const faceNormals = normalsOfFaces(positions, triangles);
  const faces = facesOfVertices(triangles, vertices);
  const corners = triangles.length;
  const position = new Float32Array(3 * corners);
  const normal = new Float32Array(3 * corners);
  for (let c = 0; c < corners; c++) {
    const vertex = triangles[c] as number;
    const face = Math.floor(c / 3);
    position.set(positions.subarray(3 * vertex, 3 * vertex + 3), 3 * c);
    smoothNormal(normal, c, face, faces, vertex, faceNormals);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(position, 3));
  geometry.setAttribute("normal", new BufferAttribute(normal, 3));
  geometry.setAttribute("modeShape", new BufferAttribute(new Float32Array(3 * corners), 3));
  geometry.setAttribute("uv", new BufferAttribute(mapPlaces(position), 2));
  geometry.computeBoundingSphere();
  geometry.computeBoundingBox();
  return { geometry, corner: triangles, vertices };
}

/** Where a picture that is laid over the body along its z axis has each corner. */
function mapPlaces(position: Float32Array): Float32Array {
  const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]] as [number[], number[]];
  for (let i = 0; i < position.length; i++) {
    const axis = i % 3;
    if (axis === 2) continue;
    low[axis] = Math.min(low[axis] as number, position[i] as number);
    high[axis] = Math.max(high[axis] as number, position[i] as number);
  }
  const places = new Float32Array((2 * position.length) / 3);
  for (let i = 0; i < places.length; i++) {
    const axis = i % 2;
    const value = position[3 * Math.floor(i / 2) + axis] as number;
    places[i] = (value - (low[axis] as number)) / ((high[axis] as number) - (low[axis] as number) || 1);
  }
  return places;
}

/** Not normalised: length is twice the area, so that large faces count more. */
function normalsOfFaces(p: Float32Array, triangles: Uint32Array): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * (triangles[t] as number), 3 * (triangles[t + 1] as number), 3 * (triangles[t + 2] as number)];
    const at = (i: number): number => p[i] as number;
    const [ux, uy, uz] = [at(b) - at(a), at(b + 1) - at(a + 1), at(b + 2) - at(a + 2)];
    const [vx, vy, vz] = [at(c) - at(a), at(c + 1) - at(a + 1), at(c + 2) - at(a + 2)];
    normals[t] = uy * vz - uz * vy;
    normals[t + 1] = uz * vx - ux * vz;
    normals[t + 2] = ux * vy - uy * vx;
  }
  return normals;
}

interface FaceLists {
  start: Uint32Array;
  list: Uint32Array;
}

function facesOfVertices(triangles: Uint32Array, vertices: number): FaceLists {
  const start = new Uint32Array(vertices + 1);
  for (const vertex of triangles) start[vertex + 1] = (start[vertex + 1] as number) + 1;
  for (let v = 0; v < vertices; v++) start[v + 1] = (start[v + 1] as number) + (start[v] as number);
  const next = start.slice();
  const list = new Uint32Array(triangles.length);
  triangles.forEach((vertex, corner) => {
    const at = next[vertex] as number;
    list[at] = Math.floor(corner / 3);
    next[vertex] = at + 1;
  });
  return { start, list };
}

function smoothNormal(out: Float32Array, corner: number, face: number, faces: FaceLists, vertex: number, n: Float32Array): void {
  const own = 3 * face;
  const [ox, oy, oz] = [n[own] as number, n[own + 1] as number, n[own + 2] as number];
  const ownLength = Math.hypot(ox, oy, oz) || 1;
  let [x, y, z] = [0, 0, 0];
  for (let i = faces.start[vertex] as number; i < (faces.start[vertex + 1] as number); i++) {
    const other = 3 * (faces.list[i] as number);
    const [ax, ay, az] = [n[other] as number, n[other + 1] as number, n[other + 2] as number];
    const cosine = (ax * ox + ay * oy + az * oz) / (ownLength * (Math.hypot(ax, ay, az) || 1));
    if (cosine < CREASE_COSINE) continue;
    x += ax;
    y += ay;
    z += az;
  }
  const length = Math.hypot(x, y, z) || 1;
  out[3 * corner] = x / length;
  out[3 * corner + 1] = y / length;
  out[3 * corner + 2] = z / length;
}
