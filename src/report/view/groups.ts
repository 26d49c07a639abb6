/**
 * @module report/view/groups
 * The curves that encodes belong to, and a colour for each encode.
 */
import { baseName } from '../facts.js';
import { codecOf, type Encode, rateOf, videoOf } from './encodes.js';
import { joined } from './numbers.js';

/** The name of a file with its numbers left out, which mostly tell the rate. */
const skeleton = ({ name }: Encode) =>
  baseName(name)
    .replace(/\.\w+$/, '')
    .replace(/\d+(?:\.\d+)?/g, '#');

/** Encodes of one curve. */
type Group = readonly [Encode, ...Encode[]];

/**
 * The curve of each encode by a name that tells it from the others: `h264`, `h264 480×270`, `h264 slow`; `undefined` without a
 * codec. Where streams do not say their encoder's settings, those belong together whose names differ in numbers alone, if each
 * such name has several encodes.
 */
export function curveNames(list: readonly Encode[]): (string | undefined)[] {
  const patterns = list.map((encode) => `${kindOf(encode)} ${skeleton(encode)}`);
  const lone = new Set(
    list
      .filter((_, i) => patterns.indexOf(patterns[i] ?? '') === patterns.lastIndexOf(patterns[i] ?? ''))
      .map(kindOf),
  );
  const groups = new Map<string, Group>();
  list.forEach((encode, i) => {
    const kind = kindOf(encode);
    const settings = settingsOf(encode);
    const key = settings ? `${kind} ${settings}` : lone.has(kind) ? kind : (patterns[i] ?? kind);
    groups.set(key, [...(groups.get(key) ?? []), encode] as unknown as Group);
  });
  const all = [...groups.values()];
  const names = all.map((group) => nameOf(group, all));
  const unique = names.map((name, i) => (names.indexOf(name) === i ? name : `${name} (${i + 1})`));
  return list.map((encode) =>
    codecOf(encode) === undefined ? undefined : unique[all.findIndex((group) => group.includes(encode))],
  );
}

function kindOf(encode: Encode): string {
  return JSON.stringify([codecOf(encode), sizeOf(encode), depthOf(encode)]);
}

function sizeOf(encode: Encode): string {
  const { width, height } = videoOf(encode) ?? {};
  return `${width}×${height}`;
}

function depthOf(encode: Encode): string {
  return `${videoOf(encode)?.bitDepth} bit`;
}

function settingsOf(encode: Encode): string | undefined {
  return videoOf(encode)?.encoderSettings;
}

/** The codec, and what tells a curve from others of it. */
function nameOf(group: Group, all: readonly Group[]): string {
  const [first] = group;
  const kin = all.filter(([other]) => codecOf(other) === codecOf(first));
  const differ = (key: (encode: Encode) => unknown) => new Set(kin.map(([other]) => key(other))).size > 1;
  // Others of the same kind have other settings.
  const alike = kin.filter(([other]) => kindOf(other) === kindOf(first));
  return joined(
    [
      codecOf(first),
      differ(sizeOf) && sizeOf(first),
      differ(depthOf) && depthOf(first),
      alike.length > 1 && settingsName(group, alike),
    ],
    ' ',
  );
}

/** By what the names of its files have in common; else by the settings in which it differs, or by its files' pattern. */
function settingsName(group: Group, alike: readonly Group[]): string {
  const starts = alike.map(commonStart);
  const start = commonStart(group);
  if (start !== '' && new Set(starts).size === starts.length) return start;
  const settings = ([one]: Group) => settingsOf(one)?.split(' ') ?? [];
  const own = settings(group).filter((one) => !alike.every((other) => settings(other).includes(one)));
  return own.length > 0 ? own.slice(0, 3).join(' ') : skeleton(group[0]);
}

/** What all names begin with, up to its last whole word: `slow` of `slow_crf23.mp4` and `slow_crf28.mp4`. */
function commonStart([first, ...others]: Group): string {
  const bare = ({ name }: Encode) => baseName(name).replace(/\.\w+$/, '');
  const name = bare(first);
  let end = name.length;
  while (!others.every((other) => bare(other).startsWith(name.slice(0, end)))) end--;
  const start = withoutEnd(name.slice(0, end), /[\d.]/);
  return withoutEnd(start.replace(/(?:crf|cq|qp|q)$/i, ''), /[^a-z0-9]/i);
}

/** A text without the characters of a kind at its end. */
function withoutEnd(text: string, kind: RegExp): string {
  let end = text.length;
  while (end > 0 && kind.test(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
}

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
