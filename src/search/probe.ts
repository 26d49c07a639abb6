/**
 * @module search/probe
 * Encodes a material with values of one parameter and scores the results; reuses those of earlier runs.
 */
import { colourOf } from '../core/colour.js';
import { featureError, mediaError } from '../core/errors.js';
import { allocateFrame, describeFormat, type FramePlanes } from '../core/frame.js';
import { counted, shown } from '../core/printable.js';
import { version } from '../core/version.js';
import type { ScoreOptions } from '../engine/contract/types.js';
import { scorePair } from '../engine/score.js';
import { openVideo } from '../media/open.js';
import type { FrameSource, VideoInput } from '../media/types.js';
import {
  areRgb,
  decodedColour,
  type Setting,
  samplesOf as sourceSamples,
  unevenTimes,
  wholeEncode,
} from './commands.js';
import { type Material, wholeSource } from './material.js';
import type { EncodeRequest, EncodeResult, EncodeScores, FrameRun, Session } from './session.js';
import { byGrid } from './strategy.js';
import { type KnownPoint, keyOf, type Measured, parsePoint, pooledOf, type SampleValues } from './targets.js';
import type { EncodedPoint, FinalEncode } from './types.js';

const ENCODE_FILE = 'encode.mkv';
/** Milliseconds between progress reports. */
const PACE = 250;

interface ProbeTask {
  readonly material: Material;
  readonly setting: Setting;
  /** Required in every point. */
  readonly metrics: readonly string[];
  /** Frames per key frame in the delivered encode; adds the share of those at `material.keys` to bytes of samples. */
  readonly segment?: number;
  /** Prefix of the names of encodes to keep in the folder; without it, they are removed once scored. */
  readonly keep?: string;
}

export class Probe {
  readonly #known = new Map<number, KnownPoint>();
  readonly #kept = new Map<number, string>();
  #encodes = 0;
  #warnings: readonly string[] = [];

  private constructor(
    readonly session: Session,
    readonly task: ProbeTask,
    /** Of its points in the store. */
    readonly key: string,
  ) {}

  /** Reuses points of earlier runs of this version with the same source, frames, encoder, arguments and model files. */
  static async open(session: Session, task: ProbeTask): Promise<Probe> {
    const { facts, store, options, modelDigests } = session;
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
      [version, options.models ?? null, options.features ?? null, ...modelDigests],
    ]);
    const probe = new Probe(session, task, key);
    const frames = material.scored.map(({ count }) => count);
    for (const line of (await store?.read(key)) ?? []) {
      const point = parsePoint(line, frames);
      if (point && metrics.every((name) => name in point.metrics))
        probe.#known.set(point.value, { ...point, cached: true });
    }
    return probe;
  }

  get setting(): Setting {
    return this.task.setting;
  }

  get material(): Material {
    return this.task.material;
  }

  get encodes(): number {
    return this.#encodes;
  }

  /** Problems found while scoring the whole source. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  points(): readonly KnownPoint[] {
    return [...this.#known.values()];
  }

  /** Points with values of the grid, from the best picture to the smallest file. */
  onGrid(): readonly KnownPoint[] {
    return byGrid(this.points(), this.setting.parameter.grid);
  }

  /** @param onPoint called if the value was not known */
  async measure(value: number, onPoint?: (point: KnownPoint) => void): Promise<KnownPoint> {
    const known = this.#known.get(value);
    if (known) return known;
    const { folder } = this.session;
    const { material } = this.task;
    const reference = await material.open();
    const name = this.#fileName(value);
    const { sizes, seconds } = await this.#encode(reference, value, name);
    this.#checkFrames(sizes.length, value);
    const report = await this.#score(reference, name, this.#begin('scoring', value, material));
    if (this.task.keep === undefined) await folder.remove(name);
    else this.#kept.set(value, name);
    this.session.signal.throwIfAborted();
    const skipped = material.encoded?.first ?? 0;
    const each = material.scored.map(({ from, count }) => {
      return sizes.subarray(from - skipped, from - skipped + count);
    });
    const scored = each.reduce((sum, frames) => sum + total(frames), 0);
    const bytes = scored + this.#keyBytes(sizes, scored);
    const metrics = measuredOf(this.session, report, material.scored, this.task.metrics);
    const sizesOfSamples = each.map((part) => Array.from(part));
    const measured = { value, bytes, metrics, sizes: sizesOfSamples, seconds };
    const point = { ...measured, cached: false };
    this.#known.set(value, point);
    await this.session.store?.add(this.key, JSON.stringify(measured));
    onPoint?.(point);
    return point;
  }

  /** Bytes that key frames add, since scored frames of samples come after theirs. */
  #keyBytes(sizes: Float64Array, scored: number): number {
    const { material, segment } = this.task;
    if (segment === undefined || !material.starts || material.keys.length === 0) return 0;
    const frames = material.scoredFrames;
    const key = material.keys.reduce((sum, at) => sum + (sizes[at] as number), 0) / material.keys.length;
    return Math.max(0, key - scored / frames) * (frames / segment);
  }

  /** Name of a value's encode in the folder, which is made if missing. */
  async file(value: number): Promise<string> {
    const known = this.#kept.get(value);
    if (known !== undefined) return known;
    const reference = await this.task.material.open();
    const name = this.#fileName(value);
    const { sizes } = await this.#encode(reference, value, name);
    this.#checkFrames(sizes.length, value);
    this.#kept.set(value, name);
    return name;
  }

  async removeFiles(except?: number): Promise<void> {
    for (const [value, name] of this.#kept) {
      if (value === except) continue;
      await this.session.folder.remove(name);
      this.#kept.delete(value);
    }
  }

  #fileName(value: number): string {
    const { keep } = this.task;
    return keep === undefined ? ENCODE_FILE : `${keep}-${value}.mkv`;
  }

  async #score(reference: VideoInput, name: string, onFrames: (done: number) => void): Promise<EncodeScores> {
    const { encoded } = this.task.material;
    const { folder, host } = this.session;
    const path = folder.path(name);
    if (!encoded || typeof reference !== 'string' || host.score)
      return scoreEncode(this.session, reference, path, { onFrames });
    const distorted = await surroundedEncode(this.session, reference, encoded, name);
    try {
      return await scoreEncode(this.session, reference, distorted, { onFrames });
    } finally {
      await distorted.close();
    }
  }

  encoded({ value, bytes, cached, metrics, seconds }: KnownPoint): EncodedPoint {
    const { material } = this.task;
    const kbps = (bytes * 8 * this.session.perSecond) / material.scoredFrames / 1000;
    const framesPerSecond = seconds === undefined ? null : material.frames / seconds;
    const timing = seconds !== undefined && { encodeSeconds: seconds };
    return { value, bytes, kbps, pooled: pooledOf(metrics), framesPerSecond, ...timing, cached };
  }

  /**
   * Encodes the whole source and scores it.
   * @param output path to write, with audio and subtitles; without it, the encode is only scored
   * @param wanted true to keep the file, by its values and bytes
   * @throws {AnyvmafError} `media` if it does not have all frames of the source; no file remains
   */
  async encodeWhole(
    value: number,
    output: string | undefined,
    wanted: (metrics: Measured['metrics'], bytes: number) => boolean = () => true,
  ): Promise<{
    readonly final: Omit<FinalEncode, 'reached' | 'qualities'>;
    readonly metrics: Measured['metrics'];
  }> {
    const { folder, facts, source, signal, perSecond } = this.session;
    const whole = wholeSource(this.session);
    let metrics: Measured['metrics'] = {};
    let stays = false;
    const look = async (path: string, { sizes }: EncodeResult) => {
      this.#checkFrames(sizes.length, value, whole.frames);
      const onFrames = this.#begin('scoring', value, whole);
      const report = await scoreEncode(this.session, source, path, { preflight: true, onFrames });
      signal.throwIfAborted();
      this.#warnings = (report.preflight ?? [])
        .filter(({ severity }) => severity !== 'info')
        .map(({ message }) => message);
      metrics = measuredOf(this.session, report, whole.scored, this.task.metrics);
      stays = wanted(metrics, total(sizes));
      return stays;
    };
    const name = output ?? 'final.mkv';
    const encode = await this.#encode(source, value, name, whole, output === undefined ? undefined : look);
    if (output === undefined) await look(folder.path(name), encode);
    const bytes = total(encode.sizes);
    const kbps = (bytes * 8 * perSecond) / facts.times.length / 1000;
    const file = output !== undefined && stays ? output : null;
    return { final: { file, bytes, kbps, pooled: pooledOf(metrics) }, metrics };
  }

  /** Reports a stage. @returns a function that reports the frames done, throttled */
  #begin(kind: 'encoding' | 'scoring', value: number, { isSource, frames: total }: Material) {
    const { onStage } = this.session.options;
    const { encoder, size = null } = this.task.setting;
    const stage = { kind, encoder: encoder.name, size, value, whole: isSource };
    onStage?.(stage);
    let [last, reported] = [performance.now(), 0];
    return (done: number) => {
      const frames = Math.min(done, total);
      if (frames <= reported || (frames < total && performance.now() - last < PACE)) return;
      [last, reported] = [performance.now(), frames];
      onStage?.({ ...stage, frames, total });
    };
  }

  async #encode(
    input: VideoInput,
    value: number,
    output: string,
    material: Material = this.task.material,
    check?: EncodeRequest['check'],
  ): Promise<EncodeResult> {
    const { facts, folder, signal } = this.session;
    const { isSource, keys, encoded, samples } = material;
    const { setting } = this.task;
    const onFrames = this.#begin('encoding', value, material);
    // The listener may have aborted at its limit of encodes.
    signal.throwIfAborted();
    this.#encodes++;
    return folder.encode({
      ...wholeEncode(setting, value),
      input,
      isSource,
      // Cut samples of RGB are already decoded to limited range.
      samples: areRgb(setting.samples) && !isSource ? 'limited' : setting.samples,
      frames: encoded,
      // As in a script that encodes the shot from the source: rate control depends on times.
      times: encoded && samples?.[0] && unevenTimes(facts, samples[0]),
      ...(!isSource && { keys, colour: decodedColour(facts) }),
      ...(check && { whole: true, check }),
      onFrames,
      output,
      signal,
    });
  }

  /** @throws {AnyvmafError} `media` if the encoder returned more or fewer frames than it was given */
  #checkFrames(found: number, value: number, frames: number = this.task.material.frames): void {
    const { setting } = this.task;
    if (found === frames) return;
    throw mediaError(
      `${setting.encoder.name} was given ${counted(frames, 'frame')} and returned ${found} at ` +
        `${setting.parameter.name} ${value}; encodes with dropped or added frames cannot be compared.`,
    );
  }
}

interface ScoringTask {
  /** Run preflight checks too. */
  readonly preflight?: boolean;
  readonly onFrames?: (done: number) => void;
}

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
    // Samples need no preflight; encodes may differ in depth on purpose.
    preflight,
    commonBitDepth: true,
    decoder: 'ffmpeg',
    ...(onFrames && { onProgress: ({ framesDone }) => onFrames(framesDone) }),
    signal,
  };
  // Samples and encodes lack some of the source's colour tags, so use its colour. RGB is scored as stored.
  const isRgb = reference === source && areRgb(sourceSamples(facts));
  const colour = isRgb ? undefined : colourOf(decodedColour(facts));
  return (
    host.score?.(reference, distorted, how) ?? scorePair(platform, { reference, distorted }, how, { colour })
  );
}

/** @throws {AnyvmafError} `feature` if a required metric is missing */
export function measuredOf(
  { options }: Session,
  report: EncodeScores,
  runs: Material['scored'],
  needed: readonly string[],
): Record<string, SampleValues> {
  const features = options.features ? Object.keys(report.frames[0]?.metrics ?? {}) : [];
  const wanted = new Set([...needed, ...report.models.map(({ name }) => name), ...features]);
  const { frames } = report;
  const valueIn = (metric: string, frame: number): number => {
    const value = frames[frame]?.metrics[metric];
    if (value !== undefined) return value;
    const known = Object.keys(frames[0]?.metrics ?? {});
    throw featureError(
      `a target names ${shown(metric)}, which no frame has; the measured metrics are ${known.join(', ')}.`,
    );
  };
  const valuesOf = (metric: string) =>
    runs.map(({ from, count }) => Array.from({ length: count }, (_, i) => valueIn(metric, from + i)));
  return Object.fromEntries(Array.from(wanted, (metric) => [metric, valuesOf(metric)]));
}

export function total(sizes: Float64Array): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * The reference with the frames of an encode in place of its own.
 * @param reference a Y4M file of the folder
 * @param encoded the frames that the encode has
 * @param name of the encode, in the folder
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

/** Reads a frame in the format of `as`; grey if the formats differ, since the frame is not scored. */
async function readAs(from: FrameSource, index: number, as: FrameSource, into: FramePlanes) {
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
