/**
 * @module report/read/json
 * Reads JSON logs, ours and libvmaf's, and NDJSON, which may be cut off.
 */
import { isObject } from '../../core/arguments.js';
import { quoted } from '../../core/printable.js';
import { list, type Source, text } from '../kinds.js';
import { pooled, spread } from '../schema.js';
import type { FrameMetrics } from '../types.js';
import { faultAt, notReport, ownParts, type SavedParts, type SavedText } from './saved.js';

/** libvmaf before 2.1 and ffmpeg's filters of that time wrote C's `nan` and `inf`, which are not JSON. */
const C_WORDS = /(:\s*)[-+]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])/gi;

/** @throws {AnyvmafError} `io` */
export function readJson(saved: SavedText): SavedParts {
  const top = parse(saved, saved.text, 0);
  if (!isObject(top) || !Array.isArray(top.frames)) throw notReport(saved, 'its JSON has no list "frames"');
  return {
    frames: top.frames.map((frame, i) => frameOf(frame, `frames[${i}]`, saved)),
    ...summaryParts(top),
    ...ownParts(top),
    notes: [],
  };
}

/** @throws {AnyvmafError} `io` */
export function readNdjson(saved: SavedText): SavedParts {
  const { text: lines } = saved;
  const frames: FrameMetrics[] = [];
  let metrics: readonly string[] | undefined;
  let parts: Partial<SavedParts> = {};
  let summary = false;
  const notes: string[] = [];
  let start = 0;
  for (let line = 1; start < lines.length; line++) {
    const end = lines.indexOf('\n', start);
    const content = lines.slice(start, end < 0 ? lines.length : end);
    const at = start;
    start = end < 0 ? lines.length : end + 1;
    if (content.trim() === '') continue;
    // The line that was being written when the program ended.
    if (end < 0 && line > 1 && jsonFault(content)) {
      notes.push(`Line ${line} is cut off and was ignored.`);
      break;
    }
    const value = parse(saved, content, at);
    const type = isObject(value) ? value.type : undefined;
    if (isObject(value) && type === 'header') {
      metrics = list(text).read(value.metrics ?? []);
      parts = { ...parts, ...ownParts(value) };
    } else if (type === 'frame') frames.push(frameOf(value, `line ${line}`, saved));
    else if (isObject(value) && type === 'summary') {
      summary = true;
      parts = { ...parts, ...ownParts(value), ...summaryParts(value) };
    } else throw notReport(saved, `line ${line} is not a header, frame or summary`);
  }
  if (!summary) notes.push('The file has no summary: the run had not finished when it was written.');
  return { ...parts, ...(metrics && { metrics }), frames, notes };
}

function parse(saved: SavedText, text: string, offset: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const repaired = text.replace(C_WORDS, '$1null');
    const fault = jsonFault(repaired);
    if (!fault) return JSON.parse(repaired);
    const { offset: at, expected } = repaired === text ? fault : (jsonFault(text) ?? fault);
    throw faultAt(saved, offset + at, `expected ${expected}`);
  }
}

function frameOf(frame: unknown, where: string, saved: SavedText): FrameMetrics {
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
  const statistics = membersOf(top.pooled_metrics, (one) =>
    isObject(one) ? (pooled.read(one) ?? {}) : undefined,
  );
  const aggregates = membersOf(top.aggregate_metrics, (one) => (typeof one === 'number' ? one : Number.NaN));
  const distribution = membersOf(top.distribution, (one) => spread.read(one));
  return {
    ...(statistics && { metrics: Object.keys(statistics), pooled_metrics: statistics }),
    ...(aggregates && { aggregate_metrics: aggregates }),
    ...(distribution && { distribution }),
  };
}

/** The members that can be read; `undefined` unless it is an object. */
function membersOf<T>(values: unknown, read: (value: unknown) => T | undefined) {
  if (!isObject(values)) return undefined;
  const found: [string, T][] = [];
  for (const [name, value] of Object.entries(values)) {
    const member = read(value);
    if (member !== undefined) found.push([name, member]);
  }
  return Object.fromEntries(found);
}

const BLANKS = /[ \t\n\r]*/y;
/** Linear in the length: strings may be megabytes. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;

/** First place where a text is not JSON, and what was expected; engines word it differently or do not say where. */
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
