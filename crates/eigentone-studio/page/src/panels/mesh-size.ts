/** How large a mesh file says it is, to guess its unit before it is sent. Formats: OBJ, STL, GLB and glTF; others are not looked into. */

const LARGEST_READ = 16 * 1024 * 1024;

type Extent = [number, number, number];

class Bounds {
  private readonly low: Extent = [Infinity, Infinity, Infinity];
  private readonly high: Extent = [-Infinity, -Infinity, -Infinity];

  add(point: ArrayLike<number>): void {
    for (let k = 0; k < 3; k++) {
      const value = point[k] as number;
      if (!Number.isFinite(value)) continue;
      this.low[k] = Math.min(this.low[k] as number, value);
      this.high[k] = Math.max(this.high[k] as number, value);
    }
  }

  get extent(): Extent | null {
    const size = this.high.map((value, k) => value - (this.low[k] as number)) as Extent;
    return size.every(Number.isFinite) && Math.max(...size) > 0 ? size : null;
  }
}

/** Lengths of the sides in the file's own unit; null if that is not known. */
export async function fileExtent(file: File): Promise<Extent | null> {
  if (file.size > LARGEST_READ) return null;
  try {
    const bytes = await file.arrayBuffer();
    if (/\.obj$/i.test(file.name)) return ofLines(new TextDecoder().decode(bytes), /^v\s+(\S+)\s+(\S+)\s+(\S+)/gm);
    if (/\.stl$/i.test(file.name)) return ofStl(bytes);
    if (/\.glb$/i.test(file.name)) return ofGltf(new TextDecoder().decode(bytes.slice(20, 20 + new DataView(bytes).getUint32(12, true))));
    if (/\.gltf$/i.test(file.name)) return ofGltf(new TextDecoder().decode(bytes));
  } catch {
    /* The server says what is wrong with a file. */
  }
  return null;
}

function ofLines(text: string, pattern: RegExp): Extent | null {
  const bounds = new Bounds();
  for (const match of text.matchAll(pattern)) bounds.add(match.slice(1, 4).map(Number));
  return bounds.extent;
}

function ofStl(bytes: ArrayBuffer): Extent | null {
  const view = new DataView(bytes);
  const triangles = bytes.byteLength >= 84 ? view.getUint32(80, true) : 0;
  if (bytes.byteLength !== 84 + 50 * triangles) return ofLines(new TextDecoder().decode(bytes), /vertex\s+(\S+)\s+(\S+)\s+(\S+)/g);
  const bounds = new Bounds();
  for (let t = 0; t < triangles; t++) {
    for (let corner = 0; corner < 3; corner++) bounds.add([0, 4, 8].map((k) => view.getFloat32(84 + 50 * t + 12 + 12 * corner + k, true)));
  }
  return bounds.extent;
}

interface Gltf {
  accessors?: { min?: number[]; max?: number[] }[];
  meshes?: { primitives?: { attributes?: { POSITION?: number } }[] }[];
  nodes?: { scale?: number[]; matrix?: number[] }[];
}

/** glTF is in metres by its standard, and accessors of positions must say their bounds. */
function ofGltf(json: string): Extent | null {
  const gltf = JSON.parse(json) as Gltf;
  // Scaled nodes would need the whole tree.
  if (gltf.nodes?.some(({ scale, matrix }) => scale || matrix)) return null;
  const bounds = new Bounds();
  for (const { primitives } of gltf.meshes ?? []) {
    for (const { attributes } of primitives ?? []) {
      const accessor = gltf.accessors?.[attributes?.POSITION ?? -1];
      if (accessor?.min) bounds.add(accessor.min);
      if (accessor?.max) bounds.add(accessor.max);
    }
  }
  return bounds.extent;
}

/** Metres if that makes a thing one can handle, else the first of millimetres and centimetres that does. */
export function guessScale(extent: Extent): number {
  const largest = Math.max(...extent);
  return [1, 0.001, 0.01].find((scale) => largest * scale >= 0.01 && largest * scale <= 3) ?? 1;
}
