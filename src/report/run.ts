/**
 * @module report/run
 * How the numbers of encodes were made, in words, for pages and terminals: files, pairing, models, engine, backends.
 */
import { grouped } from '../core/printable.js';
import {
  bitrateText,
  colourText,
  type Facts,
  formatFacts,
  inputFacts,
  joined,
  measurerText,
  modelFlags,
  NO_GRAIN,
  offsetStateText,
  pairCount,
  sizeText,
  skippedText,
  trackOf,
  unpairedFacts,
} from './facts.js';
import type { ReportTinyModel } from './schema.js';

type Row = readonly [name: string, value: string | false | undefined];
type KnownRow = readonly [name: string, value: string];

/** Groups of rows; rows that are the same for all encodes are listed once. `apart`: they begin on different frames. */
export function runGroups(list: readonly Facts[], apart = false) {
  const [first] = list;
  if (!first) return [];
  const comparisons = list.map(comparisonRows);
  const keys = comparisons.map((rows) => new Set(rows.map((row) => JSON.stringify(row))));
  const isCommon = (row: Row) => keys.every((rows) => rows.has(JSON.stringify(row)));
  const distorted = list.map((facts, i): readonly [string, readonly Row[]] => [
    list.length > 1 ? `Distorted ${i + 1}` : 'Distorted',
    [
      ...inputRows(facts, 'distorted', false),
      ...(apart ? [['skipped', skippedText(facts)] as const] : []),
      ...(comparisons[i]?.filter((row) => !isCommon(row)) ?? []),
    ],
  ]);
  const groups: readonly (readonly [title: string, rows: readonly Row[]])[] = [
    ['Reference', inputRows(first, 'reference', apart)],
    ...distorted,
    ['Comparison', comparisons[0]?.filter(isCommon) ?? []],
    ['Engine', engineRows(first)],
    ['Backends', measuredRows(first)],
  ];
  return groups.flatMap(([title, rows]) => {
    const known = rows.filter((row): row is KnownRow => Boolean(row[1]));
    return known.length === 0 ? [] : [[title, known] as readonly [title: string, rows: readonly KnownRow[]]];
  });
}

/** @param apart encodes begin on different frames of it, so no skipped count holds for all */
function inputRows(facts: Facts, side: 'reference' | 'distorted', apart: boolean): Row[] {
  const input = facts[side];
  const pairing = facts.pairing?.[side];
  const format = input && inputFacts(apart ? { ...input, skipped: 0 } : input);
  const scaled = pairing?.scaledBy;
  return [
    ['file', input?.name],
    ['video', format?.join(', ')],
    ['video track', trackOf(pairing)],
    ['codec', joined([pairing?.codec, pairing?.pixelFormat])],
    ['encoder', pairing?.encoderSettings],
    ['bit rate', joined([bitrateText(pairing?.bitrate), sizeText(pairing?.fileSize)])],
    ['decoded by', pairing?.decodedBy],
    ['scaled by', scaled && `${scaled}, from ${pairing.width}×${pairing.height}`],
    ['converted', pairing?.conversions.join('; ')],
    ['colour', input && colourText(input)],
  ];
}

function offsetRow({ pairing }: Facts): Row {
  const frames = pairing?.frames;
  if (!frames || (frames.offset === 0 && frames.offsetRequested !== 'auto')) return ['offset', undefined];
  const { offset, offsetConfidence: confidence } = frames;
  const certainty = confidence === undefined ? '' : ` with confidence ${confidence.toFixed(2)}`;
  const found = frames.offsetRequested === 'auto' ? `, ${offsetStateText(frames)}${certainty}` : '';
  return ['offset', `${offset} frame${Math.abs(offset) === 1 ? '' : 's'}${found}`];
}

function comparisonRows(facts: Facts): Row[] {
  const { pairing, sampling, subsample = 1 } = facts;
  const { frames, range } = pairing ?? {};
  const pairs = pairCount(facts);
  const kept = [
    subsample > 1 && `one in ${subsample} scored`,
    sampling && `${grouped(sampling.frames)} sampled`,
  ];
  const policy = frames && (frames.policy === 'number' ? 'frame number' : `time, ${frames.policy}`);
  return [
    ['scored as', pairing && formatFacts(pairing).join(', ')],
    ['pairs', pairs !== undefined && joined([grouped(pairs), ...kept])],
    ['paired by', joined([policy, frames?.by && "at the distorted video's frames"])],
    offsetRow(facts),
    ['film grain', facts.withoutGrain?.length === 0 && NO_GRAIN],
    ['range', range && `${range.start} to ${range.end ?? 'the end'} (${range.unit})`],
    ['unpaired', frames && joined(unpairedFacts(frames))],
    ...(facts.tiny ?? []).map(
      ({ name, source, quantisation }): Row => [
        'tiny model',
        joined([name, name !== source && source, quantisation !== 'fp32' && '8 bit']),
      ],
    ),
    ...(facts.models ?? []).map(
      ({ name, source, chosen, settings, options, collection }): Row => [
        'model',
        joined([
          name === source || name === 'vmaf' ? source : `${name} = ${source}`,
          ...modelFlags(options),
          collection && `${collection.members} members`,
          chosen,
          settings,
        ]),
      ],
    ),
  ];
}

/** In a hybrid run, one of the workers has the GPU. */
function workersText({ threads, backend_used: used, measurers }: Facts): string | undefined {
  return used === 'hybrid' && measurers && threads ? `GPU + ${threads - 1}` : threads?.toString();
}

function engineRows(facts: Facts): Row[] {
  const { backend_used: used, backend_requested: requested = used, fps = Number.NaN } = facts;
  const backend = requested === used ? used : `${used} (requested: ${requested})`;
  return [
    // A file that does not say what ran is libvmaf's.
    [used === undefined ? 'written by' : 'anyvmaf', facts.version],
    ['backend', used && joined([backend, facts.implementation])],
    ['speed', Number.isFinite(fps) && `${fps.toFixed(2)} fps`],
    ['arithmetic', facts.compat],
  ];
}

const DEVICES: Readonly<Record<string, string>> = { cpu: 'CPU', wasm: 'CPU', webgpu: 'GPU' };

function measuredRows(facts: Facts): Row[] {
  const { backend_used: used, implementation, measurers, native, threads, tiny = [] } = facts;
  if (used === undefined) return [];
  const core = native ? joined([used, implementation]) : `CPU, WebAssembly (${implementation})`;
  return [
    ...(measurers?.map((part): Row => ['metrics', measurerText(part)]) ?? [['metrics', core] as const]),
    ['threads', threads === 0 ? 'the calling thread' : workersText(facts)],
    ...tiny.map((model): Row => ['tiny model', `${model.name}: ${tinyText(model)}`]),
  ];
}

function tinyText({ device, device_requested: asked, runtime, adapter, threads }: ReportTinyModel): string {
  if (device === null) return 'not run: no frame was scored';
  return joined([
    DEVICES[device] ?? device,
    adapter,
    runtime,
    threads !== undefined && (threads === 1 ? '1 thread' : `${threads} threads`),
    asked !== device && `requested: ${asked}`,
  ]);
}
