/** Loudness by ITU-R BS.1770-4: K-weighting, and the loudest 400 ms. The biquads are the standard's in analogue form, brought to any sample rate. */

const WINDOW_S = 0.4;
const STEP_S = 0.05;

interface Biquad {
  b: [number, number, number];
  a: [number, number];
}

function shelf(rateHz: number): Biquad {
  const [f0, gainDb, q] = [1681.974450955533, 3.999843853973347, 0.7071752369554196];
  const k = Math.tan((Math.PI * f0) / rateHz);
  const vh = 10 ** (gainDb / 20);
  const vb = vh ** 0.4996667741545416;
  const a0 = 1 + k / q + k * k;
  return {
    b: [(vh + (vb * k) / q + k * k) / a0, (2 * (k * k - vh)) / a0, (vh - (vb * k) / q + k * k) / a0],
    a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0],
  };
}

function highPass(rateHz: number): Biquad {
  const [f0, q] = [38.13547087602444, 0.5003270373238773];
  const k = Math.tan((Math.PI * f0) / rateHz);
  const a0 = 1 + k / q + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0] };
}

function filter({ b, a }: Biquad, samples: Float64Array): void {
  let [m0, m1] = [0, 0];
  for (let i = 0; i < samples.length; i++) {
    const x = samples[i] as number;
    const y = b[0] * x + m0;
    m0 = b[1] * x - a[0] * y + m1;
    m1 = b[2] * x - a[1] * y;
    samples[i] = y;
  }
}

/** Loudness of the loudest 400 ms of one channel, in LUFS; shorter sounds count as if silence followed. */
export function loudestLufs(sound: Float32Array, rateHz: number): number {
  const weighted = Float64Array.from(sound);
  filter(shelf(rateHz), weighted);
  filter(highPass(rateHz), weighted);
  const energy = new Float64Array(weighted.length + 1);
  for (let i = 0; i < weighted.length; i++) energy[i + 1] = (energy[i] as number) + (weighted[i] as number) ** 2;
  const window = Math.round(WINDOW_S * rateHz);
  const step = Math.max(1, Math.round(STEP_S * rateHz));
  let most = 0;
  for (let from = 0; from < weighted.length; from += step) {
    const to = Math.min(weighted.length, from + window);
    most = Math.max(most, (energy[to] as number) - (energy[from] as number));
  }
  return -0.691 + 10 * Math.log10(most / window + 1e-20);
}
