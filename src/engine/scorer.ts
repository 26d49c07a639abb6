/**
 * @module engine/scorer
 * Scores pairs that a caller pushes one by one, on workers or in the calling thread.
 */
import { isObject, oneOf, requireObject } from '../core/arguments.js';
import { CHROMA_UPSAMPLERS, COLOUR_MATRICES, PRIMARIES, SITINGS, TRANSFERS } from '../core/choices.js';
import type { Colour, ScoredFormat } from '../core/colour.js';
import { AnyvmafError, mediaError, usageError } from '../core/errors.js';
import { copyPlanes, type FramePlanes, formatProblem, type VideoFormat } from '../core/frame.js';
import { quotientOf } from '../core/numbers.js';
import { showValue } from '../core/printable.js';
import { version } from '../core/version.js';
import { checkPair } from '../media/pair.js';
import type { VideoInfo } from '../media/types.js';
import { buildReport } from '../report/build.js';
import type { FrameMetrics, Report, ReportInput } from '../report/schema.js';
import { coreMeasurers } from './backends/core/extractor.js';
import {
  createHeatmaps,
  type ExtractionPlan,
  type Measurer,
  type PlaneName,
  planeBytes,
} from './backends/measurer.js';
import type { PictureScorers, TinyRun, TinySessionFacts } from './backends/tiny.js';
import { type CheckedOptions, checkFormat, checkOptions, framesToKeep } from './contract/options.js';
import type { Platform, WorkerSetup } from './contract/platform.js';
import type { PushedPlanes, Scorer, ScorerOptions } from './contract/types.js';
import { STEERED, type Steerable } from './live/steerable.js';
import type { Steering } from './live/steering.js';
import {
  chooseThreads,
  loadModules,
  loadRequested,
  planRun,
  type RunPlan,
  reportModels,
} from './plan/plan.js';
import { Meter } from './results/report-parts.js';
import { Scoring } from './results/scoring.js';
import { Feeder, type FramePair, type RecordSink } from './workers/dispatch.js';
import { openPictures, PairMeasurer } from './workers/measure.js';
import { WorkerPool } from './workers/worker-pool.js';

/** @throws {AnyvmafError} as the public `createScorer` */
export async function openScorer(
  platform: Platform,
  format: ScoredFormat,
  options: ScorerOptions = {},
): Promise<Scorer> {
  checkScoredFormat('createScorer needs the format of its frames', format);
  const checked = checkOptions(options, 'scorer');
  const problem = formatProblem(format);
  if (problem) throw usageError(`Frames of this format cannot be scored: ${problem}.`);
  const [requested, modules] = await loadModules(
    platform,
    loadRequested(checked, platform, () => format),
  );
  const plan = planRun(requested, format, checked.compat);
  const keep = framesToKeep(checked.keep, quotientOf(format.frameRate));
  const { extraction } = plan.features;
  // Pushed pairs have no known end, so their heatmap files would never be complete.
  await createHeatmaps(extraction, undefined);
  const { reference = 'reference', distorted = 'distorted' } = options.names ?? {};
  const inputs = [videoInfo(reference, format), videoInfo(distorted, format)] as const;
  const warnings = [...checkPair(...inputs, checked), ...plan.warnings];
  const tiny = plan.tiny && new (await import('./backends/tiny.js')).TinyRun(plan.tiny);
  const setup: WorkerSetup = {
    modules,
    plan: extraction,
    implementation: checked.implementation,
    subsample: checked.subsample,
    ...tiny?.setup,
    ...(platform.onnxruntime !== undefined && { onnxruntime: platform.onnxruntime }),
  };
  const threads = checked.threads ?? chooseThreads(platform.parallelism, extraction, null);
  await tiny?.open(platform.tiny, plan.features.names);
  try {
    const openQueue = await prepareQueue(platform, setup, threads);
    const { onFrame } = options;
    return new PushScorer(
      { platform, format, plan, checked, keep, threads, inputs, warnings, onFrame, tiny },
      openQueue,
    );
  } catch (error) {
    await tiny?.close();
    throw error;
  }
}

function checkScoredFormat(what: string, format: ScoredFormat): void {
  checkFormat(what, format);
  const { frameRate, colours } = format;
  if (frameRate !== undefined && quotientOf(frameRate) === undefined) {
    throw usageError(
      `format.frameRate is ${JSON.stringify(frameRate)}, but it must be a fraction above 0, such as { num: 30000, den: 1001 }; ` +
        'leave it out if it is not known.',
    );
  }
  if (colours === undefined) return;
  requireObject('format.colours', colours, 'an object with reference and distorted');
  for (const side of ['reference', 'distorted'] as const) {
    const name = `format.colours.${side}`;
    requireObject(name, colours[side], 'an object with matrix, range, transfer, siting and upsampling');
    const { matrix, range, transfer, siting, upsampling, primaries } = colours[side];
    oneOf(`${name}.matrix`, matrix, COLOUR_MATRICES);
    oneOf(`${name}.range`, range, ['limited', 'full']);
    oneOf(`${name}.transfer`, transfer, TRANSFERS);
    oneOf(`${name}.siting`, siting, SITINGS);
    oneOf(`${name}.upsampling`, upsampling, CHROMA_UPSAMPLERS);
    if (primaries !== undefined) oneOf(`${name}.primaries`, primaries, PRIMARIES);
  }
}

/** Measures in the calling thread if `threads` is 0, else on a worker pool. */
async function prepareQueue(
  platform: Platform,
  setup: WorkerSetup,
  threads: number,
): Promise<(sink: RecordSink) => PairQueue> {
  if (threads > 0) return (sink) => workerQueue(platform, setup, threads, sink);
  const pictures = await openPictures(setup, async () => (await platform.tiny()).runtimes);
  const core = await coreMeasurers(setup.modules, setup.implementation);
  return (sink) => localQueue(core.open(setup.plan), setup, sink, pictures);
}

function videoInfo(name: string, { width, height, bitDepth, chroma }: VideoFormat): VideoInfo {
  return { name, container: 'frames', width, height, bitDepth, chroma, frameCount: null, warnings: [] };
}

interface Facts {
  readonly platform: Platform;
  readonly format: ScoredFormat;
  readonly plan: RunPlan;
  readonly checked: CheckedOptions;
  /** Frames to keep for the report, `undefined` for all. */
  readonly keep: number | undefined;
  readonly threads: number;
  readonly inputs: readonly [VideoInfo, VideoInfo];
  readonly warnings: readonly string[];
  readonly onFrame: ((frame: FrameMetrics) => void) | undefined;
  readonly tiny: TinyRun | undefined;
}

class PushScorer implements Scorer, Steerable {
  readonly format: VideoFormat;
  readonly metrics: readonly string[];
  readonly #facts: Facts;
  readonly #queue: PairQueue;
  readonly #scoring: Scoring;
  readonly #meter = new Meter(undefined, null);
  /** Final frames not yet returned by any call. */
  #ready: FrameMetrics[] = [];
  #pushed = 0;
  #steering: Steering | undefined;
  #state: 'open' | 'finished' | 'closed' = 'open';
  /** The latest call; calls run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(facts: Facts, openQueue: (sink: RecordSink) => PairQueue) {
    this.format = facts.format;
    this.metrics = facts.plan.metrics;
    this.#facts = facts;
    this.#scoring = new Scoring(
      facts.plan,
      facts.checked.subsample,
      (frame) => {
        this.#ready.push(frame);
        facts.onFrame?.(frame);
      },
      facts.tiny?.regressors,
      facts.keep,
    );
    this.#queue = openQueue({
      add: (first, count, records) => this.#scoring.add(first, count, records),
      measured: (pairs) => this.#meter.count(pairs),
    });
  }

  get pushed(): number {
    return this.#pushed;
  }

  push(reference: PushedPlanes, distorted: PushedPlanes): Promise<readonly FrameMetrics[]> {
    return this.#serialize(async () => {
      this.#requireOpen('push');
      const { extraction } = this.#facts.plan.features;
      const [first, second] = [
        checkPlanes('reference', reference, extraction),
        checkPlanes('distorted', distorted, extraction),
      ];
      await this.#steering?.gate();
      this.#requireOpen('push');
      if (this.#steering?.stopped) return this.#ready.splice(0);
      await this.#queue.push((room) => {
        this.#requireOpen('push');
        copyPlanes(first, room.reference);
        copyPlanes(second, room.distorted);
        this.#pushed++;
      });
      return this.#ready.splice(0);
    });
  }

  get stopped(): boolean {
    return this.#steering?.stopped === true;
  }

  finish(): Promise<Report> {
    return this.#serialize(async () => {
      this.#requireOpen('finish');
      this.#state = 'finished';
      try {
        await this.#queue.finish();
        if (this.#pushed === 0) throw mediaError('There are no frames to score: no pair was pushed.');
        const report = await this.#report();
        this.#steering?.ended();
        return report;
      } catch (error) {
        this.#steering?.ended(error);
        throw error;
      } finally {
        await this.#release();
      }
    });
  }

  close(): Promise<void> {
    if (this.#state === 'open')
      this.#steering?.ended(new AnyvmafError('aborted', 'The scorer was closed before its end.'));
    this.#state = 'closed';
    return this.#release();
  }

  [STEERED](steering: Steering): void {
    const before = this.#steering;
    if (before && !before.released)
      throw usageError('The scorer has a server already; it can have only one.');
    this.#requireOpen('createEmbeddedServer');
    this.#steering = steering;
    const { platform, format, plan, checked, threads, inputs } = this.#facts;
    const [reference, distorted] = inputs.map(({ name }) => name);
    steering.begin(
      {
        facts: {
          reference: reference ?? '',
          distorted: distorted ?? '',
          total: null,
          backend: 'wasm',
          threads,
          subsample: checked.subsample,
          taken: () => this.#pushed,
        },
        plan,
        format,
        scoring: this.#scoring,
        platform,
      },
      before,
    );
  }

  async #release(): Promise<void> {
    await this.#queue.close();
    await this.#facts.tiny?.close();
  }

  [Symbol.dispose](): void {
    void this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #report(): Promise<Report> {
    const { format, plan, checked, threads, inputs, warnings } = this.#facts;
    const finished = await this.#scoring.finish();
    const tiny = this.#facts.tiny?.report(this.#queue.sessions);
    const [reference, distorted] = inputs;
    const { swaps = [], models: more = [] } =
      this.#steering?.report(finished.frameNumbers.at(-1) ?? -1) ?? {};
    return buildReport({
      version,
      fps: this.#meter.fps,
      ...finished,
      reference: this.#input(reference, format.colours?.reference),
      distorted: this.#input(distorted, format.colours?.distorted),
      models: [...reportModels(plan), ...more],
      ...(swaps.length > 0 && { swaps }),
      ...(tiny && { tiny: tiny.tiny }),
      compat: checked.compat,
      backend_requested: 'wasm',
      backend_used: 'wasm',
      implementation: checked.implementation,
      threads,
      subsample: checked.subsample,
      frameCount: this.#pushed,
      warnings: [...warnings, ...finished.warnings, ...(tiny?.warnings ?? [])],
    });
  }

  #input({ name, container, width, height, bitDepth, chroma }: VideoInfo, colour?: Colour): ReportInput {
    const { frameRate } = this.#facts.format;
    return {
      ...{ name, container, width, height, bitDepth, chroma },
      ...{ frameCount: this.#pushed, skipped: 0 },
      ...(frameRate && { frameRate }),
      ...(colour && { colour: { ...colour, guessed: [] } }),
    };
  }

  #requireOpen(call: string): void {
    if (this.#state === 'open') return;
    throw usageError(`The scorer is ${this.#state}; ${call} needs a new one from createScorer.`);
  }

  /** Runs a call after all earlier ones, even if they failed. */
  #serialize<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#last.then(call);
    this.#last = result.catch(() => {});
    return result;
  }
}

const PLANES: readonly { readonly key: PlaneName; readonly name: string }[] = [
  { key: 'y', name: 'luma' },
  { key: 'cb', name: 'Cb' },
  { key: 'cr', name: 'Cr' },
  { key: 'alpha', name: 'alpha' },
];

/** @throws {AnyvmafError} `media` if a plane is absent or has the wrong size, `usage` if it has the wrong type */
function checkPlanes(role: string, planes: PushedPlanes, plan: ExtractionPlan): FramePlanes {
  if (!isObject(planes)) {
    throw usageError(
      `push needs the planes of a reference and of a distorted frame, but the ${role} frame is ${showValue(planes)}; ` +
        'give an object with y, and with cb and cr where chroma is measured.',
    );
  }
  const wanted = planeBytes(plan);
  const bytes: { y: Uint8Array } & { [name in PlaneName]?: Uint8Array } = { y: new Uint8Array() };
  for (const { key, name } of PLANES) {
    if (wanted[key] === 0) continue;
    const plane = planeOf(planes[key], `The ${name} plane of the ${role} frame`, plan.format);
    if (plane.length !== wanted[key]) {
      const { width, height, bitDepth, chroma } = plan.format;
      throw mediaError(
        `The ${name} plane of the ${role} frame has ${plane.length} bytes, but ${width}x${height} ${chroma} at ` +
          `${bitDepth} bit needs ${wanted[key]}; give packed rows, ${bitDepth > 8 ? 'two bytes' : 'one byte'} a sample.`,
      );
    }
    bytes[key] = plane;
  }
  return bytes;
}

/** A plane as bytes; empty if it is absent. */
function planeOf(plane: PushedPlanes[PlaneName], what: string, { bitDepth }: VideoFormat): Uint8Array {
  if (plane === undefined) return new Uint8Array();
  // Compare tags: planes may come from constructors of another browsing context.
  const type = Object.prototype.toString.call(plane).slice('[object '.length, -1);
  if (type === 'Uint8Array' || type === 'Uint8ClampedArray' || (type === 'Uint16Array' && bitDepth > 8))
    return new Uint8Array(plane.buffer, plane.byteOffset, plane.byteLength);
  throw usageError(
    `${what} is ${ArrayBuffer.isView(plane) ? `of type ${type}` : showValue(plane)}, but at ${bitDepth} bit it must be a ` +
      `${bitDepth > 8 ? 'Uint8Array with two bytes a sample, or a Uint16Array' : 'Uint8Array'}.`,
  );
}

/** Measures pairs that are pushed one by one, in the calling thread or on workers. */
interface PairQueue {
  readonly sessions: readonly TinySessionFacts[];
  /** Waits for room, has the next pair written there, and measures it. */
  push(write: (pair: FramePair) => void): Promise<void>;
  finish(): Promise<void>;
  /** Frees everything. May be called twice. */
  close(): Promise<void>;
}

function localQueue(
  measurer: Measurer,
  { subsample }: WorkerSetup,
  sink: RecordSink,
  pictures?: PictureScorers,
): PairQueue {
  const pairs = new PairMeasurer(measurer, subsample, { pictures });
  let next = 0;
  let closed = false;
  return {
    get sessions() {
      return pictures?.facts ?? [];
    },
    async push(write) {
      const slot = measurer.slot(next);
      write(slot);
      next++;
      const record = new Float64Array(measurer.layout.length);
      await pairs.measure(slot, record);
      await pairs.settle();
      sink.measured(1);
      sink.add(slot.index, 1, record);
    },
    finish: async () => {},
    async close() {
      if (closed) return;
      closed = true;
      measurer.close();
      await pictures?.close();
    },
  };
}

function workerQueue(platform: Platform, setup: WorkerSetup, threads: number, sink: RecordSink): PairQueue {
  const pool = new WorkerPool();
  try {
    pool.start(() => platform.startWorker(), threads, setup);
  } catch (error) {
    void pool.terminate();
    throw error;
  }
  const feeder = new Feeder(pool, setup.plan, sink);
  return {
    get sessions() {
      return pool.sessions;
    },
    async push(write) {
      write(await feeder.room());
      feeder.submit();
    },
    async finish() {
      await feeder.finish();
      await pool.stop();
    },
    close: () => pool.terminate(),
  };
}
