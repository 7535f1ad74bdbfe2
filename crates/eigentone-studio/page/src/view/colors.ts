/** Colours of fields, the same as in the pictures of `eigentone inspect --plot`. */

export type Rgb = [number, number, number];

/** Seventeen samples of viridis and magma (van der Walt & Smith 2015, released as CC0). */
const VIRIDIS: Rgb[] = [
  [68, 1, 84], [72, 24, 106], [71, 45, 123], [66, 64, 134], [59, 82, 139], [51, 99, 141], [44, 114, 142], [38, 130, 142], [33, 145, 140],
  [31, 160, 136], [40, 174, 128], [63, 188, 115], [94, 201, 98], [132, 212, 75], [173, 220, 48], [216, 226, 25], [253, 231, 37],
];
const MAGMA: Rgb[] = [
  [0, 0, 4], [10, 8, 34], [29, 17, 71], [54, 16, 107], [81, 18, 124], [106, 28, 129], [131, 38, 129], [156, 46, 127], [183, 55, 121],
  [208, 65, 111], [231, 82, 99], [245, 107, 92], [252, 137, 97], [254, 167, 114], [254, 196, 136], [253, 226, 163], [252, 253, 191],
];
const BLUE: Rgb = [41, 98, 168];
const ORANGE: Rgb = [222, 106, 24];
const NEUTRAL: Rgb = [221, 221, 216];

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return [0, 1, 2].map((c) => Math.round((a[c] as number) * (1 - share) + (b[c] as number) * share)) as Rgb;
}

function sample(map: Rgb[], share: number): Rgb {
  const at = 16 * Math.min(1, Math.max(0, share));
  const k = Math.min(15, Math.floor(at));
  return mix(map[k] as Rgb, map[k + 1] as Rgb, at - k);
}

/** From the lowest to the highest value of a parameter, with a colour for each. */
export interface Scale {
  low: number;
  high: number;
  log: boolean;
  color(value: number): Rgb;
}

function isDecay(parameter: string): boolean {
  return parameter.endsWith("decay");
}

/** A scale for these values, not so narrow that steps of rounding fill it. */
export function scaleOf(parameter: string, values: Float32Array): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [isDecay(parameter) ? 0.1 : 0, 1];
  const log = isDecay(parameter);
  if (log) {
    const more = Math.max(1, Math.sqrt(2 / (high / low)));
    [low, high] = [low / more, high * more];
  } else if (parameter === "tilt") {
    // Zero is in the middle: it is the free field.
    high = Math.max(3, Math.abs(low), Math.abs(high));
    low = -high;
  } else {
    const more = Math.max(0, 5 - 0.5 * (high - low));
    [low, high] = [low - more, high + more];
  }
  const share = (value: number): number => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  const color = (value: number): Rgb => {
    if (log) return sample(VIRIDIS, 0.84 * Math.min(1, Math.max(0, share(value))));
    if (parameter !== "tilt") return sample(MAGMA, 0.16 + 0.84 * Math.min(1, Math.max(0, share(value))));
    const much = 2 * share(value) - 1;
    return mix(NEUTRAL, much < 0 ? BLUE : ORANGE, Math.min(1, Math.abs(much)));
  };
  return { low, high, log, color };
}

/** The value at a share of a scale. */
export function valueOf(scale: Scale, share: number): number {
  return scale.log ? scale.low * (scale.high / scale.low) ** share : scale.low + (scale.high - scale.low) * share;
}
