/**
 * @module report/view/colours
 * The colour of each encode: a hue for its codec and a shade for its rate, where there are many or several codecs.
 */
import { codecOf, type Encode, rateOf } from './encodes.js';

/** Hues that there are. */
const HUES = 8;

/** Up to so many encodes of one codec are told apart by hues. */
const FEW = 3;

/** Per cent of a hue that is left in the lightest and in the darkest shade. */
const LIGHT = 58;
const DARK = 55;

/** A codec and the number of its hue; without a codec, of an encode by itself. */
function hues(list: readonly Encode[]): Map<string | number, number> {
  const groups = new Map<string | number, number>();
  for (const encode of list) {
    const key = codecOf(encode) ?? encode.index;
    if (!groups.has(key)) groups.set(key, groups.size % HUES);
  }
  return groups;
}

/** Whether hues stand for codecs. */
function byCodec(list: readonly Encode[]): boolean {
  const codecs = new Set(list.map(codecOf).filter((codec) => codec !== undefined));
  return codecs.size > 1 || (codecs.size === 1 && list.length > FEW);
}

/** The hue of a codec's line, as CSS. */
export function codecColour(list: readonly Encode[], codec: string | undefined): string {
  const hue = codec === undefined || !byCodec(list) ? undefined : hues(list).get(codec);
  return hue === undefined ? 'var(--faint)' : `var(--s${hue})`;
}

/** The colours of encodes by their index, as CSS: of one codec the higher rates have more contrast. */
export function encodeColours(list: readonly Encode[]): string[] {
  if (!byCodec(list)) return list.map(({ index }) => `var(--s${index % HUES})`);
  const groups = hues(list);
  return list.map((encode) => {
    const key = codecOf(encode) ?? encode.index;
    const base = `var(--s${groups.get(key) ?? 0})`;
    const kin = list.filter((other) => (codecOf(other) ?? other.index) === key);
    const ranks = kin.toSorted((a, b) => (rateOf(a) ?? 0) - (rateOf(b) ?? 0));
    return shade(base, ranks.length < 2 ? 0 : (2 * ranks.indexOf(encode)) / (ranks.length - 1) - 1);
  });
}

/** @param at from -1, near the ground, to 1, near the ink */
function shade(base: string, at: number): string {
  if (at === 0) return base;
  const share = at < 0 ? 100 + at * (100 - LIGHT) : 100 - at * (100 - DARK);
  return `color-mix(in srgb, ${base} ${Math.round(share)}%, var(${at < 0 ? '--card' : '--ink'}))`;
}
