// What can be said of recorded samples: frequencies, levels, decays.

/** In place, radix 2. */
function fft(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k++) {
      const [c, s] = [Math.cos((-2 * Math.PI * k) / size), Math.sin((-2 * Math.PI * k) / size)];
      for (let i = k; i < n; i += size) {
        const [u, v] = [c * re[i + half] - s * im[i + half], c * im[i + half] + s * re[i + half]];
        [re[i + half], im[i + half]] = [re[i] - u, im[i] - v];
        re[i] += u;
        im[i] += v;
      }
    }
  }
}

const hann = (i, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / n);

/** Power spectrum with a Hann window: `power[k]` is at `k * hz`. */
export function spectrum({ samples, rate }, size = 65536) {
  const [re, im] = [new Float64Array(size), new Float64Array(size)];
  const n = Math.min(size, samples.length);
  for (let i = 0; i < n; i++) re[i] = samples[i] * hann(i, n);
  fft(re, im);
  return { hz: rate / size, power: re.subarray(0, size / 2).map((x, k) => x * x + im[k] * im[k]) };
}

/** The strongest frequency, in Hz. */
export function peakHz(sound, lowHz = 30, highHz = 20_000) {
  const { hz, power } = spectrum(sound);
  let best = Math.max(1, Math.ceil(lowHz / hz));
  for (let k = best; k < Math.min(power.length - 1, highHz / hz); k++) if (power[k] > power[best]) best = k;
  const [a, b, c] = [best - 1, best, best + 1].map((k) => Math.log(power[k] + 1e-300));
  return (best + (0.5 * (a - c)) / (a - 2 * b + c || 1)) * hz;
}

/** Energy above a frequency beside that of all, in dB. */
export function highShareDb(sound, aboveHz = 4000) {
  const { hz, power } = spectrum(sound);
  const sum = (from) => power.subarray(from).reduce((total, value) => total + value, 0);
  return 10 * Math.log10(sum(Math.ceil(aboveHz / hz)) / sum(0) + 1e-30);
}

/** Level of one frequency, in dB. */
export function levelDb({ samples, rate }, hz, from = 0, length = samples.length) {
  let [re, im] = [0, 0];
  for (let i = 0; i < length; i++) {
    const x = (samples[from + i] ?? 0) * hann(i, length);
    re += x * Math.cos((2 * Math.PI * hz * i) / rate);
    im += x * Math.sin((2 * Math.PI * hz * i) / rate);
  }
  return 20 * Math.log10((4 * Math.hypot(re, im)) / length + 1e-30);
}

/** How fast one frequency decays, in 1/s: a line through its levels until they are 40 dB down. */
export function decayPerS(sound, hz, fromS = 0.05) {
  const window = 4096;
  const points = [];
  for (let at = Math.round(fromS * sound.rate); at + window <= sound.samples.length; at += window / 4) points.push([at / sound.rate, levelDb(sound, hz, at, window)]);
  const kept = points.slice(0, Math.max(4, points.findIndex(([, db]) => db < points[0][1] - 40) >>> 0));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [t, db] = [mean(kept.map(([time]) => time)), mean(kept.map(([, level]) => level))];
  const slope = kept.reduce((sum, [time, level]) => sum + (time - t) * (level - db), 0) / kept.reduce((sum, [time]) => sum + (time - t) ** 2, 0);
  return (-slope * Math.LN10) / 20;
}

/** Root mean square as a level, in dB. */
export function rmsDb({ samples }) {
  return 10 * Math.log10(samples.reduce((sum, x) => sum + x * x, 0) / samples.length + 1e-30);
}

export function peakDb({ samples }) {
  return 20 * Math.log10(samples.reduce((most, x) => Math.max(most, Math.abs(x)), 0) + 1e-30);
}

/** First bending frequency of a free bar (Euler and Bernoulli), in Hz: 22.373 / (2π L²) · t/√12 · √(E/ρ). */
export function barHz({ length, thickness, young, density }) {
  return ((22.3733 / (2 * Math.PI * length ** 2)) * (thickness / Math.sqrt(12)) * Math.sqrt(young / density));
}

/** Samples of a WAV file of 32-bit floats. */
export function readWav(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length; ) {
    const [id, size] = [bytes.toString("latin1", at, at + 4), view.getUint32(at + 4, true)];
    if (id === "data") return { channels: view.getUint16(22, true), rate: view.getUint32(24, true), data: Float32Array.from({ length: size / 4 }, (_, i) => view.getFloat32(at + 8 + 4 * i, true)) };
    at += 8 + size + (size % 2);
  }
  throw new Error("no samples in this file");
}

/** Stored files of a ZIP, by name. */
export function readZip(bytes) {
  const files = new Map();
  for (let at = 0; at + 30 < bytes.length && bytes.readUInt32LE(at) === 0x04034b50; ) {
    const [size, name, extra] = [bytes.readUInt32LE(at + 18), bytes.readUInt16LE(at + 26), bytes.readUInt16LE(at + 28)];
    const from = at + 30 + name + extra;
    files.set(bytes.toString("utf8", at + 30, at + 30 + name), bytes.subarray(from, from + size));
    at = from + size;
  }
  return files;
}
