/**
 * @module report/read/json
 * Reads JSON logs, ours and libvmaf's, and NDJSON, of which the end may be missing.
 */
import { quoted } from '../../core/printable.js';
import type { FrameMetrics, MetricDistribution, PooledMetric } from '../types.js';
import { faultAt, notReport, type SavedText } from './fault.js';
import { Fields, isObject } from './fields.js';
import { jsonFault } from './json-fault.js';
import { distributionOf, ownParts, pooledOf } from './own.js';
import type { SavedParts } from './parts.js';

/** libvmaf before 2.1 and ffmpeg's filters of that time wrote C's words, which are not JSON. */
const C_WORDS = /(:\s*)[-+]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])/gi;

/** @throws {AnyvmafError} `io` */
export function readJson(saved: SavedText): SavedParts {
  const value = parse(saved, saved.text, 0);
  const top = Fields.of(value);
  const frames = top?.list('frames');
  if (!top || !frames) throw notReport(saved, 'its JSON has no list "frames"');
  return {
    frames: frames.map((frame, i) => frameOf(frame, `frames[${i}]`, saved)),
    ...summaryParts(top),
    ...ownParts(top),
    notes: [],
  };
}

/** @throws {AnyvmafError} `io` */
export function readNdjson(saved: SavedText): SavedParts {
  const { text } = saved;
  const frames: FrameMetrics[] = [];
  let metrics: string[] | undefined;
  let parts: Partial<SavedParts> = {};
  let summary = false;
  const notes: string[] = [];
  let start = 0;
  for (let line = 1; start < text.length; line++) {
    const end = text.indexOf('\n', start);
    const content = text.slice(start, end < 0 ? text.length : end);
    const at = start;
    start = end < 0 ? text.length : end + 1;
    if (content.trim() === '') continue;
    // The line that was being written when its program ended.
    if (end < 0 && line > 1 && jsonFault(content)) {
      notes.push(`Line ${line} is cut off and was left out.`);
      break;
    }
    const fields = Fields.of(parse(saved, content, at));
    const type = fields?.text('type');
    if (fields && type === 'header') {
      metrics = fields.texts('metrics');
      parts = { ...parts, ...ownParts(fields) };
    } else if (fields && type === 'frame') {
      frames.push(frameOf(Object.fromEntries(fields.entries), `line ${line}`, saved));
    } else if (fields && type === 'summary') {
      summary = true;
      parts = { ...parts, ...ownParts(fields), ...summaryParts(fields) };
    } else throw notReport(saved, `line ${line} is no header, frame or summary`);
  }
  if (!summary) notes.push('The file has no summary: the run had not ended when it was written.');
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
  if (!isObject(frame)) throw notReport(saved, `${where} is no object`);
  const { frameNum, metrics } = frame;
  if (typeof frameNum !== 'number' || !Number.isSafeInteger(frameNum) || frameNum < 0)
    throw notReport(saved, `${where} has no frame number "frameNum"`);
  if (!isObject(metrics)) throw notReport(saved, `${where} has no object "metrics"`);
  for (const [name, value] of Object.entries(metrics)) {
    // What is not finite is null in JSON.
    if (value === null) metrics[name] = Number.NaN;
    else if (typeof value !== 'number') throw notReport(saved, `${where} has no number for ${quoted(name)}`);
  }
  // All members are numbers now.
  return { frameNum, metrics: metrics as Record<string, number> };
}

/** Statistics of the metrics, in their order. */
function summaryParts(top: Fields): Partial<SavedParts> {
  const pooled = top.object('pooled_metrics');
  const aggregates = top.object('aggregate_metrics');
  const spread = top.object('distribution');
  const statistics: [string, PooledMetric | Record<string, never>][] = [];
  for (const [name, value] of pooled?.entries ?? []) {
    const fields = Fields.of(value);
    if (fields) statistics.push([name, pooledOf(fields)]);
  }
  const distributions: [string, MetricDistribution][] = [];
  for (const [name, value] of spread?.entries ?? []) {
    const fields = Fields.of(value);
    const distribution = fields && distributionOf(fields);
    if (distribution) distributions.push([name, distribution]);
  }
  const values = [...(aggregates?.entries ?? [])].map(([name, value]): [string, number] => [
    name,
    typeof value === 'number' ? value : Number.NaN,
  ]);
  return {
    ...(pooled && {
      metrics: statistics.map(([name]) => name),
      pooled_metrics: Object.fromEntries(statistics),
    }),
    ...(aggregates && { aggregate_metrics: Object.fromEntries(values) }),
    ...(spread && { distribution: Object.fromEntries(distributions) }),
  };
}
