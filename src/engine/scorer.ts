/**
 * @module engine/scorer
 * Scores pairs that a caller pushes one by one, on workers or in the calling thread.
 */
import { serializeCalls } from '../core/abort.js';
import { isObject, oneOf, requireAttached, requireObject, requireRate } from '../core/arguments.js';
import { CHROMA_UPSAMPLERS, COLOUR_MATRICES, PRIMARIES, SITINGS, TRANSFERS } from '../core/choices.js';
import type { Colour, ScoredFormat } from '../core/colour.js';
import { AnyvmafError, mediaError, usageError } from '../core/errors.js';
import { copyPlanes, type FramePlanes, formatProblem, type VideoFormat } from '../core/frame.js';
import { quotientOf } from '../core/numbers.js';
import { showValue } from '../core/printable.js';
import { checkPair } from '../media/pair.js';
import type { FrameSource } from '../media/types.js';
import { buildReport } from '../report/build.js';
import type { FrameMetrics, Report, ReportInput } from '../report/schema.js';
import { type ExtractionPlan, type PlaneName, planeBytes } from './backends/measurer.js';
import { type CheckedOptions, checkFormat, checkOptions, framesToKeep } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import type { PushedPlanes, Scorer, ScorerOptions } from './contract/types.js';
import { STEERED, type Steerable } from './live/steerable.js';
import type { Steering } from './live/steering.js';
import { type CoreMeasurement, openCore } from './measure/core.js';
import { loadModules, loadRequested } from './plan/plan.js';
import { headOf, Meter } from './results/report-parts.js';
import type { Scoring } from './results/scoring.js';
import { Feeder, type FramePair, type RecordSink } from './workers/dispatch.js';
import type { Measuring } from './workers/measure.js';
import { openHere } from './workers/run.js';
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
  const loaded = await loadModules(
    platform,
    loadRequested(checked, platform, () => format),
  );
  // Heatmap files would never be complete, since pushed pairs have no known end.
  const host = { ...platform, heatmaps: undefined };
  const core = openCore(loaded, { platform: host, checked, options: {}, light: format, notes: [] });
  const measurement = core.planFor(format, framesToKeep(checked.keep, quotientOf(format.frameRate)));
  const { names, onFrame } = options;
  const inputs = {
    reference: inputOf(names?.reference ?? 'reference', format, format.colours?.reference),
    distorted: inputOf(names?.distorted ?? 'distorted', format, format.colours?.distorted),
  };
  const bare = { container: 'frames', warnings: [] } as const;
  const { reference, distorted } = inputs;
  const warnings = checkPair({ ...reference, ...bare }, { ...distorted, ...bare }, checked);
  try {
    await measurement.open();
    const here = measurement.threads(null) > 0 ? null : await openHere(platform, measurement.setup);
    measurement.started.here = here;
    return new PushScorer({ measurement, format, checked, inputs, warnings, onFrame }, (sink) =>
      here ? localQueue(here, sink) : workerQueue(platform, measurement, sink),
    );
  } catch (error) {
    await measurement.close();
    throw error;
  }
}

function checkScoredFormat(what: string, format: ScoredFormat): void {
  checkFormat(what, format);
  const { frameRate, colours } = format;
  requireRate('format.frameRate', frameRate);
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

function inputOf(name: string, format: ScoredFormat, colour?: Colour): ReportInput {
  const { width, height, bitDepth, chroma, frameRate } = format;
  return {
    ...{ name, container: 'frames', width, height, bitDepth, chroma, frameCount: null, skipped: 0 },
    ...(frameRate && { frameRate }),
    ...(colour && { colour: { ...colour, guessed: [] } }),
  };
}

interface Facts {
  readonly measurement: CoreMeasurement;
  readonly format: ScoredFormat;
  readonly checked: CheckedOptions;
  readonly inputs: Pick<Report, 'reference' | 'distorted'>;
  readonly warnings: readonly string[];
  readonly onFrame: ((frame: FrameMetrics) => void) | undefined;
}

class PushScorer implements Scorer, Steerable {
  readonly format: VideoFormat;
  readonly metrics: readonly string[];
  readonly #facts: Facts;
  readonly #queue: PairQueue;
  readonly #scoring: Scoring;
  readonly #meter = new Meter(undefined, null);
  /** Final frames not yet returned. */
  #ready: FrameMetrics[] = [];
  #pushed = 0;
  #steering: Steering | undefined;
  #state: 'open' | 'finished' | 'closed' = 'open';
  /** Why a pair was lost: later ones would be measured in its place. */
  #failure: { readonly reason: unknown } | undefined;
  readonly #serialize = serializeCalls();

  constructor(facts: Facts, openQueue: (sink: RecordSink) => PairQueue) {
    this.format = facts.format;
    this.metrics = facts.measurement.plan.metrics;
    this.#facts = facts;
    this.#scoring = facts.measurement.score((frame) => {
      this.#ready.push(frame);
      facts.onFrame?.(frame);
    });
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
      const { extraction } = this.#facts.measurement.plan.features;
      const pair = {
        reference: checkPlanes('reference', reference, extraction),
        distorted: checkPlanes('distorted', distorted, extraction),
      };
      await this.#steering?.gate();
      this.#requireOpen('push');
      if (this.#steering?.stopped) return this.#ready.splice(0);
      this.#requireWhole();
      try {
        await this.#queue.push(pair, () => {
          this.#requireOpen('push');
          this.#pushed++;
        });
      } catch (reason) {
        this.#failure = { reason };
        throw reason;
      }
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
        this.#requireWhole();
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
    const { measurement, format, inputs } = this.#facts;
    const names = { reference: inputs.reference.name, distorted: inputs.distorted.name };
    const facts = { ...names, total: null, taken: () => this.#pushed };
    measurement.steer(steering, facts, format, this.#scoring, before);
  }

  async #release(): Promise<void> {
    await this.#queue.close();
    await this.#facts.measurement.close();
  }

  [Symbol.dispose](): void {
    void this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #report(): Promise<Report> {
    const { measurement, checked, inputs, warnings } = this.#facts;
    const extent = { pairs: this.#pushed, ended: { reference: true, distorted: true } };
    const measured = await measurement.finish(this.#scoring, extent);
    return buildReport({
      ...headOf(inputs, checked, extent),
      fps: this.#meter.fps,
      ...measured,
      frameCount: this.#pushed,
      warnings: [...warnings, ...measured.warnings],
    });
  }

  /** @throws the error of a lost pair */
  #requireWhole(): void {
    if (this.#failure) throw this.#failure.reason;
  }

  #requireOpen(call: string): void {
    if (this.#state === 'open') return;
    throw usageError(`The scorer is ${this.#state}; ${call} needs a new one from createScorer.`);
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

/** A plane as bytes; empty if absent. */
function planeOf(plane: PushedPlanes[PlaneName], what: string, { bitDepth }: VideoFormat): Uint8Array {
  if (plane === undefined) return new Uint8Array();
  requireAttached(what, plane);
  // Compare tags: planes may come from another browsing context.
  const type = Object.prototype.toString.call(plane).slice('[object '.length, -1);
  if (type === 'Uint8Array' || type === 'Uint8ClampedArray' || (type === 'Uint16Array' && bitDepth > 8))
    return new Uint8Array(plane.buffer, plane.byteOffset, plane.byteLength);
  throw usageError(
    `${what} is ${ArrayBuffer.isView(plane) ? `of type ${type}` : showValue(plane)}, but at ${bitDepth} bit it must be a ` +
      `${bitDepth > 8 ? 'Uint8Array with two bytes a sample, or a Uint16Array' : 'Uint8Array'}.`,
  );
}

interface PairQueue {
  /** Copies the planes when there is room, after calling `taken`, and measures the pair. */
  push(pair: FramePair, taken: () => void): Promise<void>;
  finish(): Promise<void>;
  /** Frees everything. Idempotent. */
  close(): Promise<void>;
}

function localQueue({ chunks, close }: Measuring, sink: RecordSink): PairQueue {
  const skip = { reference: 0, distorted: 0 };
  let next = 0;
  return {
    async push({ reference, distorted }, taken) {
      const chunk = { first: next++, count: 1 };
      const pair = { reference: sourceOf(reference, taken), distorted: sourceOf(distorted), skip };
      const { records } = await chunks.measure(pair, chunk);
      sink.measured(1);
      sink.add(chunk.first, 1, records);
    },
    async finish() {},
    close,
  };
}

/** @param taken called right before the planes are copied */
function sourceOf(planes: FramePlanes, taken?: () => void): Pick<FrameSource, 'readFrame'> {
  return {
    readFrame(_, into) {
      taken?.();
      copyPlanes(planes, into);
      return true;
    },
  };
}

function workerQueue(platform: Platform, measurement: CoreMeasurement, sink: RecordSink): PairQueue {
  const { setup, started } = measurement;
  const pool = new WorkerPool();
  started.pool = pool;
  try {
    pool.start(() => platform.startWorker(), measurement.threads(null), setup);
  } catch (error) {
    void pool.terminate();
    throw error;
  }
  const feeder = new Feeder(pool, setup.plan, sink);
  return {
    async push(pair, taken) {
      const room = await feeder.room();
      taken();
      copyPlanes(pair.reference, room.reference);
      copyPlanes(pair.distorted, room.distorted);
      feeder.submit();
    },
    async finish() {
      await feeder.finish();
      await pool.stop();
    },
    close: () => pool.terminate(),
  };
}
