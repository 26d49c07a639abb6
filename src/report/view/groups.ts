/**
 * @module report/view/groups
 * The curves that encodes belong to.
 */
import { baseName } from '../facts.js';
import { codecOf, type Encode, videoOf } from './encodes.js';
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
 * codec. Where streams do not say their encoder's settings, those belong together whose names differ in numbers alone, if any
 * do. A curve that the user put an encode into has the name that the user gave.
 */
export function curveNames(list: readonly Encode[]): (string | undefined)[] {
  const keys = list.map((encode) => {
    const settings = settingsOf(encode);
    if (settings) return `${kindOf(encode)} ${settings}`;
    const kin = list.filter((other) => kindOf(other) === kindOf(encode) && !settingsOf(other));
    const patterns = kin.map((other) => sharedPattern(skeleton(other), kin.map(skeleton)));
    const lone = new Set(patterns).size === patterns.length;
    return lone ? kindOf(encode) : `${kindOf(encode)} ${patterns[kin.indexOf(encode)]}`;
  });
  const groups = new Map<string, Group>();
  list.forEach((encode, i) => {
    const key = keys[i] ?? '';
    groups.set(key, [...(groups.get(key) ?? []), encode] as unknown as Group);
  });
  const all = [...groups.values()];
  const names = all.map((group) => nameOf(group, all));
  const unique = names.map((name, i) => (names.indexOf(name) === i ? name : `${name} (${i + 1})`));
  // A guess of which the user put all others into one series means that one.
  const guessed = all.map((group, i) => {
    const [only, ...others] = new Set(group.flatMap(({ series }) => series ?? []));
    return others.length === 0 && only !== undefined ? only : unique[i];
  });
  return list.map(
    (encode) =>
      encode.series ??
      (codecOf(encode) === undefined ? undefined : guessed[all.findIndex((group) => group.includes(encode))]),
  );
}

/** The pattern of a name, without words at its end that it has alone: `slow_crf#` for `slow_crf#_again` beside others of it. */
function sharedPattern(pattern: string, kin: readonly string[]): string {
  if (kin.indexOf(pattern) !== kin.lastIndexOf(pattern)) return pattern;
  const begins = (other: string) =>
    pattern.startsWith(other) && /^[^a-z0-9#]/i.test(pattern.slice(other.length));
  const [longest] = kin.filter(begins).sort((a, b) => b.length - a.length);
  return longest === undefined ? pattern : sharedPattern(longest, kin);
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

/** By what the names of its files alone have in common; else by the settings in which it differs, or by its files' pattern. */
function settingsName(group: Group, alike: readonly Group[]): string {
  const starts = alike.map(commonStart);
  const start = commonStart(group);
  if (start !== '' && new Set(starts).size === starts.length)
    return start.slice(withoutEnd(beginning(starts), /[a-z0-9.]/i).length);
  const settings = ([one]: Group) => settingsOf(one)?.split(' ') ?? [];
  const own = settings(group).filter((one) => !alike.every((other) => settings(other).includes(one)));
  return own.length > 0 ? own.slice(0, 3).join(' ') : skeleton(group[0]);
}

/** What all texts begin with. */
function beginning([first = '', ...others]: readonly string[]): string {
  let end = first.length;
  while (!others.every((other) => other.startsWith(first.slice(0, end)))) end--;
  return first.slice(0, end);
}

/** What all names begin with, up to its last whole word: `slow` of `slow_crf23.mp4` and `slow_crf28.mp4`. */
function commonStart(group: Group): string {
  const bare = group.map(({ name }) => baseName(name).replace(/\.\w+$/, ''));
  const start = withoutEnd(beginning(bare), /[\d.]/);
  return withoutEnd(start.replace(/(?:crf|cq|qp|q)$/i, ''), /[^a-z0-9]/i);
}

/** A text without the characters of a kind at its end. */
function withoutEnd(text: string, kind: RegExp): string {
  let end = text.length;
  while (end > 0 && kind.test(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
}
