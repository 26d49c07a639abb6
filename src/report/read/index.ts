/**
 * @module report/read/index
 * Reads saved reports, ours and libvmaf's, in any format.
 */
import { requireObject, requireText } from '../../core/arguments.js';
import { ioError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { Kind } from '../kinds.js';
import { statisticsOf } from '../pool.js';
import type { FrameMetrics, Report } from '../schema.js';
import { trustOf } from '../trust.js';
import type { Baseline } from '../verdict.js';
import type { ReportFormat } from '../write.js';
import {
  faultAt,
  type Measured,
  notReport,
  OWN_FIELDS,
  readCsv,
  readJson,
  readNdjson,
  readSub,
  readXml,
  type SavedParts,
  type SavedText,
} from './formats.js';

/**
 * A saved report, with the decimals of its file. Missing parts are absent, except for statistics of metrics:
 * `computed` lists those that are computed here from the frames.
 */
export interface ReadReport extends Partial<Omit<Report, Measured>>, Pick<Report, Measured> {
  readonly format: ReportFormat;
  /** Statistics that the file lacks. */
  readonly computed: readonly ('pooled_metrics' | 'distribution')[];
  /** What could not be read; full sentences. */
  readonly notes: readonly string[];
}

const READERS: Readonly<Record<ReportFormat, (saved: SavedText) => SavedParts>> = {
  json: readJson,
  ndjson: readNdjson,
  xml: readXml,
  csv: readCsv,
  sub: readSub,
};

/**
 * Reads a report written by `anyvmaf`, `vmaf` or ffmpeg's libvmaf filter. Detects the format from the content.
 * @param name of the file, for messages
 * @throws {AnyvmafError} `io` if it is damaged or not a report; the message says where
 */
export function readReport(text: string, name = 'The file'): ReadReport {
  requireText('text', text, 'the text of a report');
  requireText('name', name, 'a name for messages');
  const saved = { name, text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text };
  const format = formatOf(saved);
  const { frames: found, notes, ...parts } = READERS[format](saved);
  const frames = inOrder(found, saved);
  const metrics = metricsOf(frames, parts.metrics ?? []);
  const statistics = statisticsOf(seriesOf(frames, metrics));
  return {
    ...parts,
    format,
    frames,
    metrics,
    pooled_metrics: parts.pooled_metrics ?? statistics.pooled_metrics,
    aggregate_metrics: parts.aggregate_metrics ?? {},
    distribution: parts.distribution ?? statistics.distribution,
    computed: (['pooled_metrics', 'distribution'] as const).filter((key) => parts[key] === undefined),
    notes,
  };
}

/** Whether a file has everything of a report, as our JSON, NDJSON and XML do, so that it can be written again. */
export function isReport(read: ReadReport): read is ReadReport & Report {
  requireObject('read', read, 'the result of readReport');
  const stated = new Map(Object.entries(read));
  return Object.entries<Kind<unknown>>(OWN_FIELDS).every(
    ([name, { optional }]) => optional || stated.get(name) !== undefined,
  );
}

/** @throws {AnyvmafError} `io` unless it is a report, or a JSON array of reports, that says which models ran */
export function readBaseline(text: string, name: string): Baseline {
  const reads = reportTexts(text, name).map((report) => readReport(report, name));
  return baselineFrom(reads, name);
}

/** @throws {AnyvmafError} `io` if a report does not say which models ran, or cannot be trusted */
export function baselineFrom(reads: readonly ReadReport[], name: string): Baseline {
  const reports = reads.map((read) => {
    if (isReport(read)) return read;
    throw ioError(
      `the baseline ${shown(name)} does not name the models of its scores; use a JSON report written by anyvmaf`,
    );
  });
  if (reports.length === 0) throw ioError(`the baseline ${shown(name)} has no report`);
  for (const { distorted, preflight, warnings } of reports) {
    const trust = trustOf({ preflight, warnings });
    if (trust.verdict !== 'untrusted') continue;
    throw ioError(
      `the score of ${shown(distorted.name)} in the baseline ${shown(name)} cannot be trusted: ${trust.cause ?? ''} Make the baseline again`,
    );
  }
  return { name, reports };
}

/**
 * Texts of the reports in a JSON array or in JSON lines of several encodes, without failed encodes; or the text itself.
 * @throws {AnyvmafError} `io` for a damaged array
 */
export function reportTexts(text: string, name: string): readonly string[] {
  if (/^\uFEFF?\{"type":"(?:header|failure)"/.test(text))
    return text.split(RUN_END).filter((run) => run.trim() !== '' && !FAILED.test(run));
  if (!/^\uFEFF?\s*\[/.test(text)) return [text];
  let list: unknown;
  try {
    list = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw ioError(`${shown(name)} is damaged: ${(cause as Error).message}`, { cause });
  }
  const items = Array.isArray(list) ? list : [];
  return items.filter((item) => item?.error === undefined).map((item) => JSON.stringify(item));
}

/** After the line that ends an encode's JSON lines. A dot would not match the carriage returns of Windows. */
const RUN_END = /(?<=^\{"type":"(?:summary|failure)"[^\n]*\n)/m;
const FAILED = /^\uFEFF?\{"type":"failure"/m;

function formatOf(saved: SavedText): ReportFormat {
  const { text } = saved;
  const start = /\S/.exec(text)?.index;
  if (start === undefined) throw notReport(saved, 'it is empty');
  const line = text.slice(start, start + 4096).split('\n', 1)[0] ?? '';
  if (line.startsWith('<')) {
    if (/^<(!doctype\s+html|html)\b/i.test(line))
      throw notReport(saved, 'it is an HTML page; open the JSON report instead');
    return 'xml';
  }
  if (/^\{\d+\}\{\d+\}/.test(line)) return 'sub';
  if (/^\{\s*"type"\s*:/.test(line)) return 'ndjson';
  if (line.startsWith('{')) return 'json';
  if (/^Frame,/i.test(line)) return 'csv';
  if (line.startsWith('[')) throw notReport(saved, 'its JSON is a list');
  if (line.startsWith('reference,distorted,'))
    throw notReport(saved, 'it is a comparison without frames; open the JSON comparison instead');
  throw faultAt(saved, start, 'expected a report');
}

/** Ascending; logs of filters that drop frames may not be. */
function inOrder(frames: readonly FrameMetrics[], saved: SavedText): FrameMetrics[] {
  const sorted = frames.toSorted((a, b) => a.frameNum - b.frameNum);
  const twice = sorted.find(({ frameNum }, i) => frameNum === sorted[i - 1]?.frameNum);
  if (twice) throw notReport(saved, `frame ${twice.frameNum} occurs twice`);
  return sorted;
}

/** Metrics in the file's own order, then those that only frames have. */
function metricsOf(frames: readonly FrameMetrics[], listed: readonly string[]): string[] {
  const metrics = new Set(listed);
  for (const frame of frames) for (const name of Object.keys(frame.metrics)) metrics.add(name);
  return [...metrics];
}

/** One metric at a time, since reports may be long. */
function* seriesOf(frames: readonly FrameMetrics[], metrics: readonly string[]) {
  for (const name of metrics) {
    const complete = frames.every(({ metrics: values }) => typeof values[name] === 'number');
    const values = complete ? Float64Array.from(frames, (frame) => frame.metrics[name] ?? Number.NaN) : [];
    yield { name, values };
  }
}
