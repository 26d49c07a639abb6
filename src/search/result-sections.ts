/**
 * @module search/result-sections
 * Formats results: searches, ladders and comparisons as sections and CSV; tuned shots as CSV and as a script that makes
 * the encode with ffmpeg alone.
 */
import { isObject, oneOf, requireArray, requireObject, wrongType } from '../core/arguments.js';
import { fileWord, quotedWord } from '../core/names.js';
import { counted } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import { BANDWIDTH_COMMAND } from '../report/bandwidth.js';
import { type CurvePoint, type CurveSet, layoutOf, type Section, sectionsText } from '../report/sections.js';
import type { CompleteTarget } from './targets.js';
import {
  type ComparedCurve,
  type ComparisonResult,
  type CurveDelta,
  type CurveResult,
  type EncodedPoint,
  type LadderPoint,
  type LadderResult,
  type ResultFormat,
  type SearchPoint,
  type SearchResult,
  SHOT_FORMATS,
  type ShotFormat,
  type TuneShotsResult,
} from './types.js';

const ALL_POINTS = 'All points';

function titleOf(result: CurveResult): string {
  if (result.kind === 'ladder')
    return `${counted(result.rungs.length, 'rung')} for ${result.source} with ${result.encoder}`;
  if (result.kind === 'comparison') return `${result.curves.length} encoders on ${result.source}`;
  const { encoder, parameter, value, targets, source } = result;
  const [{ metric, statistic, atLeast, atMost }] = targets as readonly [CompleteTarget];
  return `${encoder} ${parameter} ${valueText(parameter, value)} for ${qualityName({ metric, statistic })} of ${atLeast ?? atMost} on ${source}`;
}

const FORMATS = ['text', 'json', 'csv', 'html'] as const satisfies readonly ResultFormat[];

/** @throws {AnyvmafError} `usage` for anything but a result, and for an unknown format */
export async function formatResult(result: CurveResult, format: ResultFormat): Promise<string> {
  if (!isResult(result))
    throw wrongType('result', result, 'the result of a search, a ladder or a comparison');
  switch (oneOf('format', format, FORMATS)) {
    case 'json':
      return `${JSON.stringify(result, null, 2)}\n`;
    case 'csv':
      return [...rowsOf(result)].map((row) => `${row.map(field).join(',')}\n`).join('');
    case 'html': {
      const { plainPage } = await import('../report/html/markup.js');
      return plainPage(PAGE_KINDS[result.kind], resultSections(result));
    }
    default: {
      const tables = resultTables(result).filter(({ title }, i) => i === 0 || title !== ALL_POINTS);
      return sectionsText(tables, layoutOf({}));
    }
  }
}

const PAGE_KINDS = { search: 'encoder setting', ladder: 'encoding ladder', comparison: 'encoder comparison' };

function isResult(data: unknown): boolean {
  try {
    return isObject(data) && Object.hasOwn(PAGE_KINDS, String(data.kind));
  } catch {
    // A proxy may throw.
    return false;
  }
}

const COMMANDS = { search: 'Encode with this setting', ladder: 'Encode all rungs for DASH and HLS' } as const;

/** Sections of a page: the answer, its curves, all points, and the command to run next. */
export function resultSections(result: CurveResult): readonly Section[] {
  const curves = curvesOf(result);
  const [main, ...others] = resultTables(result);
  const command = 'command' in result ? result.command.map(quotedWord).join(' ') : '';
  return [
    { headline: titleOf(result), about: sampledText(result), ...main },
    { title: `${curves.quality} over bit rate`, curves },
    ...others,
    ...(result.kind !== 'comparison' && command !== ''
      ? [
          {
            title: COMMANDS[result.kind],
            command: [command, ...(result.kind === 'ladder' ? [BANDWIDTH_COMMAND] : [])].join('\n'),
          },
        ]
      : []),
  ];
}

function sampledText({ samples, encodes, cached }: CurveResult): string {
  const frames = samples?.reduce((sum, { count }) => sum + count, 0);
  const scope = samples ? `${counted(samples.length, 'sample')}, ${frames} frames` : 'the whole source';
  return `measured on ${scope}; ${counted(encodes, 'encode')}, ${counted(cached, 'cached point')}`;
}

function resultTables(result: CurveResult): readonly [Section, ...Section[]] {
  if (result.kind === 'ladder') return ladderTables(result);
  if (result.kind === 'comparison') return comparisonTables(result);
  return [searchTable(result)];
}

/** The first column names rows. */
function tableOf(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): Section {
  return { title, table: { names: 'apart', heads, rows } };
}

function searchTable({ parameter, points, targets }: SearchResult): Section {
  const row = (point: SearchPoint) => [
    ...pointCells(parameter, point),
    ...[speed(point.framesPerSecond), quality(point.margin)],
  ];
  const heads = [parameter, qualityName(targets[0] as CompleteTarget), 'kb/s', 'frames/s', 'margin'];
  return tableOf('Points', heads, points.map(row));
}

function ladderTables(result: LadderResult): readonly [Section, ...Section[]] {
  const { rungs, takeovers, curves, parameter, hull } = result;
  const name = qualityName(result);
  const heads = ['size', parameter, name, 'kb/s'];
  const row = (point: LadderPoint) => [sizeText(point), ...pointCells(parameter, point)];
  const onHull = new Set(hull.map((point) => `${sizeText(point)} ${point.value}`));
  return [
    tableOf(
      'Rungs',
      ['rung', ...heads, 'vs rung below'],
      rungs.map((point, i) => [
        String(i + 1),
        ...row(point),
        i === 0 ? '' : `${(point.kbps / (rungs[i - 1] as LadderPoint).kbps).toFixed(2)}x`,
      ]),
    ),
    tableOf(
      'Where each size takes over',
      ['size', 'from kb/s', `at ${name}`],
      takeovers.map((size) => [sizeText(size), rate(size.kbps), quality(size.quality)]),
    ),
    tableOf(
      ALL_POINTS,
      [...heads, 'frames/s', 'on the hull'],
      curves.flatMap(({ points }) =>
        points.map((point) => [
          ...row(point),
          speed(point.framesPerSecond),
          onHull.has(`${sizeText(point)} ${point.value}`) ? 'yes' : '',
        ]),
      ),
    ),
  ];
}

function comparisonTables(result: ComparisonResult): readonly [Section, ...Section[]] {
  const { curves, deltas } = result;
  const name = qualityName(result);
  const hasTargets = curves.some(({ atTargets }) => atTargets.length > 0);
  const summary = tableOf(
    'Encoders',
    ['encoder', 'BD-rate', `BD-${name}`, 'range', 'frames/s'],
    curves.map((curve, i) => [curve.name, ...deltaCells(deltas[i - 1]), speed(curve.framesPerSecond)]),
  );
  const points = tableOf(
    ALL_POINTS,
    ['encoder', 'parameter', 'value', name, 'kb/s', 'frames/s'],
    curves.flatMap((curve) =>
      curve.points.map((point) => [
        curve.name,
        curve.parameter,
        ...pointCells(curve.parameter, point),
        speed(point.framesPerSecond),
      ]),
    ),
  );
  return hasTargets ? [summary, targetTable(curves, name), points] : [summary, points];
}

function deltaCells(delta: CurveDelta | undefined): readonly [string, string, string] {
  if (!delta) return ['anchor', '', ''];
  if (!delta.rate) return ['no common range', '', ''];
  const { from, to } = delta.rate.range;
  return [
    `${signed(delta.rate.value, 1)} %`,
    delta.quality ? signed(delta.quality.value, 2) : 'no common rates',
    [from, to].map((end) => end.toFixed(to < 20 ? 2 : 0)).join(' to '),
  ];
}

/** Rates that the encoders need for each target, relative to the lowest. */
function targetTable(curves: readonly ComparedCurve[], name: string): Section {
  const targets = curves[0]?.atTargets ?? [];
  return tableOf(
    `For each target (${name})`,
    ['encoder', 'target', 'parameter', 'value', 'reached', 'kb/s', 'at target', 'vs lowest'],
    targets.flatMap(({ target }, i) => {
      const at = curves.flatMap((curve) =>
        curve.atTargets[i] ? [{ curve, found: curve.atTargets[i] }] : [],
      );
      // Parameter steps are coarse, so encoders reach different qualities: compare rates at the exact target.
      const reached = at.filter(({ found }) => found.reached);
      const least = Math.min(...reached.map(({ found }) => found.kbpsAt ?? found.kbps));
      return at.map(({ curve, found }) => [
        curve.name,
        String(target),
        curve.parameter,
        ...pointCells(curve.parameter, found),
        typeof found.kbpsAt === 'number' ? rate(found.kbpsAt) : '',
        found.reached ? `${(((found.kbpsAt ?? found.kbps) / least) * 100).toFixed(0)} %` : 'missed',
      ]);
    }),
  );
}

type PointFacts = Pick<LadderPoint, 'value' | 'quality' | 'kbps'>;

function pointCells(parameter: string, point: PointFacts): readonly string[] {
  return [valueText(parameter, point.value), quality(point.quality), rate(point.kbps)];
}

function sizeText({ width, height }: PictureSize): string {
  return `${width}x${height}`;
}

function quality(value: number): string {
  return value.toFixed(2);
}

function rate(kbps: number): string {
  return kbps < 100 ? kbps.toFixed(1) : kbps.toFixed(0);
}

function speed(framesPerSecond: number | null): string {
  return framesPerSecond === null ? '' : framesPerSecond.toFixed(framesPerSecond < 10 ? 1 : 0);
}

function signed(value: number, digits: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(digits)}`;
}

// --- curves ---

function curvesOf(result: CurveResult): CurveSet {
  const measure = result.kind === 'search' ? (result.targets[0] as CompleteTarget) : result;
  // VMAF scores end at 0 and 100.
  const limits = measure.metric.startsWith('vmaf') ? ([0, 100] as const) : undefined;
  const common = { quality: qualityName(measure), limits, hull: [], chosen: [] };
  const curve = (name: string, points: readonly PointFacts[], parameter: string) => ({
    name,
    points: points.toSorted((a, b) => a.kbps - b.kbps).map((point) => placed(point, parameter)),
  });
  if (result.kind === 'comparison')
    return { ...common, curves: result.curves.map((one) => curve(one.name, one.points, one.parameter)) };
  const { parameter } = result;
  if (result.kind === 'ladder') {
    const named = (point: LadderPoint) => placed(point, parameter, `${point.height}p `);
    return {
      ...common,
      curves: result.curves.map((one) => curve(sizeText(one), one.points, parameter)),
      hull: result.hull.map(named),
      chosen: result.rungs.map(named),
    };
  }
  const { encoder, points, value, targets } = result;
  return {
    ...common,
    curves: [curve(encoder, points, parameter)],
    chosen: points.filter((point) => point.value === value).map((point) => placed(point, parameter)),
    target: targets[0]?.atLeast ?? targets[0]?.atMost,
  };
}

/** `vmaf`, or `vmaf, p5`. */
function qualityName({ metric, statistic }: Pick<LadderResult, 'metric' | 'statistic'>): string {
  return statistic === 'mean' ? metric : `${metric}, ${statistic.replace('_', ' ')}`;
}

/** Bit rates in kilobits per second. */
function valueText(parameter: string, value: number): string {
  return parameter === 'bitrate' ? `${Math.round(value / 1000)} kb/s` : String(value);
}

function placed({ kbps, quality, value }: PointFacts, parameter: string, size = ''): CurvePoint {
  return { kbps, quality, label: `${size}${parameter} ${valueText(parameter, value)}` };
}

// --- CSV ---

type CsvRow = readonly (string | number | boolean | null)[];

/** A header, then a row per point. */
function* rowsOf(result: CurveResult): Generator<CsvRow> {
  const common = ['bytes', 'kbps', 'quality', 'frames_per_second'];
  const values = ({ bytes, kbps, quality, framesPerSecond }: EncodedPoint & { readonly quality: number }) => [
    ...[bytes, kbps, quality, framesPerSecond],
  ];
  if (result.kind === 'search') {
    yield [result.parameter, ...common, 'margin'];
    for (const point of result.points) yield [point.value, ...values(point), point.margin];
  } else if (result.kind === 'ladder') {
    yield ['width', 'height', result.parameter, ...common, 'hull', 'rung'];
    for (const point of result.curves.flatMap(({ points }) => points)) {
      const same = (one: (typeof result.hull)[number]) =>
        one.width === point.width && one.height === point.height && one.value === point.value;
      const rung = result.rungs.findIndex(same);
      const place = [result.hull.some(same), rung < 0 ? null : rung + 1];
      yield [point.width, point.height, point.value, ...values(point), ...place];
    }
  } else {
    yield ['name', 'encoder', 'parameter', 'value', ...common];
    for (const { name, encoder, parameter, points } of result.curves)
      for (const point of points) yield [name, encoder, parameter, point.value, ...values(point)];
  }
}

/** Quotes where necessary, and makes formulas of spreadsheets plain text. */
function field(value: CsvRow[number]): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @throws {AnyvmafError} `usage` for anything but a result, and for an unknown format */
export function shotsText(result: TuneShotsResult, format: ShotFormat): string {
  requireObject('result', result, 'the result of tuneShots');
  requireArray('result.shots', result.shots);
  switch (oneOf('format', format, SHOT_FORMATS)) {
    case 'csv':
      return csvText(result);
    case 'shell':
      return scriptText(result);
    default:
      return `${JSON.stringify(result, null, 2)}\n`;
  }
}

function csvText({ shots, parameter, targets }: TuneShotsResult): string {
  const [{ metric } = { metric: 'vmaf' }] = targets;
  const head = `shot,first_frame,frames,start,seconds,begins,${parameter},bytes,kbps,${metric}_mean,${metric}_min,margin`;
  const lines = shots.map((shot) => {
    const { number, first, count, start, seconds, begins, value, bytes, kbps, margin } = shot;
    const pooled = shot.pooled[metric];
    return [
      ...[number, first, count, start.toFixed(6), seconds.toFixed(6), begins, value],
      ...[bytes, kbps.toFixed(3), pooled?.mean, pooled?.min, margin],
    ].join(',');
  });
  return `${[head, ...lines].join('\n')}\n`;
}

/** Encodes each shot from the source, then joins them with the source's audio and subtitles. */
function scriptText(result: TuneShotsResult): string {
  const { source, shots, args, encoder, parameter, lead } = result;
  // Delays the video relative to sound and subtitles as in the source.
  const late = lead > 0 ? ` -itsoffset ${lead.toFixed(6)}` : '';
  const input = result.opening?.map(quotedWord).join(' ') ?? '-i "$source"';
  const steps = shots.map((shot, i) => {
    const words = [
      ...['ffmpeg', '-v', 'error', '-nostdin', ...seekArgs(result, i), 'SOURCE', '-map', '0:V:0'],
      ...['-frames:v', String(shot.count), ...stamped(args[i] ?? [])],
      ...['-fps_mode', 'passthrough', '-an', '-sn'],
    ];
    const command = words.map((word) => (word === 'SOURCE' ? input : quotedWord(word))).join(' ');
    const file = `shot-${String(shot.number).padStart(5, '0')}.mkv`;
    return `${command} "$folder/${file}"\nprintf 'file %s\\nduration %s\\n' ${file} ${shot.seconds.toFixed(6)} >> "$folder/list.txt"`;
  });
  return `#!/bin/sh
# ${encoder}, one ${parameter} per shot of ${shots.length}. Usage: sh SCRIPT [OUTPUT]; ffmpeg 5.1 or later.
set -e
source=${quotedWord(fileWord(source))}
output=\${1:-encode.mkv}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
${steps.join('\n')}
ffmpeg -v error -nostdin ${input}${late} -f concat -safe 1 -i "$folder/list.txt" -map 1:v -map '0:a?' -map '0:s?' \\
  -map_metadata 0 -c copy "$output"
`;
}

/** Seeks between the shot and the frame before it, so that rounding cannot hit a neighbouring frame. */
function seekArgs({ seeks }: TuneShotsResult, index: number): readonly string[] {
  return index === 0 ? [] : ['-seek_timestamp', '1', '-ss', (seeks[index] as number).toFixed(6)];
}

/** Makes times begin at 0. */
function stamped(args: readonly string[]): readonly string[] {
  const at = args.indexOf('-vf');
  if (at < 0) return ['-vf', 'setpts=PTS-STARTPTS', ...args];
  return args.with(at + 1, `${args[at + 1]},setpts=PTS-STARTPTS`);
}
