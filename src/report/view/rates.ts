/**
 * @module report/view/rates
 * Quality over bit rate: a point per encode, joined by curves; and which curve an encode belongs to.
 */
import { baseName } from '../facts.js';
import { trustOf } from '../trust.js';
import { codecOf, type Encode, type EncodeList, rateOf, videoOf } from './encodes.js';
import {
  bitrateText,
  colourOf,
  encodeColour,
  joined,
  labelOf,
  shortName,
  type Templates,
} from './numbers.js';
import { type Room, ratePlot } from './scales.js';

export interface RatePoint {
  readonly index: number;
  readonly name: string;
  /** Bits per second. */
  readonly rate: number;
  readonly quality: number;
  /** Name of its curve, from codec, size and encoder settings; `undefined` without a codec. */
  readonly curve: string | undefined;
}

const isUntrusted = ({ facts }: Encode) => trustOf(facts).verdict === 'untrusted';

/** Says which encodes the curves leave out, and why; empty if none. */
export function leftOutText(encodes: EncodeList): string {
  const sentence = (list: readonly Encode[], reason: string, ofSeveral: string) =>
    list.length > 0 &&
    `Left out because ${list.length === 1 ? reason : ofSeveral}: ${list.map(({ name }) => name).join(', ')}.`;
  const stopped = encodes.taken.filter(({ partial }) => partial);
  const wrong = encodes.taken.filter((encode) => !encode.partial && isUntrusted(encode));
  const sentences = [
    sentence(wrong, 'its score cannot be trusted', 'their scores cannot be trusted'),
    sentence(stopped, 'its run was stopped', 'their runs were stopped'),
  ];
  return joined(sentences, ' ');
}

/** The bit rate; `undefined` if the score cannot be trusted or is partial. */
function ratedAt(encode: Encode): number | undefined {
  const rate = encode.partial || isUntrusted(encode) ? undefined : rateOf(encode);
  return rate !== undefined && rate > 0 ? rate : undefined;
}

/** Bit rates that points have or will have. */
export function ratesOf({ list }: EncodeList): number[] {
  return list.map(ratedAt).filter((rate) => rate !== undefined);
}

/** Encodes with a bit rate and a mean, by bit rate; without those whose score is untrusted or partial. */
export function ratePoints(encodes: EncodeList, metric: string | undefined): RatePoint[] {
  const curves = curveNames(encodes.list);
  return encodes.list
    .flatMap((encode, i): RatePoint[] => {
      const [rate, quality] = [ratedAt(encode), encodes.pooled(encode, metric)?.mean];
      if (rate === undefined || quality === undefined || !Number.isFinite(quality)) return [];
      const { index, name } = encode;
      return [{ index, name, rate, quality, curve: curves[i] }];
    })
    .sort((a, b) => a.rate - b.rate);
}

/** Dash patterns of the curves: pixels drawn and left out in turn. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

function dashOf(group: number): string {
  return DASHES[group % DASHES.length]?.join(' ') ?? '';
}

/** The area between a curve and the one it is compared with. */
export interface Area {
  /** Name of the curve. */
  readonly test: string;
  /** In bits per second, and the metric. */
  readonly outline: readonly (readonly [rate: number, quality: number])[];
}

export interface RateChart<T> {
  readonly drawing: readonly T[];
  /** Key of the lines, if there are several. */
  readonly key: readonly T[];
  /** Positions of the points, in percent of the chart from its left and top. */
  readonly places: readonly { readonly point: RatePoint; readonly x: number; readonly y: number }[];
}

/** Needs at least one point. Draws the areas of `compared` curves, and leaves room for `coming` bit rates. */
export function rateChart<T>(
  templates: Templates<T>,
  encodes: EncodeList,
  metric: string,
  points: readonly RatePoint[],
  room: Room,
  compared: readonly Area[] = [],
  coming: readonly number[] = [],
): RateChart<T> {
  const { html, svg } = templates;
  const limits = encodes.isScore(metric) ? encodes.rangeOf(metric) : undefined;
  const rates = [...points.map(({ rate }) => rate), ...coming];
  const plot = ratePlot({ rates, qualities: points.map(({ quality }) => quality), limits }, room);
  const places = points.map((point) => ({ point, x: plot.x(point.rate), y: plot.y(point.quality) }));
  const named = [...new Set(points.map(({ curve }) => curve))];
  const curves = named.map((curve) => places.filter(({ point }) => point.curve === curve));
  // Several curves have the colours of their middle encodes, whose shade is the hue itself.
  const colours = curves.map((line) => {
    const middle = line[Math.floor((line.length - 1) / 2)];
    return curves.length < 2 || !middle ? 'var(--faint)' : encodeColour(middle.point.index);
  });
  const lines = curves.map((line, i) => {
    const path = plot.path(line.map(({ point }) => [point.rate, point.quality]));
    return svg`<path d="${path}" fill="none" stroke="${colours[i]}" stroke-width="1.5" stroke-dasharray="${dashOf(i)}" vector-effect="non-scaling-stroke"></path>`;
  });
  const areas = compared.map(
    ({ test, outline }) =>
      svg`<path class="overlap" d="${plot.path(outline)}Z" fill="${colours[named.indexOf(test)]}" opacity="0.13"></path>`,
  );
  const names = points.map(({ name }) => shortName(name, room.width < 480 ? 14 : 28));
  const sides = nameSides(places, names, curves, room);
  const dots = places.map(({ point, ...at }, i) => {
    const place = `left:${at.x}%;top:${at.y}%`;
    const value = encodes.valueText(metric, point.quality);
    const title = `${point.name}: ${labelOf(metric)} ${value} at ${joined([bitrateText(point.rate), point.curve])}`;
    const side = sides[i];
    return html`<span class="dot" .style=${`${colourOf(point.index)};${place}`} title="${title}"></span>${side === undefined ? '' : html`<span class="tag${side && ` ${side}`}" .style=${place}>${names[i]}</span>`}`;
  });
  return {
    drawing: plot.drawing(templates, [areas, lines], dots),
    key: named.length > 1 ? named.map((curve, i) => curveKey(html, curve, colours[i] ?? '', i)) : [],
    places,
  };
}

function curveKey<T>(html: Templates<T>['html'], curve: string | undefined, colour: string, i: number): T {
  return html`<span><svg width="28" height="8"><line x2="28" y1="4" y2="4" stroke="${colour}" stroke-width="1.5" stroke-dasharray="${dashOf(i)}"></line></svg>${curve ?? 'unknown codec'}</span>`;
}

/** Approximate pixels of a letter and of a line of text. */
const LETTER = 7;
const LINE = 18;

/** Places of a name beside its point: a class, and its left and top in pixels from the point. */
const SIDES: readonly (readonly [side: string, place: (wide: number) => readonly [x: number, y: number]])[] =
  [
    // Curves go up and right, so the area above left and below right of a point is free.
    ['left', (wide) => [-4 - wide, -4 - LINE]],
    ['', () => [8, 4]],
    ['after', () => [12, -LINE / 2]],
    ['before', (wide) => [-12 - wide, -LINE / 2]],
    ['over', (wide) => [-wide / 2, -10 - LINE]],
  ];

type Pixels = readonly [x: number, y: number];
type Box = readonly [left: number, top: number, right: number, bottom: number];

/** Side of each point on which its name has room and covers no line; `undefined` if there is none. */
function nameSides(
  places: readonly { readonly x: number; readonly y: number }[],
  names: readonly string[],
  curves: readonly (readonly { readonly x: number; readonly y: number }[])[],
  { width, height }: Room,
): (string | undefined)[] {
  const pixels = ({ x, y }: { readonly x: number; readonly y: number }): Pixels => [
    (x / 100) * width,
    (y / 100) * height,
  ];
  const parts = curves.flatMap((curve) =>
    curve.slice(1).map((end, i) => [pixels(curve[i] ?? end), pixels(end)] as const),
  );
  const taken = places.map(pixels).map(([x, y]): Box => [x - 8, y - 8, x + 8, y + 8]);
  return places.map(pixels).map(([x, y], i) => {
    const wide = (names[i]?.length ?? 0) * LETTER;
    for (const [side, place] of SIDES) {
      const [dx, dy] = place(wide);
      const box: Box = [x + dx, y + dy, x + dx + wide, y + dy + LINE];
      const [left, top, right, bottom] = box;
      // The numbers of the axis are left of the drawing.
      const inside = left >= 2 && right <= width + 10 && bottom <= height;
      const free = taken.every(
        ([l, t, r, b], other) => other === i || left > r || right < l || top > b || bottom < t,
      );
      if (!inside || !free || parts.some(([from, to]) => crosses(box, from, to))) continue;
      taken.push(box);
      return side;
    }
    return undefined;
  });
}

/** True if a line segment crosses a box, by clipping it at the four sides. */
function crosses([left, top, right, bottom]: Box, [x0, y0]: Pixels, [x1, y1]: Pixels): boolean {
  let [enters, leaves] = [0, 1];
  const sides = [
    [x0 - x1, x0 - left],
    [x1 - x0, right - x0],
    [y0 - y1, y0 - top],
    [y1 - y0, bottom - y0],
  ] as const;
  for (const [along, room] of sides) {
    if (along === 0 && room < 0) return false;
    if (along < 0) enters = Math.max(enters, room / along);
    else if (along > 0) leaves = Math.min(leaves, room / along);
  }
  return enters <= leaves;
}

/** File name with its numbers replaced, because they mostly tell the rate. */
const skeleton = ({ name }: Encode) =>
  baseName(name)
    .replace(/\.\w+$/, '')
    .replace(/\d+(?:\.\d+)?/g, '#');

type Group = readonly [Encode, ...Encode[]];

/**
 * Names each encode's curve so that it differs from others: `h264`, `h264 480×270`, `h264 slow`; `undefined`
 * without a codec. Without encoder settings, files whose names differ only in numbers belong together, if there
 * are any. A curve that the user chose keeps the user's name.
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
  // If the user put all others of a guessed group into one series, the group is that series.
  const guessed = all.map((group, i) => {
    const [only, ...others] = new Set(group.flatMap(({ series }) => series ?? []));
    return others.length === 0 && only !== undefined ? only : unique[i];
  });
  const guessOf = (encode: Encode) => guessed[all.findIndex((group) => group.includes(encode))];
  return list.map((encode) => encode.series ?? (codecOf(encode) === undefined ? undefined : guessOf(encode)));
}

/** The pattern without words at its end that no other has: `slow_crf#_again` beside `slow_crf#` is `slow_crf#`. */
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

/** The codec, and what distinguishes a curve from others of it. */
function nameOf(group: Group, all: readonly Group[]): string {
  const [first] = group;
  const kin = all.filter(([other]) => codecOf(other) === codecOf(first));
  const differ = (key: (encode: Encode) => unknown) => new Set(kin.map(([other]) => key(other))).size > 1;
  // Others of the same kind have other settings.
  const alike = kin.filter(([other]) => kindOf(other) === kindOf(first));
  const format = [codecOf(first), differ(sizeOf) && sizeOf(first), differ(depthOf) && depthOf(first)];
  return joined([...format, alike.length > 1 && settingsName(group, alike)], ' ');
}

/** The common start of its file names if distinct, else the settings that differ, else the pattern of its names. */
function settingsName(group: Group, alike: readonly Group[]): string {
  const starts = alike.map(commonStart);
  const start = commonStart(group);
  if (start !== '' && new Set(starts).size === starts.length)
    return start.slice(withoutEnd(commonPrefix(starts), /[a-z0-9.]/i).length);
  const settings = ([encode]: Group) => settingsOf(encode)?.split(' ') ?? [];
  const own = settings(group).filter((word) => !alike.every((other) => settings(other).includes(word)));
  return own.length > 0 ? own.slice(0, 3).join(' ') : skeleton(group[0]);
}

function commonPrefix([first = '', ...others]: readonly string[]): string {
  let end = first.length;
  while (!others.every((other) => other.startsWith(first.slice(0, end)))) end--;
  return first.slice(0, end);
}

/** Common prefix of the names, up to the last whole word: `slow` of `slow_crf23.mp4` and `slow_crf28.mp4`. */
function commonStart(group: Group): string {
  const bare = group.map(({ name }) => baseName(name).replace(/\.\w+$/, ''));
  const start = withoutEnd(commonPrefix(bare), /[\d.]/);
  return withoutEnd(start.replace(/(?:crf|cq|qp|q)$/i, ''), /[^a-z0-9]/i);
}

/** Strips characters of a kind from the end. */
function withoutEnd(text: string, kind: RegExp): string {
  let end = text.length;
  while (end > 0 && kind.test(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
}
