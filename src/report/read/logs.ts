/**
 * @module report/read/logs
 * Reads libvmaf's logs: XML, CSV and SUB.
 */
import { wholeNumber } from '../../core/numbers.js';
import { quoted, shown } from '../../core/printable.js';
import { measuredText } from '../kinds.js';
import { spread, pooled as statistics } from '../schema.js';
import type { FrameMetrics, MetricDistribution, PooledMetric } from '../types.js';
import { faultAt, notReport, ownParts, type SavedParts, type SavedText } from './saved.js';

interface Tag {
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Enclosing elements, outermost first. */
  readonly inside: readonly string[];
  /** Text up to the next tag. */
  readonly content: string;
  readonly offset: number;
}

/** Reports are three elements deep. */
const MAX_DEPTH = 32;

/** Elements inside `<anyvmaf>` that occur once in theirs, under their own name. */
const PARTS: readonly string[] = ['reference', 'distorted', 'pairing', 'native', 'sampling'];

/** The others, each an item of the list of a key. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['model', 'models'],
  ['finding', 'preflight'],
  ['place', 'places'],
  ['measurer', 'measurers'],
  ['swap', 'swaps'],
  ['interval', 'intervals'],
  ['without_grain', 'without_grain'],
  ['warning', 'warnings'],
]);

const START = /<\/?[A-Za-z_][\w.:-]*/y;
const ATTRIBUTE = /\s+([^\s=<>"/]+)\s*=\s*"([^"]*)"/y;
const END = /\s*\/?>/y;

/** @throws {AnyvmafError} `io` */
export function readXml(saved: SavedText): SavedParts {
  const frames: FrameMetrics[] = [];
  const pooled: [string, PooledMetric | Record<string, never>][] = [];
  const distributions: [string, MetricDistribution][] = [];
  const aggregates: [string, number][] = [];
  const own: Record<string, unknown> = {};
  /** The last element at each path, which has those inside it. */
  const last = new Map<string, Record<string, unknown>>([['anyvmaf', own]]);
  const seen = new Set<string>();
  for (const tag of tags(saved)) {
    const path = [...tag.inside.slice(1), tag.name].join('/');
    seen.add(path);
    const record = () => Object.fromEntries(tag.attributes);
    if (path === 'frames/frame') frames.push(frameOf(tag, saved));
    else if (path === 'VMAF' || path === 'fyi') Object.assign(own, record());
    else if (path === 'anyvmaf') Object.assign(own, record(), { models: [], warnings: [] });
    else if (path === 'pooled_metrics/metric') {
      const name = attribute(tag, 'name');
      if (name === undefined) throw faultAt(saved, tag.offset, 'expected a metric with a name');
      pooled.push([name, statistics.read(Object.fromEntries(numbers(tag, saved, 'name'))) ?? {}]);
    } else if (path === 'aggregate_metrics') {
      aggregates.push(...numbers(tag, saved));
    } else if (path === 'anyvmaf/distribution') {
      const values = spread.read(Object.fromEntries(numbers(tag, saved, 'metric')));
      const metric = attribute(tag, 'metric');
      if (metric !== undefined && values) distributions.push([metric, values]);
    } else if (path.startsWith('anyvmaf/')) {
      const parent = last.get(path.slice(0, path.lastIndexOf('/')));
      const value = { ...record(), ...(path === 'anyvmaf/finding' && { message: tag.content }) };
      last.set(path, value);
      const list = LISTS.get(tag.name);
      if (parent && list) addTo(parent, list, tag.name === 'warning' ? tag.content : value);
      else if (parent && PARTS.includes(tag.name)) parent[tag.name] = value;
    }
  }
  if (!seen.has('frames')) throw notReport(saved, 'its XML has no element <frames>');
  return {
    ...ownParts(own),
    frames,
    ...(seen.has('pooled_metrics') && {
      metrics: pooled.map(([name]) => name),
      pooled_metrics: Object.fromEntries(pooled),
    }),
    ...(seen.has('aggregate_metrics') && { aggregate_metrics: Object.fromEntries(aggregates) }),
    ...(seen.has('anyvmaf') && { distribution: Object.fromEntries(distributions) }),
    notes: [],
  };
}

function addTo(parent: Record<string, unknown>, key: string, item: unknown): void {
  const list = parent[key];
  if (Array.isArray(list)) list.push(item);
  else parent[key] = [item];
}

function frameOf(tag: Tag, saved: SavedText): FrameMetrics {
  const frameNum = wholeNumber(attribute(tag, 'frameNum') ?? '');
  if (frameNum === undefined) throw faultAt(saved, tag.offset, 'expected a frame with a frameNum');
  return { frameNum, metrics: Object.fromEntries(numbers(tag, saved, 'frameNum')) };
}

function attribute({ attributes }: Tag, name: string): string | undefined {
  return attributes.find(([key]) => key === name)?.[1];
}

/** Attributes as numbers, except for the one that is `text`. */
function numbers(tag: Tag, saved: SavedText, text?: string): [name: string, value: number][] {
  return tag.attributes
    .filter(([name]) => name !== text)
    .map(([name, value]) => {
      const number = measuredText(value);
      if (number === undefined)
        throw faultAt(saved, tag.offset, `expected a number as ${shown(name)}, not ${quoted(value)}`);
      return [name, number];
    });
}

/** Every start tag, in order; checks that elements are closed. */
function* tags(saved: SavedText): Generator<Tag, void, undefined> {
  const { text } = saved;
  const open: string[] = [];
  for (let at = markup(saved, 0); at < text.length; at = markup(saved, at)) {
    const offset = at;
    const take = (pattern: RegExp) => {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      at += found?.[0].length ?? 0;
      return found;
    };
    const [start = ''] = take(START) ?? [];
    const attributes: [name: string, value: string][] = [];
    for (let found = take(ATTRIBUTE); found; found = take(ATTRIBUTE))
      attributes.push([found[1] ?? '', plain(found[2] ?? '')]);
    const [end] = take(END) ?? [];
    if (start === '' || end === undefined) throw faultAt(saved, offset, 'expected an element');
    if (start.startsWith('</')) {
      const name = start.slice(2);
      if (open.pop() !== name) throw faultAt(saved, offset, `expected no </${shown(name)}>`);
      continue;
    }
    const name = start.slice(1);
    const next = text.indexOf('<', at);
    const content = plain(text.slice(at, next < 0 ? text.length : next));
    yield { name, attributes, inside: [...open], content, offset };
    if (end.endsWith('/>')) continue;
    if (open.push(name) > MAX_DEPTH)
      throw faultAt(saved, offset, `expected elements at most ${MAX_DEPTH} deep`);
  }
  const last = open.at(-1);
  if (last !== undefined) throw faultAt(saved, text.length, `expected </${shown(last)}>`);
}

/** Offset of the next element, past text, comments and instructions; the end of the text if there is none. */
function markup(saved: SavedText, from: number): number {
  const { text } = saved;
  for (let at = from; ; ) {
    at = text.indexOf('<', at);
    if (at < 0) return text.length;
    if (text[at + 1] !== '!' && text[at + 1] !== '?') return at;
    const close = text.startsWith('<!--', at) ? '-->' : '>';
    const end = text.indexOf(close, at + 2);
    if (end < 0) throw faultAt(saved, at, `expected a closing ${close}`);
    at = end + close.length;
  }
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Unknown entities stay: libvmaf escapes nothing. */
function plain(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (code <= 0x10ffff) return String.fromCodePoint(code);
    return ENTITIES.get(name) ?? whole;
  });
}

/**
 * Leaves out rows with fewer values than metrics: writers skip missing values, so which ones is unknown.
 * @throws {AnyvmafError} `io`
 */
export function readCsv(saved: SavedText): SavedParts {
  const lines = linesOf(saved.text);
  const [head] = lines;
  if (!head) throw notReport(saved, 'it is empty');
  const closed = head.content.endsWith(',');
  const [, ...metrics] = cells(head.content);
  const frames: FrameMetrics[] = [];
  const notes: string[] = [];
  for (const { content, number, offset, ended } of lines.slice(1)) {
    if (content.trim() === '') continue;
    const [first = '', ...values] = cells(content);
    const frameNum = wholeNumber(first);
    if (frameNum === undefined) throw faultAt(saved, offset, 'expected a frame number');
    if (!ended && closed && !content.endsWith(',')) {
      notes.push(`Line ${number} is cut off and was ignored.`);
      continue;
    }
    if (values.length > metrics.length)
      throw faultAt(saved, offset, `expected ${metrics.length} values, not ${values.length}`);
    if (values.length < metrics.length) {
      notes.push(
        `Line ${number} has ${values.length} values for ${metrics.length} metrics and was ignored: it does not say ` +
          'which are missing.',
      );
      continue;
    }
    let at = offset + first.length + 1;
    frames.push({
      frameNum,
      metrics: Object.fromEntries(
        metrics.map((name, i): [string, number] => {
          const text = values[i] ?? '';
          const value = measuredText(text);
          if (value === undefined) throw faultAt(saved, at, `expected a number for ${shown(name)}`);
          at += text.length + 1;
          return [name, value];
        }),
      ),
    });
  }
  return { frames, metrics, notes: summarized(notes) };
}

/** @throws {AnyvmafError} `io` */
export function readSub(saved: SavedText): SavedParts {
  const frames: FrameMetrics[] = [];
  const notes: string[] = [];
  for (const { content, number, offset, ended } of linesOf(saved.text)) {
    if (content.trim() === '') continue;
    const [opening, first = ''] = /^\{(\d+)\}\{\d+\}frame: \d+\|/.exec(content) ?? [];
    const frameNum = wholeNumber(first);
    if (opening === undefined || frameNum === undefined)
      throw faultAt(saved, offset, 'expected {N}{N+1}frame: N|');
    if (!ended && !content.endsWith('|')) {
      notes.push(`Line ${number} is cut off and was ignored.`);
      continue;
    }
    const metrics: [string, number][] = [];
    for (const { 0: part, index } of content.slice(opening.length).matchAll(/[^|]+/g)) {
      const [, name = '', text = ''] = /^(.*): (\S+)$/.exec(part) ?? [];
      const value = measuredText(text);
      if (value === undefined)
        throw faultAt(saved, offset + opening.length + index, 'expected a metric and its number');
      metrics.push([name, value]);
    }
    frames.push({ frameNum, metrics: Object.fromEntries(metrics) });
  }
  return { frames, notes };
}

interface Line {
  readonly content: string;
  /** From 1. */
  readonly number: number;
  readonly offset: number;
  /** Whether a line end follows. */
  readonly ended: boolean;
}

function linesOf(text: string): Line[] {
  let offset = 0;
  const parts = text.split('\n');
  return parts.map((part, i) => {
    const line = {
      content: part.replace(/\r$/, ''),
      number: i + 1,
      offset,
      ended: i < parts.length - 1,
    };
    offset += part.length + 1;
    return line;
  });
}

/** libvmaf ends every row with a comma. */
function cells(line: string): string[] {
  return line
    .replace(/,\s*$/, '')
    .split(',')
    .map((cell) => cell.trim());
}

function summarized(notes: readonly string[]): string[] {
  const shown = notes.slice(0, 3);
  return notes.length > 3 ? [...shown, `${notes.length - 3} more lines were ignored.`] : shown;
}
