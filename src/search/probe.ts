/**
 * @module search/probe
 * Encodes a material with values of one parameter and scores what comes out; each value once, earlier runs' included.
 */
import { colourOf } from '../core/colour.js';
import { AnyvmafError } from '../core/errors.js';
import { allocateFrame, describeFormat, type FramePlanes } from '../core/frame.js';
import { counted, shown } from '../core/printable.js';
import type { ScoreOptions } from '../engine/contract/types.js';
import { scorePair } from '../engine/score.js';
import { openVideo } from '../media/open.js';
import type { FrameSource, VideoInput } from '../media/types.js';
import type { EncodeRequest, EncodeResult, EncodeScores, FrameRun } from './host.js';
import { type Material, wholeSource } from './material.js';
import { decodedColour, type Session, type Setting, samplesOf as sourceSamples } from './session.js';
import {
  type KnownPoint,
  KnownPoints,
  keyOf,
  type Measured,
  pooledOf,
  type SampleValues,
} from './targets.js';
import type { EncodedPoint, FinalEncode } from './types.js';

const ENCODE_FILE = 'encode.mkv';
/** Milliseconds between two reports of frames. */
const PACE = 250;

/** What a probe measures. */
export interface ProbeTask {
  readonly material: Material;
  readonly setting: Setting;
  /** Metrics that every point must have. */
  readonly metrics: readonly string[];
  /**
   * Frames from key frame to key frame in what is delivered: the bytes of samples then have their share of key frames, with which
   * those begin that the material names.
   */
  readonly segment?: number;
  /** Begins the names of encodes that stay in the folder; without it they are gone once they are scored. */
  readonly keep?: string;
}

/** A setting of an encoder, and the points of its curve as they become known. */
export class Probe {
  readonly #session: Session;
  readonly #task: ProbeTask;
  readonly #points: KnownPoints;
  /** Names of encodes that stayed, by value. */
  readonly #kept = new Map<number, string>();
  #encodes = 0;
  #warnings: readonly string[] = [];

  private constructor(session: Session, task: ProbeTask, points: KnownPoints) {
    this.#session = session;
    this.#task = task;
    this.#points = points;
  }

  /** A probe with the points that earlier runs left for the same source, frames, encoder and arguments. */
  static async open(session: Session, task: ProbeTask): Promise<Probe> {
    const { facts, store, options } = session;
    const { material, metrics } = task;
    const { encoder, args, pixelFormat, parameter, size, samples } = task.setting;
    const key = await keyOf([
      facts.identity,
      material.key,
      [
        encoder.name,
        encoder.version,
        args,
        pixelFormat,
        parameter.name,
        ...(size ? [size] : []),
        ...(samples === 'limited' ? [] : [samples === 'full' ? 'full range' : samples]),
        ...(task.segment !== undefined ? [{ segment: task.segment, keys: material.keys }] : []),
      ],
      [options.models ?? null, options.features ?? null],
    ]);
    const frames = material.scored.map(({ count }) => count);
    return new Probe(session, task, await KnownPoints.open(store, key, frames, metrics));
  }

  get setting(): Setting {
    return this.#task.setting;
  }

  get material(): Material {
    return this.#task.material;
  }

  /** Encodes that were made. */
  get encodes(): number {
    return this.#encodes;
  }

  /** What was found on scoring the whole. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Every point that is known. */
  points(): readonly KnownPoint[] {
    return this.#points.all();
  }

  /** The point of a value, measured where it is not known. */
  async measure(value: number): Promise<KnownPoint> {
    const known = this.#points.get(value);
    if (known) return known;
    const { folder } = this.#session;
    const { material } = this.#task;
    const reference = await material.open();
    const name = this.#fileName(value);
    const { sizes, seconds } = await this.#encode(reference, value, name);
    this.#checkFrames(sizes.length, value);
    const report = await this.#score(reference, name, this.#begin('scoring', value, material));
    if (this.#task.keep === undefined) await folder.remove(name);
    else this.#kept.set(value, name);
    this.#session.signal.throwIfAborted();
    const skipped = material.encoded?.first ?? 0;
    const each = material.scored.map(({ from, count }) =>
      sizes.subarray(from - skipped, from - skipped + count),
    );
    const scored = each.reduce((sum, frames) => sum + total(frames), 0);
    const bytes = scored + this.#keyBytes(sizes, scored);
    const metrics = measuredOf(this.#session, report, material.scored, this.#task.metrics);
    return this.#points.add({ value, bytes, metrics, sizes: each.map((one) => Array.from(one)), seconds });
  }

  /** What key frames add to scored frames of samples, which lie after those that begin with one. */
  #keyBytes(sizes: Float64Array, scored: number): number {
    const { material, segment } = this.#task;
    if (segment === undefined || !material.starts || material.keys.length === 0) return 0;
    const frames = material.scored.reduce((sum, { count }) => sum + count, 0);
    const key = material.keys.reduce((sum, at) => sum + (sizes[at] as number), 0) / material.keys.length;
    return Math.max(0, key - scored / frames) * (frames / segment);
  }

  /** The name of the encode of a value in the folder, made where it is not there. */
  async file(value: number): Promise<string> {
    const known = this.#kept.get(value);
    if (known !== undefined) return known;
    const reference = await this.#task.material.open();
    const name = this.#fileName(value);
    const { sizes } = await this.#encode(reference, value, name);
    this.#checkFrames(sizes.length, value);
    this.#kept.set(value, name);
    return name;
  }

  /** Removes the encodes that stayed, but one. */
  async removeFiles(but?: number): Promise<void> {
    for (const [value, name] of this.#kept) {
      if (value === but) continue;
      await this.#session.folder.remove(name);
      this.#kept.delete(value);
    }
  }

  #fileName(value: number): string {
    const { keep } = this.#task;
    return keep === undefined ? ENCODE_FILE : `${keep}-${value}.mkv`;
  }

  async #score(reference: VideoInput, name: string, onFrames: (done: number) => void): Promise<EncodeScores> {
    const { encoded } = this.#task.material;
    const { folder, host } = this.#session;
    const path = folder.path(name);
    if (!encoded || typeof reference !== 'string' || host.score)
      return scoreEncode(this.#session, reference, path, { onFrames });
    const distorted = await surroundedEncode(this.#session, reference, encoded, name);
    try {
      return await scoreEncode(this.#session, reference, distorted, { onFrames });
    } finally {
      await distorted.close();
    }
  }

  /** A point as users see it. */
  encoded({ value, bytes, cached, metrics, seconds }: KnownPoint): EncodedPoint {
    const { material } = this.#task;
    const frames = material.scored.reduce((sum, { count }) => sum + count, 0);
    const kbps = (bytes * 8 * this.#session.perSecond) / frames / 1000;
    const framesPerSecond = seconds === undefined ? null : material.frames / seconds;
    const took = seconds !== undefined && { encodeSeconds: seconds };
    return { value, bytes, kbps, pooled: pooledOf(metrics), framesPerSecond, ...took, cached };
  }

  /**
   * Encodes the whole source and scores it.
   * @param output where to write it, sound and subtitles with it; without one it is scored and gone
   * @param wanted whether a file with these values is to stay
   * @throws {AnyvmafError} `media` where it does not have all frames of the source; nothing is left then
   */
  async encodeWhole(
    value: number,
    output: string | undefined,
    wanted: (metrics: Measured['metrics']) => boolean = () => true,
  ): Promise<{
    readonly final: Omit<FinalEncode, 'reached' | 'qualities'>;
    readonly metrics: Measured['metrics'];
  }> {
    const { folder, facts, source, signal, perSecond } = this.#session;
    const whole = wholeSource(this.#session);
    let metrics: Measured['metrics'] = {};
    let stays = false;
    const look = async (path: string, { sizes }: EncodeResult) => {
      this.#checkFrames(sizes.length, value, whole.frames);
      const onFrames = this.#begin('scoring', value, whole);
      const report = await scoreEncode(this.#session, source, path, { preflight: true, onFrames });
      signal.throwIfAborted();
      this.#warnings = (report.preflight ?? [])
        .filter(({ severity }) => severity !== 'info')
        .map(({ message }) => message);
      metrics = measuredOf(this.#session, report, whole.scored, this.#task.metrics);
      stays = wanted(metrics);
      return stays;
    };
    const name = output ?? 'final.mkv';
    const made = await this.#encode(source, value, name, whole, output === undefined ? undefined : look);
    if (output === undefined) await look(folder.path(name), made);
    const bytes = total(made.sizes);
    const kbps = (bytes * 8 * perSecond) / facts.times.length / 1000;
    const file = output !== undefined && stays ? output : null;
    return { final: { file, bytes, kbps, pooled: pooledOf(metrics) }, metrics };
  }

  /** Tells what begins. @returns takes frames that are done, and tells of them at a pace that people read */
  #begin(
    kind: 'encoding' | 'scoring',
    value: number,
    { isSource, frames: total }: Material,
  ): (done: number) => void {
    const { onStage } = this.#session.options;
    const { encoder, size = null } = this.#task.setting;
    const stage = { kind, encoder: encoder.name, size, value, whole: isSource };
    onStage?.(stage);
    let [last, told] = [performance.now(), 0];
    return (done) => {
      const frames = Math.min(done, total);
      if (frames <= told || (frames < total && performance.now() - last < PACE)) return;
      [last, told] = [performance.now(), frames];
      onStage?.({ ...stage, frames, total });
    };
  }

  #encode(
    input: VideoInput,
    value: number,
    output: string,
    material: Material = this.#task.material,
    check?: EncodeRequest['check'],
  ): Promise<EncodeResult> {
    const { facts, folder, signal } = this.#session;
    const { isSource, keys, encoded } = material;
    const { encoder, parameter, args, pixelFormat, size, samples } = this.#task.setting;
    this.#encodes++;
    return folder.encode({
      input,
      isSource,
      encoder: encoder.name,
      version: encoder.version.replace(/^ffmpeg /, ''),
      args: [...parameter.args(value), ...args],
      pixelFormat,
      size,
      // Samples that were cut out are what decoders make of RGB.
      samples: samples === 'rgb' && !isSource ? 'limited' : samples,
      frames: encoded,
      ...(!isSource && { keys, colour: decodedColour(facts) }),
      ...(check && { whole: true, check }),
      onFrames: this.#begin('encoding', value, material),
      output,
      signal,
    });
  }

  /** @throws {AnyvmafError} `media` where the encoder made more or fewer frames than it was given */
  #checkFrames(found: number, value: number, frames: number = this.#task.material.frames): void {
    const { setting } = this.#task;
    if (found === frames) return;
    throw new AnyvmafError(
      'media',
      `${setting.encoder.name} was given ${counted(frames, 'frame')} and gave ${found} at ` +
        `${setting.parameter.name} ${value}; an encoder that drops or adds frames cannot be compared.`,
    );
  }
}

interface ScoringTask {
  /** Inspect the pair too. */
  readonly preflight?: boolean;
  readonly onFrames?: (done: number) => void;
}

/** Scores what was made of a reference, all frames of it. */
export function scoreEncode(
  { platform, host, options, signal, facts, source }: Session,
  reference: VideoInput,
  distorted: VideoInput,
  { preflight = false, onFrames }: ScoringTask = {},
): Promise<EncodeScores> {
  const { models, features, threads } = options;
  const how: ScoreOptions = {
    ...(models && { models }),
    ...(features && { features }),
    ...(threads !== undefined && { threads }),
    // Samples need no inspection; encodes may have another depth on purpose.
    preflight,
    commonBitDepth: true,
    decoder: 'ffmpeg',
    ...(onFrames && { onProgress: ({ framesDone }) => onFrames(framesDone) }),
    signal,
  };
  // Samples and encodes do not state all that the source does, and are of its colour. RGB is scored as it is.
  const isRgb = reference === source && sourceSamples(facts) === 'rgb';
  const colour = isRgb ? undefined : colourOf(decodedColour(facts));
  return (
    host.score?.(reference, distorted, how) ?? scorePair(platform, { reference, distorted }, how, { colour })
  );
}

/**
 * Values of the metrics to keep: those that are needed, the models', and the features that were asked for.
 * @throws {AnyvmafError} `feature` for a metric that is needed and not there
 */
export function measuredOf(
  { options }: Session,
  report: EncodeScores,
  runs: Material['scored'],
  needed: readonly string[],
): Record<string, SampleValues> {
  const features = options.features ? Object.keys(report.frames[0]?.metrics ?? {}) : [];
  const wanted = new Set([...needed, ...report.models.map(({ name }) => name), ...features]);
  return valuesOf(report, runs, [...wanted]);
}

/** Values of a metric, sample by sample. */
export function samplesOf(point: Measured, metric: string): SampleValues {
  const values = point.metrics[metric];
  if (!values) throw new Error(`${metric} was not kept`);
  return values;
}

/** Values of scored frames, sample by sample. @throws {AnyvmafError} `feature` for a metric that the report does not have */
function valuesOf(
  { frames }: EncodeScores,
  runs: Material['scored'],
  metrics: readonly string[],
): Record<string, SampleValues> {
  return Object.fromEntries(
    metrics.map((metric) => [
      metric,
      runs.map(({ from, count }) =>
        Array.from({ length: count }, (_, i) => {
          const value = frames[from + i]?.metrics[metric];
          if (value !== undefined) return value;
          const known = Object.keys(frames[0]?.metrics ?? {});
          throw new AnyvmafError(
            'feature',
            `a target names ${shown(metric)}, which no frame has; there are ${known.join(', ')}.`,
          );
        }),
      ),
    ]),
  );
}

/** Sum of the bytes of frames. */
export function total(sizes: Float64Array): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * @param reference a Y4M file of the folder
 * @param encoded which of its frames the encode has
 * @param name the encode, in the folder
 */
async function surroundedEncode(
  session: Session,
  reference: string,
  encoded: FrameRun,
  name: string,
): Promise<FrameSource> {
  const { platform, folder, signal } = session;
  const pictures = await openVideo(reference, { platform: platform.files, signal });
  try {
    const frames = await folder.frames(name, signal);
    const total = pictures.info.frameCount ?? encoded.first + encoded.count;
    const end = encoded.first + encoded.count;
    return {
      info: { ...frames.info, container: 'frames', frameCount: total },
      seekable: false,
      readFrame(index, into) {
        if (index >= encoded.first && index < end) return frames.readFrame(index - encoded.first, into);
        return index < total && readAs(pictures, index, frames, into);
      },
      async close() {
        await frames.close();
        await pictures.close();
      },
    };
  } catch (error) {
    await pictures.close();
    throw error;
  }
}

/** Reads a picture in the format of other frames; where that differs, it is grey: nobody scores it. */
async function readAs(
  from: FrameSource,
  index: number,
  as: FrameSource,
  into: FramePlanes,
): Promise<boolean> {
  if (describeFormat(from.info) === describeFormat(as.info)) return from.readFrame(index, into);
  const planes = allocateFrame(as.info);
  const middle = 1 << (as.info.bitDepth - 1);
  for (const plane of [planes.y, planes.cb, planes.cr]) {
    if (as.info.bitDepth === 8) plane?.fill(middle);
    else for (let i = 1; plane && i < plane.length; i += 2) plane[i] = middle >> 8;
  }
  into.y.set(planes.y);
  if (planes.cb) into.cb?.set(planes.cb);
  if (planes.cr) into.cr?.set(planes.cr);
  return true;
}
