/**
 * @module report/view/colours
 * The colour of each encode: a hue for its curve and a shade for its rate, where there are many or several curves.
 */
import { type Encode, rateOf } from './encodes.js';
import { curveNames } from './groups.js';

/** Hues that there are. */
const HUES = 8;

/** Up to so many encodes of one curve are told apart by hues. */
const FEW = 3;

/** Per cent of a hue that is left in the lightest and in the darkest shade. */
const LIGHT = 58;
const DARK = 55;

/** The colours of encodes by their index, as CSS: of one curve the higher rates have more contrast. */
export function encodeColours(list: readonly Encode[]): string[] {
  const curves = curveNames(list);
  const named = new Set(curves.filter((curve) => curve !== undefined));
  const byCurve = named.size > 1 || (named.size === 1 && list.length > FEW);
  const keys = list.map(({ index }, i) => (byCurve ? curves[i] : undefined) ?? index);
  const hues = [...new Set(keys)];
  const taken = new Set<string>();
  return list.map((encode, i) => {
    const hue = hues.indexOf(keys[i] as string | number);
    const kin = list.filter((_, other) => keys[other] === keys[i]);
    const ranks = kin.toSorted((a, b) => (rateOf(a) ?? 0) - (rateOf(b) ?? 0));
    const at = ranks.length < 2 ? 0 : (2 * ranks.indexOf(encode)) / (ranks.length - 1) - 1;
    const colour = shades(`var(--s${hue % HUES})`, at).find((one) => !taken.has(one));
    taken.add(colour ?? '');
    return colour ?? `var(--s${hue % HUES})`;
  });
}

/** The shade of a hue, and others of it in the order of how far they are from it, where an encode has that one. */
function shades(base: string, at: number): string[] {
  const steps = [0, 0.8, -0.8, 0.4, -0.4, 0.6, -0.6, 0.2, -0.2];
  return steps.map((step) => shade(base, Math.max(-1, Math.min(1, at + step))));
}

/** @param at from -1, near the ground, to 1, near the ink */
function shade(base: string, at: number): string {
  if (at === 0) return base;
  const share = at < 0 ? 100 + at * (100 - LIGHT) : 100 - at * (100 - DARK);
  return `color-mix(in srgb, ${base} ${Math.round(share)}%, var(${at < 0 ? '--card' : '--ink'}))`;
}
