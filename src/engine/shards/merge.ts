/**
 * @module engine/shards/merge
 * Checks that shards form one complete run, and builds its report, with the same values as from an unsharded run.
 */
import { requireArray, requireObject } from '../../core/arguments.js';
import type { ScoredFormat } from '../../core/colour.js';
import { mediaError, mismatchError, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { version } from '../../core/version.js';
import type { Finding } from '../../media/preflight/findings.js';
import { judge } from '../../media/preflight/judge.js';
import { buildReport } from '../../report/build.js';
import type { Report, ReportMeasurer } from '../../report/schema.js';
import { type CheckedOptions, checkOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import { Continuity } from '../inputs/frame-observer.js';
import { refuseFindings } from '../inputs/preflight.js';
import type { Extent } from '../pair/pair.js';
import { loadRequested, planRun, type RunPlan, reportModels } from '../plan/plan.js';
import { backendOfRuns, headOf, sayLengths, sumMeasurers } from '../results/report-parts.js';
import { Scoring } from '../results/scoring.js';
import { joinSessions } from '../workers/worker-pool.js';
import { cutShard, type MergeOptions, planDigest } from './shard.js';
import { requireShard, type Shard } from './shard-file.js';

/** Records between two checks of the signal. */
const SLICE = 1000;

/** @param shards of one run, in any order @throws {AnyvmafError} as the public `mergeShards` */
export async function mergeRun(
  platform: Platform,
  shards: readonly Shard[],
  options: MergeOptions = {},
): Promise<Report> {
  requireArray('shards', shards, 'an array of shards');
  for (const [i, shard] of shards.entries()) requireShard(`shards[${i}]`, shard);
  requireObject('options', options);
  options.signal?.throwIfAborted();
  const all = inOrder(shards);
  const [first] = all;
  const checked = checkOptions(first.options, 'score');
  const { parts, extent } = untilEnd(all);
  if (extent.pairs === 0) throw mediaError('There are no frames to score: each shard is empty.');
  const plan = planRun(
    await loadRequested(checked, platform, () => ({ ...first.format, encode: first.encode })),
    { ...first.format, ...coloursOf(first) },
    checked.compat,
  );
  if ((await planDigest(plan)) !== first.plan) {
    throw mismatchError(
      'a model differs from the one the shards were measured for; merge them with the models that they were measured for.',
    );
  }
  const run: Merged = { all, parts, extent, checked, plan };
  return report(run, await predict(platform, run, options), findingsOf(run));
}

interface Merged {
  readonly all: readonly [Shard, ...Shard[]];
  /** The shards up to the end of the shorter video. */
  readonly parts: readonly Shard[];
  readonly extent: Extent;
  readonly checked: CheckedOptions;
  readonly plan: RunPlan;
}

function coloursOf({ reference, distorted }: Shard): Pick<ScoredFormat, 'colours'> {
  if (!reference.colour || !distorted.colour) return {};
  return { colours: { reference: reference.colour, distorted: distorted.colour } };
}

function untilEnd(all: readonly Shard[]): Pick<Merged, 'parts' | 'extent'> {
  const parts: Shard[] = [];
  let pairs = 0;
  for (const shard of all) {
    parts.push(shard);
    pairs += shard.pairs.measured;
    const { ended, first, end, measured } = shard.pairs;
    if (ended && first + measured < end) return { parts, extent: { pairs, ended } };
  }
  return { parts, extent: { pairs, ended: parts.at(-1)?.pairs.ended ?? null } };
}

interface Predicted extends Awaited<ReturnType<Scoring['finish']>> {
  readonly tiny?: NonNullable<Report['tiny']>;
}

async function predict(platform: Platform, { parts, plan, checked }: Merged, options: MergeOptions) {
  const tiny = plan.tiny && new (await import('../backends/tiny.js')).TinyRun(plan.tiny);
  try {
    await tiny?.open(platform.tiny, plan.features.names);
    const scoring = new Scoring(plan, checked.subsample, options.onFrame, tiny?.regressors);
    for (const { pairs, records, fields } of parts) {
      for (let at = 0; at < pairs.measured; at += SLICE) {
        const count = Math.min(SLICE, pairs.measured - at);
        scoring.add(pairs.first + at, count, records.subarray(at * fields, (at + count) * fields));
        await platform.breathe();
        options.signal?.throwIfAborted();
      }
    }
    const finished = await scoring.finish();
    const told = tiny?.report(joinSessions(parts.map(({ sessions }) => sessions)));
    return {
      ...finished,
      ...(told && { tiny: told.tiny }),
      warnings: [...finished.warnings, ...(told?.warnings ?? [])],
    };
  } finally {
    await tiny?.close();
  }
}

/** All findings; `undefined` if nothing was checked. @throws {AnyvmafError} `mismatch` with `strict` */
function findingsOf({ all, parts, extent, checked }: Merged): readonly Finding[] | undefined {
  const known = all.at(-1)?.whole?.findings;
  const rules = all[0]?.continuity;
  if (!known || !rules) return known;
  const defect = parts.find((shard) => shard.defect)?.defect;
  if (defect) return judge([...known, defect]);
  const continuity = new Continuity(rules);
  for (const { pairs, signatures } of parts) continuity.add(pairs.first, signatures);
  const found = continuity.findings(extent.pairs, known, backendOf(parts));
  if (checked.pairing.strict) refuseFindings(found, true);
  return found;
}

function backendOf(parts: readonly Shard[]): string {
  return backendOfRuns(parts.filter(({ pairs }) => pairs.measured > 0));
}

function report(
  { all, parts, extent, checked, plan }: Merged,
  result: Predicted,
  findings: readonly Finding[] | undefined,
): Report {
  const [first] = all;
  const whole = all.at(-1)?.whole;
  if (!whole) throw mismatchError('the last shard lacks the facts about the whole pair; measure it again.');
  const said = sayLengths(
    { inputs: first, lengths: whole.lengths, extent, planned: first.planned },
    checked,
    findings,
  );
  const seconds = parts.reduce((sum, shard) => sum + shard.seconds, 0);
  const pairing = parts.find((shard) => shard.pairing)?.pairing;
  const measurers = measurersOf(parts, plan);
  const { warnings, ...finished } = result;
  const each = (kind: 'decoders' | 'backend') => [...new Set(parts.flatMap((shard) => shard.warnings[kind]))];
  return buildReport({
    ...headOf(first, checked, extent),
    fps: seconds > 0 ? extent.pairs / seconds : 0,
    ...finished,
    models: reportModels(plan),
    compat: checked.compat,
    backend_used: backendOf(parts),
    implementation: first.implementation,
    threads: Math.max(...parts.map(({ threads }) => threads)),
    ...(measurers.length > 0 && { measurers }),
    pairing: pairing && { ...pairing, frames: { ...pairing.frames, pairs: extent.pairs } },
    preflight: said.findings,
    frameCount: extent.pairs,
    warnings: [
      ...first.warnings.inputs,
      ...each('decoders'),
      ...each('backend'),
      ...plan.warnings,
      ...warnings,
      ...said.warnings,
    ],
  });
}

/** Measurers over all shards; empty if no GPU measured. */
function measurersOf(parts: readonly Shard[], { features }: RunPlan): readonly ReportMeasurer[] {
  if (parts.every(({ measurers }) => measurers === undefined)) return [];
  const extractors = [...new Set(features.extraction.calls.map(({ metric }) => metric))];
  return sumMeasurers(
    parts.flatMap(({ pairs, measurers }): readonly ReportMeasurer[] => {
      return measurers ?? [{ backend: 'cpu', extractors, frames: pairs.measured }];
    }),
  );
}

/** Most shard numbers in a message. */
const LISTED = 10;

/** Orders and deduplicates the shards of one run. @throws {AnyvmafError} `mismatch` if shards are missing or foreign */
function inOrder(shards: readonly Shard[]): readonly [Shard, ...Shard[]] {
  const [first] = shards;
  if (!first) throw usageError('there are no shards to merge; give those of a whole run.');
  if (first.version !== version) {
    throw mismatchError(
      `the shards were measured by anyvmaf ${shown(first.version)}, but this is ${version}; merge them with the version ` +
        'that measured them.',
    );
  }
  for (const other of shards) refuseStranger(first, other);
  const byNumber = new Map<number, Shard>();
  for (const shard of shards) {
    const { number } = shard.shard;
    const earlier = byNumber.get(number);
    if (earlier && !isSame(earlier, shard)) {
      throw mismatchError(
        `shard ${number} appears twice with different measurements, so one of the two machines measures wrong; measure ` +
          'it again on a third one, and leave out the record that differs.',
      );
    }
    byNumber.set(number, earlier ?? shard);
  }
  refuseMissing(byNumber, first.shard.count);
  const ordered = [...byNumber.values()].sort((a, b) => a.shard.number - b.shard.number);
  return [ordered[0] ?? first, ...ordered.slice(1)];
}

function isSame(a: Shard, b: Shard): boolean {
  const bits = ({ records }: Shard) => new BigUint64Array(records.buffer, records.byteOffset, records.length);
  const [one, other] = [bits(a), bits(b)];
  return one.length === other.length && one.every((value, i) => value === other[i]);
}

function refuseMissing(found: ReadonlyMap<number, Shard>, count: number): void {
  const missing: number[] = [];
  for (let number = 1; number <= count; number++) if (!found.has(number)) missing.push(number);
  if (missing.length === 0) return;
  const listed = missing.slice(0, LISTED).join(', ');
  const more = missing.length > LISTED ? ` and ${missing.length - LISTED} more` : '';
  throw mismatchError(
    missing.length === 1
      ? `1 shard of ${count} is missing: ${listed}; measure it and merge again.`
      : `${missing.length} shards of ${count} are missing: ${listed}${more}; measure them and merge again.`,
  );
}

/** Properties that all shards of a run share, with names for messages. */
const COMMON: readonly (readonly [what: string, of: (shard: Shard) => unknown])[] = [
  ['the version of anyvmaf', (shard) => shard.version],
  ['the number of shards', (shard) => shard.shard.count],
  ['the content of the reference', (shard) => shard.files.reference],
  ['the content of the distorted video', (shard) => shard.files.distorted],
  ['the options', (shard) => shard.options],
  ['the size and format of the pictures', (shard) => shard.format],
  ['the number of pairs', (shard) => shard.pairs.total],
  ['the models or features', (shard) => [shard.plan, shard.fields]],
  ['the properties of the reference', (shard) => ({ ...shard.reference, name: '' })],
  ['the properties of the distorted video', (shard) => ({ ...shard.distorted, name: '' })],
  ['the implementation', (shard) => shard.implementation],
  ['the checks of the pair', (shard) => shard.continuity],
];

/** Properties that all shards with pairs share. */
const DECODED: typeof COMMON = [
  ['how the videos were decoded and paired', (shard) => shard.pairing],
  [
    'the runtime of a tiny model',
    (shard) => shard.sessions.map(({ name, runtime, device }) => [name, runtime, device]),
  ],
];

function refuseStranger(first: Shard, other: Shard): void {
  const { number, count } = other.shard;
  const range = cutShard(other.shard, other.pairs.total);
  const misplaced = range.first !== other.pairs.first || range.end !== other.pairs.end;
  if (number < 1 || number > count || misplaced) {
    throw mismatchError(
      `the record of shard ${number} of ${count} does not have the pairs of that shard; measure it again.`,
    );
  }
  const measured = first.pairs.measured > 0 && other.pairs.measured > 0;
  for (const [what, of] of measured ? [...COMMON, ...DECODED] : COMMON) {
    const [one, two] = [of(first), of(other)].map(canonical);
    if (one === two) continue;
    const values = (one ?? '').length + (two ?? '').length < 200 ? ` (${two} against ${one})` : '';
    throw mismatchError(
      `shard ${number} of ${count} and shard ${first.shard.number} of ${first.shard.count} do not belong to one run: they differ in ` +
        `${what}${shown(values)}.`,
    );
  }
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  const sorted = (_: string, member: unknown): unknown =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member;
  return JSON.stringify(value ?? null, sorted);
}
