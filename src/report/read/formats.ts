/**
 * @module report/read/formats
 * Reads the text of each file format, JSON, NDJSON, and libvmaf's XML, CSV and SUB, and says where it is damaged.
 */
import { isObject } from '../../core/arguments.js';
import { type AnyvmafError, ioError } from '../../core/errors.js';
import { wholeNumber } from '../../core/numbers.js';
import { quoted, shown } from '../../core/printable.js';
import { list, measured, measuredText, readFields, type Source, text } from '../kinds.js';
import {
  type FrameMetrics,
  inputs,
  type MetricDistribution,
  models,
  outcome,
  type PooledMetric,
  pooled,
  preparation,
  type Report,
  run,
  spread,
} from '../schema.js';

export type Measured = 'frames' | 'metrics' | 'pooled_metrics' | 'aggregate_metrics' | 'distribution';

/** A report as its file has it; what it lacks is absent. */
export interface SavedParts extends Partial<Omit<Report, 'frames'>> {
  /** In the order of the file. */
  readonly frames: readonly FrameMetrics[];
  /** Full sentences. */
  readonly notes: readonly string[];
}

export interface SavedText {
  readonly name: string;
  readonly text: string;
}

/** Error at a place in the text; lines and columns count from 1. */
export function faultAt({ name, text }: SavedText, offset: number, what: string): AnyvmafError {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  const found = offset >= text.length ? 'the file ends here' : `found ${excerpt(text, offset)}`;
  return ioError(
    `${name}, line ${line}, column ${column}: ${what}, ${found}; the file is damaged, cut off or was changed by hand.`,
  );
}

/** Error for a well-formed file that is not a report. */
export function notReport({ name }: Pick<SavedText, 'name'>, why: string): AnyvmafError {
  return ioError(
    `${name} is not a report: ${why}. Reports are the JSON, NDJSON, XML, CSV and SUB files that anyvmaf and libvmaf write.`,
  );
}

function excerpt(text: string, offset: number): string {
  const rest = text.slice(offset, offset + 25);
  const line = rest.split(/[\r\n]/, 1)[0] ?? '';
  return line === '' ? 'the end of the line' : `"${line.length > 24 ? `${line.slice(0, 24)}…` : line}"`;
}

/** All keys of a report except measured values. */
export const OWN_FIELDS = {
  version: text,
  fps: measured,
  ...inputs.fields,
  ...preparation.fields,
  ...models.fields,
  ...run.fields,
  ...outcome.fields,
};

/** Everything but the measured values, as far as it is present and complete. */
function ownParts(source: Source): Omit<SavedParts, 'frames' | 'notes'> {
  return readFields(OWN_FIELDS, source);
}

/** libvmaf before 2.1 and ffmpeg's filters of that time wrote C's `nan` and `inf`, which are not JSON; here they become `null`. */
export function withoutCWords(text: string): string {
  return text.replace(C_WORDS, '$1null');
}

const C_WORDS = /(:\s*)[-+]?(?:nan(?:\(ind\))?|inf(?:inity)?)(?=\s*[,}\]])/gi;

/** @throws {AnyvmafError} `io` */
export function readJson(saved: SavedText): SavedParts {
  const top = parse(saved, saved.text, 0);
  if (!isObject(top) || !Array.isArray(top.frames)) throw notReport(saved, 'its JSON has no list "frames"');
  return {
    frames: top.frames.map((frame, i) => jsonFrame(frame, `frames[${i}]`, saved)),
    ...summaryParts(top),
    ...ownParts(top),
    notes: [],
  };
}

/** @throws {AnyvmafError} `io` */
export function readNdjson(saved: SavedText): SavedParts {
  const frames: FrameMetrics[] = [];
  let metrics: readonly string[] | undefined;
  let parts: Partial<SavedParts> = {};
  let summary = false;
  const notes: string[] = [];
  for (const { content, number, offset, ended } of linesOf(saved.text)) {
    if (content.trim() === '') continue;
    // The program ended while it wrote this line.
    if (!ended && number > 1 && jsonFault(content)) {
      notes.push(`Line ${number} is cut off and was ignored.`);
      continue;
    }
    const value = parse(saved, content, offset);
    const type = isObject(value) ? value.type : undefined;
    if (isObject(value) && type === 'header') {
      metrics = list(text).read(value.metrics ?? []);
      parts = { ...parts, ...ownParts(value) };
    } else if (type === 'frame') frames.push(jsonFrame(value, `line ${number}`, saved));
    else if (isObject(value) && type === 'summary') {
      summary = true;
      parts = { ...parts, ...ownParts(value), ...summaryParts(value) };
    } else throw notReport(saved, `line ${number} is not a header, frame or summary`);
  }
  if (!summary) notes.push('The file has no summary: the run had not finished when it was written.');
  return { ...parts, ...(metrics && { metrics }), frames, notes };
}

function parse(saved: SavedText, text: string, offset: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const repaired = withoutCWords(text);
    const fault = jsonFault(repaired);
    if (!fault) return JSON.parse(repaired);
    const { offset: at, expected } = repaired === text ? fault : (jsonFault(text) ?? fault);
    throw faultAt(saved, offset + at, `expected ${expected}`);
  }
}

function jsonFrame(frame: unknown, where: string, saved: SavedText): FrameMetrics {
  if (!isObject(frame)) throw notReport(saved, `${where} is not an object`);
  const { frameNum, metrics } = frame;
  if (typeof frameNum !== 'number' || !Number.isSafeInteger(frameNum) || frameNum < 0)
    throw notReport(saved, `${where} has no frame number "frameNum"`);
  if (!isObject(metrics)) throw notReport(saved, `${where} has no object "metrics"`);
  for (const [name, value] of Object.entries(metrics)) {
    // In JSON, null is a value that is not finite.
    if (value === null) metrics[name] = Number.NaN;
    else if (typeof value !== 'number') throw notReport(saved, `${where} has no number for ${quoted(name)}`);
  }
  // All members are numbers now.
  return { frameNum, metrics: metrics as Record<string, number> };
}

function summaryParts(top: Source): Partial<SavedParts> {
  const statistics = membersOf(top.pooled_metrics, (value) =>
    isObject(value) ? (pooled.read(value) ?? {}) : undefined,
  );
  const aggregates = membersOf(top.aggregate_metrics, (value) =>
    typeof value === 'number' ? value : Number.NaN,
  );
  const distribution = membersOf(top.distribution, spread.read);
  return {
    ...(statistics && { metrics: Object.keys(statistics), pooled_metrics: statistics }),
    ...(aggregates && { aggregate_metrics: aggregates }),
    ...(distribution && { distribution }),
  };
}

/** The members that can be read; `undefined` unless it is an object. */
function membersOf<T>(values: unknown, read: (value: unknown) => T | undefined) {
  if (!isObject(values)) return undefined;
  const members = Object.entries(values).map(([name, value]) => [name, read(value)] as const);
  return Object.fromEntries(members.filter((member): member is [string, T] => member[1] !== undefined));
}

const BLANKS = /[ \t\n\r]*/y;
/** Linear in the length: strings may be megabytes. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;

/** First place where a text is not JSON, and what was expected; messages of engines differ, and may not say where. */
function jsonFault(text: string): { readonly offset: number; readonly expected: string } | undefined {
  let at = 0;
  /** Closing characters of the open objects and lists. */
  const open: ('}' | ']')[] = [];
  let state: 'value' | 'key' | 'colon' | 'after' = 'value';
  let first = false;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    take(BLANKS);
    const fault = (expected: string) => ({ offset: at, expected });
    const char = text[at];
    const close = open.at(-1);
    const isFirst = first;
    first = false;
    if (close !== undefined && char === close && (isFirst || state === 'after')) {
      open.pop();
      state = 'after';
    } else if (state === 'after') {
      if (close === undefined) return char === undefined ? undefined : fault('the end');
      if (char !== ',') return fault(`"," or "${close}"`);
      state = close === '}' ? 'key' : 'value';
    } else if (state === 'colon') {
      if (char !== ':') return fault('":"');
      state = 'value';
    } else if (state === 'value' && (char === '{' || char === '[')) {
      first = true;
      open.push(char === '{' ? '}' : ']');
      state = char === '{' ? 'key' : 'value';
    } else {
      const isKey: boolean = state === 'key';
      if (!take(STRING) && (isKey || !take(WORD)))
        return fault(isKey ? `a key in quotes${isFirst ? ' or "}"' : ''}` : 'a value');
      state = isKey ? 'colon' : 'after';
      continue;
    }
    at++;
  }
}

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

/** Elements inside `<anyvmaf>` that occur once in their parent. */
const PARTS: readonly string[] = ['reference', 'distorted', 'pairing', 'native', 'sampling'];

/** Elements that are items of lists, by the key of the list. */
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

const TAG_START = /<\/?[A-Za-z_][\w.:-]*/y;
const ATTRIBUTE = /\s+([^\s=<>"/]+)\s*=\s*"([^"]*)"/y;
const TAG_END = /\s*\/?>/y;

/** @throws {AnyvmafError} `io` */
export function readXml(saved: SavedText): SavedParts {
  const frames: FrameMetrics[] = [];
  const statistics: [string, PooledMetric | Record<string, never>][] = [];
  const distributions: [string, MetricDistribution][] = [];
  const aggregates: [string, number][] = [];
  const own: Record<string, unknown> = {};
  /** The last element at each path, to which its children are added. */
  const last = new Map<string, Record<string, unknown>>([['anyvmaf', own]]);
  const seen = new Set<string>();
  for (const tag of tags(saved)) {
    const path = [...tag.inside.slice(1), tag.name].join('/');
    seen.add(path);
    const record = () => Object.fromEntries(tag.attributes);
    if (path === 'frames/frame') frames.push(xmlFrame(tag, saved));
    else if (path === 'VMAF' || path === 'fyi') Object.assign(own, record());
    else if (path === 'anyvmaf') Object.assign(own, record(), { models: [], warnings: [] });
    else if (path === 'pooled_metrics/metric') {
      const name = attribute(tag, 'name');
      if (name === undefined) throw faultAt(saved, tag.offset, 'expected a metric with a name');
      statistics.push([name, pooled.read(Object.fromEntries(numbers(tag, saved, 'name'))) ?? {}]);
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
      if (parent && list) append(parent, list, tag.name === 'warning' ? tag.content : value);
      else if (parent && PARTS.includes(tag.name)) parent[tag.name] = value;
    }
  }
  if (!seen.has('frames')) throw notReport(saved, 'its XML has no element <frames>');
  return {
    ...ownParts(own),
    frames,
    ...(seen.has('pooled_metrics') && {
      metrics: statistics.map(([name]) => name),
      pooled_metrics: Object.fromEntries(statistics),
    }),
    ...(seen.has('aggregate_metrics') && { aggregate_metrics: Object.fromEntries(aggregates) }),
    ...(seen.has('anyvmaf') && { distribution: Object.fromEntries(distributions) }),
    notes: [],
  };
}

function append(parent: Record<string, unknown>, key: string, item: unknown): void {
  const list = parent[key];
  if (Array.isArray(list)) list.push(item);
  else parent[key] = [item];
}

function xmlFrame(tag: Tag, saved: SavedText): FrameMetrics {
  const frameNum = wholeNumber(attribute(tag, 'frameNum') ?? '');
  if (frameNum === undefined) throw faultAt(saved, tag.offset, 'expected a frame with a frameNum');
  return { frameNum, metrics: Object.fromEntries(numbers(tag, saved, 'frameNum')) };
}

function attribute({ attributes }: Tag, name: string): string | undefined {
  return attributes.find(([key]) => key === name)?.[1];
}

/** Attributes as numbers, without the attribute `text`. */
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
    const [start = ''] = take(TAG_START) ?? [];
    const attributes: [name: string, value: string][] = [];
    for (let found = take(ATTRIBUTE); found; found = take(ATTRIBUTE))
      attributes.push([found[1] ?? '', plain(found[2] ?? '')]);
    const [end] = take(TAG_END) ?? [];
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

const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

/** Decodes entities; unknown ones stay, because libvmaf escapes nothing. */
function plain(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (code <= 0x10ffff) return String.fromCodePoint(code);
    return ENTITIES.get(name) ?? whole;
  });
}

/**
 * Ignores rows with fewer values than metrics: writers skip missing values, so which are missing is unknown.
 * @throws {AnyvmafError} `io`
 */
export function readCsv(saved: SavedText): SavedParts {
  const [head = ''] = saved.text.split('\n', 1);
  const closed = /,\r?$/.test(head);
  const [, ...metrics] = cells(head);
  const frames: FrameMetrics[] = [];
  const notes: string[] = [];
  for (const { content, number, offset, ended } of linesOf(saved.text)) {
    if (number === 1 || content.trim() === '') continue;
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
    const measured = metrics.map((name, i): [string, number] => {
      const text = values[i] ?? '';
      const value = measuredText(text);
      if (value === undefined) throw faultAt(saved, at, `expected a number for ${shown(name)}`);
      at += text.length + 1;
      return [name, value];
    });
    frames.push({ frameNum, metrics: Object.fromEntries(measured) });
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

/** Lines with their `number` from 1 and their `offset`; `ended` if a line end follows. */
function* linesOf(text: string) {
  for (let [number, offset] = [1, 0]; offset <= text.length; number++) {
    const end = text.indexOf('\n', offset);
    const until = end < 0 ? text.length : end;
    yield { content: text.slice(offset, until).replace(/\r$/, ''), number, offset, ended: end >= 0 };
    offset = until + 1;
  }
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
