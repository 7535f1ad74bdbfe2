/** Spectra of whole sounds, to be compared with the eye. */

/** Power of two of the transform: 1.4 s at 48 kHz. */
const SIZE = 65536;
/** Rows of the result per octave. */
const PER_OCTAVE = 48;
const MIN_HZ = 20;
const MAX_HZ = 20_000;

export interface Spectrum {
  hz: Float32Array;
  /** Relative to the highest peak. */
  db: Float32Array;
}

/** In place, radix 2; lengths are powers of two. */
export function fft(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j] as number, re[i] as number];
      [im[i], im[j]] = [im[j] as number, im[i] as number];
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k++) {
      const [c, s] = [Math.cos((-2 * Math.PI * k) / size), Math.sin((-2 * Math.PI * k) / size)];
      for (let i = k; i < n; i += size) {
        const [x, y] = [re[i + half] as number, im[i + half] as number];
        const [u, v] = [c * x - s * y, c * y + s * x];
        re[i + half] = (re[i] as number) - u;
        im[i + half] = (im[i] as number) - v;
        re[i] = (re[i] as number) + u;
        im[i] = (im[i] as number) + v;
      }
    }
  }
}

/** The first sample that is not quiet beside the loudest. */
function onset(sound: Float32Array): number {
  let peak = 0;
  for (const sample of sound) peak = Math.max(peak, Math.abs(sample));
  return Math.max(0, sound.findIndex((sample) => Math.abs(sample) > 0.05 * peak) - 64);
}

/** Spectrum of a blow from its onset on: the highest line of each 1/48 octave. */
export function spectrumOf(sound: Float32Array, rateHz: number): Spectrum {
  const re = new Float64Array(SIZE);
  const im = new Float64Array(SIZE);
  const from = onset(sound);
  const length = Math.min(SIZE, sound.length - from);
  // A blow decays by itself: only what is cut off at the end needs a window.
  for (let i = 0; i < length; i++) re[i] = (sound[from + i] as number) * (0.5 + 0.5 * Math.cos((Math.PI * i) / length));
  fft(re, im);
  const rows = Math.floor(PER_OCTAVE * Math.log2(Math.min(MAX_HZ, rateHz / 2) / MIN_HZ));
  const hz = new Float32Array(rows);
  const db = new Float32Array(rows);
  let top = -Infinity;
  for (let row = 0; row < rows; row++) {
    const low = MIN_HZ * 2 ** (row / PER_OCTAVE);
    const high = MIN_HZ * 2 ** ((row + 1) / PER_OCTAVE);
    let most = 0;
    for (let bin = Math.floor((low * SIZE) / rateHz); bin <= Math.ceil((high * SIZE) / rateHz); bin++) most = Math.max(most, (re[bin] as number) ** 2 + (im[bin] as number) ** 2);
    hz[row] = Math.sqrt(low * high);
    db[row] = 10 * Math.log10(most + 1e-30);
    top = Math.max(top, db[row] as number);
  }
  return { hz, db: db.map((value) => value - top) };
}
