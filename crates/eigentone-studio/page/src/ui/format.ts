/** Numbers as people write them. */

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
];

/** Three significant figures without a trailing dot. */
export function digits(value: number, figures = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const decimals = Math.max(0, figures - 1 - Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  return value.toFixed(Math.min(decimals, 6)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** `si(0.0042, "m")` is "4.2 mm". */
export function si(value: number | null | undefined, unit: string, figures = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${unit}`;
  const size = Math.abs(value);
  const [factor, prefix] = PREFIXES.find(([limit]) => size >= limit * 0.9995) ?? [1e-9, "n"];
  return `${digits(value / factor, figures)} ${prefix}${unit}`;
}

export function hertz(value: number | null | undefined): string {
  return si(value, "Hz", value && value >= 1000 ? 4 : 3);
}

export function kilograms(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value < 1 ? `${digits(value * 1000)} g` : `${digits(value)} kg`;
}

export function decibels(value: number): string {
  if (!Number.isFinite(value) || value < -150) return "−∞ dB";
  return `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)} dB`;
}

export function percent(share: number): string {
  return Number.isFinite(share) ? `${digits(100 * share, share < 0.1 ? 2 : 3)} %` : "–";
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

const NOTES = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B"];

/** The nearest note of equal temperament, as "A4 +12 ct". */
export function note(hz: number): string {
  if (!(hz > 8)) return "";
  const exact = 69 + 12 * Math.log2(hz / 440);
  const nearest = Math.round(exact);
  const cents = Math.round(100 * (exact - nearest));
  return `${NOTES[((nearest % 12) + 12) % 12]}${Math.floor(nearest / 12) - 1}${cents === 0 ? "" : ` ${cents > 0 ? "+" : "−"}${Math.abs(cents)} ct`}`;
}
