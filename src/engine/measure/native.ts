/**
 * @module engine/measure/native
 * Measures a pair with an installed program: passes files, or frames through a pipe per video, and reads its log. The pipes
 * do not wait for each other, since the program decides which it reads first.
 */
import { serializeCalls } from '../../core/abort.js';
import type { Compat } from '../../core/choices.js';
import { AnyvmafError, backendError } from '../../core/errors.js';
import {
  allocateFrame,
  chromaSize,
  describeFormat,
  type FramePlanes,
  storedChroma,
  storedChromaSize,
  storedFrameBytes,
  type VideoFormat,
  y4mHeader,
} from '../../core/frame.js';
import { MediaError } from '../../media/errors.js';
import { STREAM_HEADER_MAX } from '../../media/formats.js';
import type { PairSources } from '../../media/pairing/prepare.js';
import type { FrameSource, SourceDescriptor } from '../../media/types.js';
import { libvmafText, parseFeature } from '../../metrics/options.js';
import type { MetricSeries } from '../../report/build.js';
import type { FrameMetrics } from '../../report/schema.js';
import type { NativeLog } from '../backends/native/command.js';
import { commandArgs, formatProblem, parseLog, vmafReadsY4m } from '../backends/native/command.js';
import { mismatchedBackend, release } from '../backends/native/survey.js';
import type { Feed, NativeInput, NativeTask } from '../backends/native/types.js';
import { failure, oneLine, programName } from '../backends/native/types.js';
import type { CheckedOptions } from '../contract/options.js';
import type { EndOfPair, Platform } from '../contract/platform.js';
import type { Extent } from '../pair/pair.js';
import { planRun, type ScoredSize } from '../plan/plan.js';
import type { Measured, MeasurementWork, OpenBackend } from '../results/report-parts.js';
import { loadNative, type NativeChoice, type NativeModels } from './choice.js';

/** Milliseconds without a read of waiting frames before the program is killed. */
const STALL_TIME = 120_000;
const STALLED = `made no progress for ${STALL_TIME / 1000} s and was ended`;

/** Most threads by default. */
const MOST_THREADS = 32;

const LOG = 'log.json';

/** Why a program does not support a format, without a final period; `undefined` if it does. */
export function nativeProblem({ program }: NativeChoice, format: VideoFormat): string | undefined {
  const { flavour, version } = program;
  const why =
    formatProblem(program, format) ??
    (flavour === 'vmaf' && isOdd(format) && !release(version)
      ? `its version (${version ?? 'unknown'}) does not say how it reads chroma of odd sizes`
      : undefined);
  return why && `${programName(program)} cannot score ${describeFormat(format)}: ${why}; use the backend cpu`;
}

/** Whether stored and scored chroma sizes differ. */
function isOdd(format: VideoFormat): boolean {
  const [stored, scored] = [storedChromaSize(format), chromaSize(format)];
  return stored.width !== scored.width || stored.height !== scored.height;
}

export interface NativeRequest {
  /** Whether frames are compared as stored, by number. */
  readonly stored: boolean;
  /** Notes on the choice: full sentences. */
  readonly notes: readonly string[];
  readonly onFrame: ((frame: FrameMetrics) => void) | undefined;
  readonly size: () => Promise<ScoredSize>;
  readonly signal: AbortSignal;
}

/** @throws {AnyvmafError} as {@link loadNative} */
export async function openNative(
  platform: Platform,
  choice: NativeChoice,
  checked: CheckedOptions,
  request: NativeRequest,
): Promise<OpenBackend> {
  const { notes, onFrame, size, signal } = request;
  const loaded = await loadNative(choice, checked, platform.models, size, signal);
  return {
    requested: loaded.requested,
    plan({ reference }) {
      const problem = nativeProblem(choice, reference.info);
      if (problem !== undefined) throw backendError(`${problem}.`);
      let running: Promise<Measured> | undefined;
      return {
        isAside: () => true,
        async measure({ onStart, ...work }) {
          running = measureNative({ ...choice, ...request, ...work, platform, checked, loaded });
          const measured = await running;
          const { models, compat, backend_used, implementation, native, threads, series } = measured;
          const metrics = series.map(({ name }) => name);
          onStart({ models, compat, backend_used, implementation, native, threads, metrics });
          reportFrames(measured, onFrame);
          return { ...measured, warnings: [...notes, ...measured.warnings] };
        },
        close: async () => {
          await running?.catch(() => {});
        },
      };
    },
  };
}

interface NativeRun extends NativeChoice, NativeRequest, Pick<MeasurementWork, 'pair' | 'bound' | 'meter'> {
  readonly platform: Platform;
  readonly checked: CheckedOptions;
  readonly loaded: NativeModels;
}

/** @throws {AnyvmafError} `backend` if it fails or scores other frames than its input; errors of reading */
async function measureNative(run: NativeRun): Promise<Measured> {
  const { program, backend, checked, loaded, bound, meter } = run;
  const { flavour, path, version } = program;
  const files = await readableFiles(run);
  const task = taskOf(run, files);
  const { output, extent: fed, counted } = await runProgram(run, task, files !== undefined);
  const name = programName(program);
  const log = renamed(parseLog(output, name), loaded.names);
  const ran = mismatchedBackend(log.backendUsed, backend);
  if (ran !== undefined) throw backendError(`${name} ran on ${ran}, but ${backend} was requested.`);
  const extent = fed ?? { pairs: bound ?? pairsOf(log, checked.subsample), ended: null };
  refuseShort(log, extent, checked.subsample, name);
  for (let pair = counted; pair < extent.pairs; pair++) meter.count();
  return {
    extent,
    frameNumbers: log.frameNumbers,
    series: ordered(log, run, task.threads),
    aggregates: log.aggregates,
    pooled: log.pooled,
    models: loaded.reported,
    compat: generation(log, version),
    backend_used: backend,
    implementation: `${flavour} ${version ?? log.version ?? 'of an unknown version'}`,
    native: {
      flavour,
      path,
      version,
      libvmaf: log.version,
      decimals: program.options.has('precision') ? null : 6,
      pooled: log.pooled.size > 0 ? 'printed' : 'computed',
      input: files ? 'files' : 'pipes',
    },
    threads: task.threads,
    warnings: [],
  };
}

/** @param files absent if frames are piped @throws {AnyvmafError} `backend` if frames cannot be piped */
function taskOf(run: NativeRun, files: NativeInput | undefined): NativeTask {
  const { host, program, backend, pair, checked, loaded, bound } = run;
  if (!files && !host.pipes) {
    throw backendError(
      `On this system ${programName(program)} can only be given Y4M and raw files that it can read directly, and it ` +
        'cannot read these; use the backend cpu.',
    );
  }
  const { features, predicts, subsample, native } = checked;
  return {
    backend,
    input: files ?? pipedInput(run),
    models: loaded.models,
    features: features.map(libvmafText),
    predicts,
    subsample,
    threads: threadsFor(run),
    devices: native.devices,
    log: LOG,
    ...(files && { ...(bound !== null && { frameCount: bound }), skip: pair.skip }),
  };
}

/** Returns the log, the pairs fed, and the number of those already counted. */
async function runProgram(run: NativeRun, task: NativeTask, readsFiles: boolean) {
  const { host, program, pair, loaded, bound, meter, signal } = run;
  const name = programName(program);
  // The pair in the pipe is not measured yet; the one before nearly is.
  let taken = 0;
  const onPair = () => {
    if (taken++ > 0) meter.count();
  };
  const feed = readsFiles
    ? undefined
    : new PairFeed(pair, formOf(run), bound ?? Number.POSITIVE_INFINITY, onPair);
  const { reference, distorted } = task.input;
  const outcome = await host.run({
    path: program.path,
    args: commandArgs(program, task),
    files: loaded.files,
    ...(feed && {
      feeds: { [reference]: feed.feed('reference'), [distorted]: feed.feed('distorted') },
      stall: STALL_TIME,
    }),
    output: LOG,
    signal,
  });
  const extent = feed?.extent();
  const failed = outcome.kind === 'timeout' ? STALLED : failure(outcome);
  if (failed !== undefined) throw backendError(`${name} ${failed}.`);
  if (outcome.output === undefined) {
    const words = oneLine(outcome.stderr);
    throw backendError(`${name} wrote no log${words === '' ? '' : `; it printed "${words}"`}.`);
  }
  return { output: outcome.output, extent, counted: Math.max(0, taken - 1) };
}

function threadsFor({ backend, checked, platform }: NativeRun): number {
  if (checked.threads !== undefined) return checked.threads;
  if (backend !== 'native-cpu') return 0;
  return Math.min(platform.parallelism, checked.maxThreads, MOST_THREADS);
}

function pipedInput({ program, pair }: NativeRun): NativeInput {
  if (program.flavour !== 'vmaf') return { reference: 'reference.y4m', distorted: 'distorted.y4m' };
  return { reference: 'reference.yuv', distorted: 'distorted.yuv', raw: pair.reference.info };
}

function formOf({ program: { flavour, version }, pair }: NativeRun): PipeForm {
  // From 3.2 on, the tool rounds odd chroma sizes down.
  const [major, minor] = release(version) ?? [0, 0];
  const roundsDown = flavour === 'vmaf' && (major > 3 || (major === 3 && minor >= 2));
  return { format: pair.reference.info, roundedUp: !roundsDown, y4m: flavour !== 'vmaf' };
}

/** The files if the tool can read them directly; else frames are piped. */
async function readableFiles(run: NativeRun): Promise<NativeInput | undefined> {
  const { program, pair, stored, platform, bound } = run;
  if (program.flavour !== 'vmaf' || !stored || bound === null || isOdd(pair.reference.info)) return undefined;
  const [reference, distorted] = [fileOf(pair.reference), fileOf(pair.distorted)];
  // The program opens files by name, but foreign files must be opened and checked here.
  if (reference?.origin?.by === 'foreign' || distorted?.origin?.by === 'foreign') return undefined;
  if (!reference || !distorted || reference.info.container !== distorted.info.container) return undefined;
  const names = { reference: reference.path, distorted: distorted.path };
  const { container } = reference.info;
  if (container === 'yuv') return { ...names, raw: reference.info };
  if (container !== 'y4m') return undefined;
  const read = await Promise.all([reference, distorted].map((file) => readsY4m(platform, file)));
  return read.every(Boolean) ? names : undefined;
}

type FileDescriptor = SourceDescriptor & { readonly kind: 'file' };

function fileOf({ descriptor }: FrameSource): FileDescriptor | undefined {
  return descriptor?.kind === 'file' ? descriptor : undefined;
}

/** Whether every version of the tool supports this Y4M header. */
async function readsY4m({ files }: Platform, { path, info, layout }: FileDescriptor): Promise<boolean> {
  if (layout.frameBytes !== storedFrameBytes(info)) return false;
  const reader = files.reopen(path);
  try {
    const bytes = new Uint8Array(STREAM_HEADER_MAX);
    const start = String.fromCharCode(...bytes.subarray(0, await reader.read(0, [bytes])));
    const [header = ''] = start.split('\n');
    return vmafReadsY4m(header);
  } finally {
    reader.close();
  }
}

function renamed(log: NativeLog, names: NativeModels['names']): NativeLog {
  if (names.size === 0) return log;
  const nameOf = (printed: string) => {
    for (const [passed, requested] of names) {
      // A collection's scores extend its name.
      if (printed === passed || printed.startsWith(`${passed}_`))
        return requested + printed.slice(passed.length);
    }
    return printed;
  };
  return {
    ...log,
    series: log.series.map((series) => ({ ...series, name: nameOf(series.name) })),
    pooled: new Map([...log.pooled].map(([printed, statistics]) => [nameOf(printed), statistics])),
  };
}

/** Number of pairs implied by the log's frame numbers. */
function pairsOf({ frameNumbers }: NativeLog, subsample: number): number {
  const last = frameNumbers.at(-1);
  return last === undefined ? 0 : subsample > 1 ? last + subsample : last + 1;
}

function refuseShort(log: NativeLog, { pairs }: Extent, subsample: number, name: string): void {
  const expected = Math.ceil(pairs / subsample);
  const found = log.frameNumbers.length;
  if (log.series.length === 0 || found >= expected) return;
  throw backendError(`${name} scored ${found} frames, but was given ${expected}; its log was discarded.`);
}

/** Sorts the series in libvmaf's order: with threads, the tool writes metrics in order of completion. */
function ordered(log: NativeLog, run: NativeRun, threads: number): readonly MetricSeries[] {
  const planned = plannedNames(run);
  const models = run.loaded.reported.map(({ name }) => name);
  const rank = ({ name }: MetricSeries) => {
    const place = planned.indexOf(name);
    const score = models.some((model) => name === model || name.startsWith(`${model}_`));
    return (score ? planned.length + 1 : 0) + (place < 0 ? planned.length : place);
  };
  const byName = (a: MetricSeries, b: MetricSeries) =>
    threads === 0 || a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
  return [...log.series].sort((a, b) => rank(a) - rank(b) || byName(a, b));
}

/** Names of the metrics in libvmaf's order; empty if this package's core lacks an extractor. */
function plannedNames({ loaded, checked, pair }: NativeRun): readonly string[] {
  const { models, chosen = new Map() } = loaded.requested;
  try {
    const named = checked.features.map((text) => parseFeature(text));
    const extractors = [...models.flatMap((model) => model.extractors), ...named];
    return planRun({ models, chosen, extractors }, pair.reference.info, checked.compat).metrics;
  } catch (error) {
    if (error instanceof AnyvmafError) return [];
    throw error;
  }
}

/** The generation of libvmaf's arithmetic, first by features (3.2 added motion3), then by version. */
function generation({ series, version }: NativeLog, program: string | null): Compat {
  const names = series.map(({ name }) => name);
  if (names.some((name) => name.startsWith('integer_motion3'))) return 'libvmaf-3.2';
  if (names.some((name) => name.startsWith('integer_motion2'))) return 'libvmaf-3.0';
  const [major, minor] = release(version) ?? release(program) ?? [3, 2];
  return major < 3 || (major === 3 && minor < 1) ? 'libvmaf-3.0' : 'libvmaf-3.2';
}

function reportFrames({ frameNumbers, series }: Measured, onFrame?: (frame: FrameMetrics) => void): void {
  if (!onFrame) return;
  for (let row = 0; row < frameNumbers.length; row++) {
    const measured = series.filter(({ present }) => present?.[row] !== 0);
    onFrame({
      frameNum: frameNumbers[row] ?? row,
      metrics: Object.fromEntries(measured.map(({ name, values }) => [name, values[row] ?? Number.NaN])),
    });
  }
}

export interface PipeForm {
  readonly format: VideoFormat;
  /** Whether to round odd chroma sizes up by repeating the last samples. */
  readonly roundedUp: boolean;
  /** Y4M with headers, or else samples only. */
  readonly y4m: boolean;
}

type Role = keyof EndOfPair;

interface Progress {
  /** Frames that the program has taken. */
  sent: number;
  /** Index of the first missing frame. */
  ended?: number;
  /** Error of its incomplete last frame. */
  incomplete?: MediaError;
}

class PairFeed {
  readonly #pair: PairSources;
  readonly #form: PipeForm;
  readonly #limit: number;
  readonly #onPair: () => void;
  readonly #sides: Record<Role, Progress> = { reference: { sent: 0 }, distorted: { sent: 0 } };
  #pairs = 0;
  /** One source may serve as both videos. */
  readonly #serialize = serializeCalls();

  /** @param limit most pairs, `Infinity` for all @param onPair called for each pair that the program took */
  constructor(pair: PairSources, form: PipeForm, limit: number, onPair: () => void) {
    this.#pair = pair;
    this.#form = form;
    this.#limit = limit;
    this.#onPair = onPair;
  }

  /** Fills the pipe of one video. @throws errors of reading its frames */
  feed(role: Role): Feed {
    return async (write) => {
      const source = this.#pair[role];
      const skip = this.#pair.skip[role];
      const side = this.#sides[role];
      const { format, y4m } = this.#form;
      const frames = [allocateFrame(format), allocateFrame(format)] as const;
      // One rate for both videos, so that filters pair frames by number.
      if (y4m && !(await write(new TextEncoder().encode(y4mHeader(format))))) return;
      // Read the next frame while the program takes this one.
      let taking = Promise.resolve(true);
      const count = () => {
        side.sent++;
        const pairs = Math.min(this.#sides.reference.sent, this.#sides.distorted.sent);
        if (pairs > this.#pairs) this.#onPair();
        this.#pairs = pairs;
      };
      // Where the other video ended, only check whether the frame exists.
      for (let index = 0; index < this.#limit && index <= this.#last(); index++) {
        const frame = frames[index % 2 === 0 ? 0 : 1];
        try {
          if (!(await this.#read(source, skip + index, frame))) {
            side.ended = index;
            break;
          }
        } catch (error) {
          // Whether the frame is missing depends on the other video.
          if (!(error instanceof MediaError && error.reason === 'incomplete')) throw error;
          side.incomplete = error;
          side.ended = index;
          break;
        }
        if (index === this.#last()) break;
        if (!(await taking)) return;
        taking = writeAll(write, partsOf(frame, this.#form)).then((taken) => {
          if (taken) count();
          return taken;
        });
      }
      await taking;
    };
  }

  /** `null` if the program read neither video to its end. @throws {MediaError} if a frame of a pair is incomplete */
  extent(): Extent | null {
    const { reference, distorted } = this.#sides;
    const pairs = this.#last();
    for (const [side, other] of [
      [reference, distorted],
      [distorted, reference],
    ] as const) {
      const ends = other.incomplete === undefined && other.ended !== undefined && other.ended <= pairs;
      if (side.incomplete && side.ended === pairs && !ends) throw side.incomplete;
    }
    if (!Number.isFinite(pairs)) return null;
    if (reference.ended === undefined && distorted.ended === undefined) return { pairs, ended: null };
    return { pairs, ended: { reference: reference.ended === pairs, distorted: distorted.ended === pairs } };
  }

  /** Index of the first pair that is missing or beyond the limit, as far as known. */
  #last(): number {
    const { reference, distorted } = this.#sides;
    const end = (side: Progress) => side.ended ?? Number.POSITIVE_INFINITY;
    return Math.min(this.#limit, end(reference), end(distorted));
  }

  #read(source: FrameSource, index: number, into: FramePlanes): Promise<boolean> | boolean {
    const read = () => source.readFrame(index, into);
    return this.#pair.reference === this.#pair.distorted ? this.#serialize(read) : read();
  }
}

const FRAME = new TextEncoder().encode('FRAME\n');

/** A frame in the form that the program reads. */
function partsOf({ y, cb, cr }: FramePlanes, { format, roundedUp, y4m }: PipeForm): Uint8Array[] {
  const chroma = [cb, cr].flatMap((plane) => plane ?? []);
  return [
    ...(y4m ? [FRAME] : []),
    y,
    ...chroma.map((plane) => (roundedUp ? storedChroma(plane, format) : plane)),
  ];
}

/** @returns false if the reader is gone */
async function writeAll(write: Parameters<Feed>[0], parts: readonly Uint8Array[]): Promise<boolean> {
  for (const part of parts) if (!(await write(part))) return false;
  return true;
}
