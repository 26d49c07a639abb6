/**
 * @module pictures/tone-map
 * Pictures of high dynamic range on a standard screen: light up to 1000 cd/m² is brought below reference white (203 cd/m², ITU-R
 * BT.2408) by the curve of ITU-R BT.2390-11, section 5.4.1, on the largest of red, green and blue, so that hues stay; then BT.2020
 * becomes BT.709 and the light sRGB. What is brighter than 1000 cd/m² is cut off.
 */

/** Transfer functions of high dynamic range. */
export type HdrTransfer = 'pq' | 'hlg';

/** Brightest light of the source, and the light that becomes white, in cd/m². */
const [PEAK, WHITE] = [1000, 203];
/** Entries of a table less one: so many that a step of light is less than one of the picture where it is dark, too. */
const LAST = 65_535;

/** Constants of SMPTE ST 2084. */
const [M1, M2] = [2610 / 16384, (2523 / 4096) * 128];
const [C1, C2, C3] = [3424 / 4096, (2413 / 4096) * 32, (2392 / 4096) * 32];
/** Constants of ARIB STD-B67. */
const [A, B, C] = [0.17883277, 0.28466892, 0.55991073];

/** Light of a PQ signal in cd/m². */
function pqLight(signal: number): number {
  const power = signal ** (1 / M2);
  return 10_000 * (Math.max(0, power - C1) / (C2 - C3 * power)) ** (1 / M1);
}

function pqSignal(light: number): number {
  const power = (light / 10_000) ** M1;
  return ((C1 + C2 * power) / (1 + C3 * power)) ** M2;
}

/** Light of the scene of an HLG signal, 0..1. */
function hlgScene(signal: number): number {
  return signal <= 0.5 ? (signal * signal) / 3 : (Math.exp((signal - C) / A) + B) / 12;
}

/** The curve: PQ signals of its ends and where it begins to bend, relative to the brightest. */
const TOP = pqSignal(PEAK);
const LEVEL = pqSignal(WHITE) / TOP;
const KNEE = 1.5 * LEVEL - 0.5;

/** Light of a standard screen for light of the source, both in cd/m². */
function mapped(light: number): number {
  const signal = Math.min(1, pqSignal(light) / TOP);
  if (signal < KNEE) return light;
  const t = (signal - KNEE) / (1 - KNEE);
  const [t2, t3] = [t * t, t * t * t];
  const bent = (2 * t3 - 3 * t2 + 1) * KNEE + (t3 - 2 * t2 + t) * (1 - KNEE) + (-2 * t3 + 3 * t2) * LEVEL;
  return pqLight(bent * TOP);
}

/** sRGB of light, both 0..1. */
function srgb(light: number): number {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
}

/** A function as a table over 0..1. */
function table(of: (at: number) => number): Float32Array {
  return Float32Array.from({ length: LAST + 1 }, (_, i) => of(i / LAST));
}

/** The entry of a table nearest to 0..1; what lies outside has the first or the last. */
function look(values: Float32Array, at: number): number {
  const entry = (at * LAST + 0.5) | 0;
  return values[Math.max(0, Math.min(LAST, entry))]!;
}

/** Writes a pixel of red, green and blue signals (0..255) as sRGB. */
export type ToneMap = (into: Uint8ClampedArray, at: number, red: number, green: number, blue: number) => void;

const known = new Map<HdrTransfer, ToneMap>();

/** The tone mapping of a transfer function; its tables are made once. */
export function toneMap(transfer: HdrTransfer): ToneMap {
  const map = known.get(transfer) ?? makeToneMap(transfer);
  known.set(transfer, map);
  return map;
}

function makeToneMap(transfer: HdrTransfer): ToneMap {
  const light = table(transfer === 'pq' ? (at) => Math.min(1, pqLight(at) / PEAK) : hlgScene);
  const gain = table((at) => (at === 0 ? 1 : mapped(PEAK * at) / (PEAK * at)) * (PEAK / WHITE));
  const coded = table((at) => 255 * srgb(at));
  // HLG is light of the scene; a screen of 1000 cd/m² shows it with gamma 1.2 of its luminance (ITU-R BT.2100).
  const screen = table((at) => at ** 0.2);
  return (into, at, red, green, blue) => {
    let r = look(light, red / 255);
    let g = look(light, green / 255);
    let b = look(light, blue / 255);
    if (transfer === 'hlg') {
      const factor = look(screen, 0.2627 * r + 0.678 * g + 0.0593 * b);
      r *= factor;
      g *= factor;
      b *= factor;
    }
    const scale = look(gain, Math.max(r, g, b));
    // BT.2020 to BT.709, the inverse of ITU-R BT.2087.
    into[at] = look(coded, scale * (1.6605 * r - 0.5876 * g - 0.0728 * b));
    into[at + 1] = look(coded, scale * (-0.1246 * r + 1.1329 * g - 0.0083 * b));
    into[at + 2] = look(coded, scale * (-0.0182 * r - 0.1006 * g + 1.1187 * b));
  };
}
