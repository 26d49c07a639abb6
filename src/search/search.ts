/**
 * @module search/search
 * Finds the setting of an encoder with which a source reaches a quality: encodes samples of it, scores them, and chooses
 * what to encode next.
 */
import { requireText, wrongType } from '../core/arguments.js';
import { AnyvmafError, usageError } from '../core/errors.js';
import { BY_USER } from '../core/origin.js';
import { counted, shown } from '../core/printable.js';
import { Scope } from '../engine/scope.js';
import { scorePair } from '../engine/score.js';
import type { VideoInput } from '../media/types.js';
import { parseModelString } from '../models/grammar.js';
import type { Report } from '../report/types.js';
import { encoderArguments, type Parameter, parameterOf } from './encoders.js';
import { estimate, marginOf, type SampleValues } from './estimate.js';
import type {
  EncoderFacts,
  EncodingFolder,
  EncodingHost,
  PointStore,
  SearchPlatform,
  SourceFacts,
} from './host.js';
import { checkSearchOptions } from './options.js';
import { KnownPoints, type Measured, pooledOf } from './points.js';
import { chooseSamples, SAMPLE_SIZES, type Sample } from './samples.js';
import { nextStep } from './strategy.js';
import type { CompleteTarget } from './targets.js';
import type { FinalEncode, SearchOptions, SearchPoint, SearchResult, SearchShortfall } from './types.js';

const DEFAULT_MODEL = 'version=vmaf_v0.6.1';
const DEFAULT_SCRATCH = 8e9;
const SAMPLES_FILE = 'samples.y4m';
/** Points by which a curve must rise to be called not monotone. */
const RISE = 0.05;

/**
 * Finds the value of an encoder's parameter that reaches the targets with the smallest file.
 * @throws {AnyvmafError} as the public `searchQuality` says; the signal's reason when it asks to stop
 */
export async function searchQuality(
  platform: SearchPlatform,
  source: VideoInput,
  options: SearchOptions,
): Promise<SearchResult> {
  checkSearchOptions(options);
  if (!isFileName(source)) throw wrongType('source', source, 'the path of a file, or its URL');
  if (!platform.encoding) {
    throw new AnyvmafError('backend', 'Encoders are programs, which cannot be run here; search in Node.');
  }
  const scope = new Scope(options.signal);
  try {
    const bound = platform.ofOrigin?.(options.origin ?? BY_USER) ?? platform;
    const host = await (bound.encoding ?? platform.encoding)();
    options.onStage?.({ kind: 'reading' });
    const [encoder, facts] = await Promise.all([
      host.encoder(options.encoder, scope.signal),
      host.source(source, scope.signal),
    ]);
    const folder = await host.openFolder(options.scratchBytes ?? DEFAULT_SCRATCH);
    scope.own(() => folder.close());
    const search = new Search({
      platform: scoringPlatform(platform, options, folder),
      source,
      options,
      encoder,
      facts,
      folder,
      signal: scope.signal,
    });
    return await search.run(host);
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : error;
  } finally {
    await scope.close();
  }
}

/**
 * Removes the points that searches kept.
 * @returns how many searches had points
 */
export async function forgetSearches(platform: SearchPlatform, folder: string | undefined): Promise<number> {
  if (folder !== undefined) requireText('folder', folder, 'a folder');
  const host = await platform.encoding?.();
  return host ? host.points(folder).clear() : 0;
}

/** Opens files as the source's origin says, and what the search made itself. */
function scoringPlatform(
  platform: SearchPlatform,
  { origin }: SearchOptions,
  folder: EncodingFolder,
): SearchPlatform {
  if (origin?.by !== 'foreign') return platform;
  const { folders } = origin;
  return (
    platform.ofOrigin?.({ by: 'foreign', ...(folders && { folders: [...folders, folder.root] }) }) ?? platform
  );
}

function isFileName(source: VideoInput): boolean {
  try {
    return typeof source === 'string' || source instanceof URL;
  } catch {
    // A proxy that answers nothing.
    return false;
  }
}

/** What a search goes by. */
interface SearchTask {
  readonly platform: SearchPlatform;
  readonly source: VideoInput;
  readonly options: SearchOptions;
  readonly encoder: EncoderFacts;
  readonly facts: SourceFacts;
  readonly folder: EncodingFolder;
  readonly signal: AbortSignal;
}

/** One search, on one folder. */
class Search {
  readonly #task: SearchTask;
  readonly #parameter: Parameter;
  /** Arguments of the encoder beside the parameter's. */
  readonly #args: readonly string[];
  readonly #pixelFormat: string;
  readonly #targets: readonly CompleteTarget[];
  /** `null`: the whole source is encoded each time. */
  readonly #samples: readonly Sample[] | null;
  readonly #perSecond: number;
  #encodes = 0;
  #cut = false;

  constructor(task: SearchTask) {
    const { options, encoder, facts } = task;
    this.#task = task;
    this.#parameter = parameterOf(encoder, options.parameter, options.range);
    this.#args = encoderArguments(encoder, options.encoderOptions ?? {});
    this.#pixelFormat = pixelFormatOf(options.pixelFormat, encoder, facts);
    this.#targets = targetsOf(options);
    this.#samples = options.full ? null : chooseSamples(facts, SAMPLE_SIZES);
    this.#perSecond = framesPerSecond(facts);
  }

  async run(host: EncodingHost): Promise<SearchResult> {
    const { options } = this.#task;
    const store = options.cache === false ? undefined : host.points(options.cache);
    const points = await this.#open(store);
    for (const known of points.all()) options.onPoint?.(this.#point(known));
    const value = options.all ? await this.#measureAll(points) : await this.#search(points);
    const found = points.all().find((one) => one.value === value);
    if (!found) throw new Error('the value found was not measured');
    const final = options.output !== undefined || options.verify ? await this.#encodeWhole(value) : null;
    return this.#result(points, found, final);
  }

  /** Points of earlier searches for the same source, samples, encoder and arguments. */
  async #open(store: PointStore | undefined): Promise<KnownPoints> {
    const { options, encoder, facts } = this.#task;
    const key = await keyOf([
      facts.identity,
      this.#samples?.map(({ encoded, scored }) => [encoded, scored]) ?? facts.times.length,
      [encoder.name, encoder.version, this.#args, this.#pixelFormat, this.#parameter.name],
      [options.models ?? null, options.features ?? null],
    ]);
    const metrics = [...new Set(this.#targets.map(({ metric }) => metric))];
    return KnownPoints.open(store, key, this.#scoredFrames(), metrics);
  }

  #scoredFrames(): readonly number[] {
    return this.#samples?.map(({ scored }) => scored.count) ?? [this.#task.facts.times.length];
  }

  /** Encodes until the value is known. */
  async #search(points: KnownPoints): Promise<number> {
    for (;;) {
      const curve = points.all().map((one) => ({ value: one.value, margin: this.#margin(one) }));
      const next = nextStep(curve, this.#parameter.grid);
      if (next.kind !== 'try') return next.value;
      await this.#measure(points, next.value);
    }
  }

  /** Encodes every value of the grid. @returns the last that reaches the targets, else the nearest */
  async #measureAll(points: KnownPoints): Promise<number> {
    const { values } = this.#parameter.grid;
    for (const value of values) if (!points.has(value)) await this.#measure(points, value);
    const margins = points
      .all()
      .filter(({ value }) => values.includes(value))
      .map((one) => ({ value: one.value, margin: this.#margin(one) }))
      .sort((a, b) => values.indexOf(a.value) - values.indexOf(b.value));
    const last = margins.filter(({ margin }) => margin >= 0).at(-1);
    const nearest = margins.reduce((a, b) => (b.margin > a.margin ? b : a));
    return (last ?? nearest).value;
  }

  async #measure(points: KnownPoints, value: number): Promise<void> {
    const { options, folder, facts, platform, signal } = this.#task;
    await this.#cutSamples();
    this.#encodes++;
    options.onStage?.({ kind: 'encoding', value, whole: !this.#samples });
    const name = 'encode.mkv';
    const { sizes } = await this.#encode(value, name, this.#samples ? folder.path(SAMPLES_FILE) : undefined);
    this.#checkFrames(sizes.length, value);
    options.onStage?.({ kind: 'scoring', value, whole: !this.#samples });
    const reference = this.#samples ? folder.path(SAMPLES_FILE) : this.#task.source;
    const report = await this.#score(platform, reference, folder.path(name));
    await folder.remove(name);
    signal.throwIfAborted();
    const runs = this.#runs(facts.times.length);
    const bytes = runs.reduce((sum, { from, count }) => sum + total(sizes.subarray(from, from + count)), 0);
    const point = { value, bytes, metrics: valuesOf(report, runs, this.#metricsOf(report)) };
    await points.add(point);
    options.onPoint?.(this.#point({ ...point, cached: false }));
  }

  async #cutSamples(): Promise<void> {
    if (!this.#samples || this.#cut) return;
    const { options, folder, facts, source, signal } = this.#task;
    const runs = this.#samples.map(({ encoded }) => encoded);
    const frames = runs.reduce((sum, { count }) => sum + count, 0);
    options.onStage?.({ kind: 'cutting', samples: runs.length, frames });
    await folder.cut(source, facts, runs, SAMPLES_FILE, signal);
    this.#cut = true;
  }

  #encode(value: number, output: string, samples: string | undefined, whole = false) {
    const { source, encoder, facts, folder, signal } = this.#task;
    return folder.encode({
      input: samples ?? source,
      isSource: samples === undefined,
      encoder: encoder.name,
      version: encoder.version.replace(/^ffmpeg /, ''),
      args: [...this.#parameter.args(value), ...this.#args],
      pixelFormat: this.#pixelFormat,
      ...(samples !== undefined && { keys: this.#starts(), colour: facts.track }),
      whole,
      output,
      signal,
    });
  }

  /** Where samples begin in the file of samples. */
  #starts(): readonly number[] {
    let at = 0;
    return (this.#samples ?? []).map(({ encoded }) => {
      const start = at;
      at += encoded.count;
      return start;
    });
  }

  /** Scored frames in what was encoded. */
  #runs(frames: number): readonly { readonly from: number; readonly count: number }[] {
    if (!this.#samples) return [{ from: 0, count: frames }];
    const starts = this.#starts();
    return this.#samples.map(({ encoded, scored }, i) => ({
      from: (starts[i] as number) + scored.first - encoded.first,
      count: scored.count,
    }));
  }

  /** @throws {AnyvmafError} `media` where the encoder made more or fewer frames than it was given */
  #checkFrames(found: number, value: number): void {
    const { encoder, facts } = this.#task;
    const given = this.#samples
      ? this.#samples.reduce((sum, { encoded }) => sum + encoded.count, 0)
      : facts.times.length;
    if (found === given) return;
    throw new AnyvmafError(
      'media',
      `${encoder.name} was given ${counted(given, 'frame')} and gave ${found} at ${this.#parameter.name} ${value}; an ` +
        'encoder that drops or adds frames cannot be compared.',
    );
  }

  async #score(platform: SearchPlatform, reference: VideoInput, distorted: string): Promise<Report> {
    const { models, features, threads } = this.#task.options;
    return scorePair(
      platform,
      { reference, distorted },
      {
        ...(models && { models }),
        ...(features && { features }),
        ...(threads !== undefined && { threads }),
        // What was made from the reference needs no inspection, and may have another depth on purpose.
        preflight: false,
        commonBitDepth: true,
        decoder: 'ffmpeg',
        signal: this.#task.signal,
      },
    );
  }

  /** Metrics to keep: of the targets, the models, and the features that were asked for. */
  #metricsOf(report: Report): readonly string[] {
    const wanted = [...this.#targets.map(({ metric }) => metric), ...report.models.map(({ name }) => name)];
    const features = this.#task.options.features ? Object.keys(report.frames[0]?.metrics ?? {}) : [];
    return [...new Set([...wanted, ...features])];
  }

  #margin(point: Measured): number {
    return marginOf(this.#targets, (metric) => samplesOf(point, metric), this.#perSecond);
  }

  #point(point: Measured & { readonly cached: boolean }): SearchPoint {
    const { value, bytes, cached, metrics } = point;
    const frames = this.#scoredFrames().reduce((sum, count) => sum + count, 0);
    const kbps = (bytes * 8 * this.#perSecond) / frames / 1000;
    return { value, bytes, kbps, pooled: pooledOf(metrics), margin: this.#margin(point), cached };
  }

  async #encodeWhole(value: number): Promise<FinalEncode> {
    const { options, folder, facts, platform, source, signal } = this.#task;
    const output = options.output ?? 'final.mkv';
    options.onStage?.({ kind: 'encoding', value, whole: true });
    this.#encodes++;
    const { sizes } = await this.#encode(value, output, undefined, options.output !== undefined);
    options.onStage?.({ kind: 'scoring', value, whole: true });
    const file = options.output ?? folder.path(output);
    const report = await this.#score(platform, source, file);
    signal.throwIfAborted();
    const whole = [{ from: 0, count: report.frames.length }];
    const metrics = valuesOf(report, whole, this.#metricsOf(report));
    const bytes = total(sizes);
    const seconds = facts.times.length / this.#perSecond;
    const margin = marginOf(this.#targets, (metric) => metrics[metric] ?? [], this.#perSecond);
    return {
      file: options.output ?? null,
      bytes,
      kbps: (bytes * 8) / seconds / 1000,
      pooled: pooledOf(metrics),
      reached: margin >= 0,
    };
  }

  #result(
    points: KnownPoints,
    found: Measured & { readonly cached: boolean },
    final: FinalEncode | null,
  ): SearchResult {
    const { encoder, facts } = this.#task;
    const { values } = this.#parameter.grid;
    const order = (value: number) => (values.includes(value) ? values.indexOf(value) : value);
    const all = points
      .all()
      .map((one) => this.#point(one))
      .sort((a, b) => order(a.value) - order(b.value));
    const [first] = this.#targets as readonly [CompleteTarget];
    const predicted = estimate(samplesOf(found, first.metric), first.statistic, this.#perSecond);
    const frames = this.#scoredFrames().reduce((sum, count) => sum + count, 0);
    const predictedBytes = (found.bytes / frames) * facts.times.length;
    return {
      encoder: encoder.name,
      version: encoder.version,
      parameter: this.#parameter.name,
      value: found.value,
      targets: this.#targets,
      shortfall: this.#shortfall(this.#margin(found), predicted.value, predictedBytes),
      points: all,
      predicted,
      predictedBytes,
      notMonotone: rises(all),
      samples: this.#samples?.map(({ scored }) => scored) ?? null,
      encodes: this.#encodes,
      cached: all.filter(({ cached }) => cached).length,
      final,
      command: this.#command(found.value),
    };
  }

  #shortfall(margin: number, value: number, bytes: number): SearchShortfall | null {
    const { options, facts } = this.#task;
    if (margin < 0) return { reason: 'target', by: -margin };
    const share = bytes / total(facts.sizes);
    if (options.maxSize !== undefined && share > options.maxSize) return { reason: 'size', share };
    if (options.atMost !== undefined && value > options.atMost)
      return { reason: 'above', by: value - options.atMost };
    return null;
  }

  #command(value: number): readonly string[] {
    const { source, encoder, options } = this.#task;
    const input = typeof source === 'string' ? source : String(source);
    const args = [...this.#parameter.args(value), ...this.#args, '-pix_fmt', this.#pixelFormat];
    return ['ffmpeg', '-i', input, '-c:v', encoder.name, ...args, options.output ?? 'encode.mkv'];
  }
}

function targetsOf({ targets, models }: SearchOptions): readonly CompleteTarget[] {
  const [model = DEFAULT_MODEL] = models ?? [];
  const { name } = parseModelString(model);
  const asked = targets?.length ? targets : [{ atLeast: 95 }];
  return asked.map(({ metric = name, statistic = 'mean', atLeast }) => ({ metric, statistic, atLeast }));
}

/** @throws {AnyvmafError} `usage` for a format that the encoder does not take */
function pixelFormatOf(wanted: string | undefined, encoder: EncoderFacts, { track }: SourceFacts): string {
  const { pixelFormats, name } = encoder;
  const format = wanted ?? track.pixelFormat;
  if (pixelFormats.length === 0 || pixelFormats.includes(format)) return format;
  const near = wanted === undefined ? nearestFormat(track.bitDepth, pixelFormats) : undefined;
  if (near !== undefined) return near;
  throw usageError(
    `${name} does not take the pixel format ${shown(format)}; it takes ${pixelFormats.join(', ')}.`,
  );
}

/** The format that keeps most of 4:2:0 at a depth, where an encoder does not take the source's own. */
function nearestFormat(bitDepth: number, formats: readonly string[]): string | undefined {
  const wanted = bitDepth > 10 ? ['yuv420p12le'] : [];
  const names = [...wanted, ...(bitDepth > 8 ? ['yuv420p10le', 'p010le'] : []), 'yuv420p', 'nv12'];
  return names.find((name) => formats.includes(name));
}

function framesPerSecond({ track, times }: SourceFacts): number {
  const last = times.at(-1) ?? 0;
  if (last > 0) return (times.length - 1) / last;
  return track.frameRate ? track.frameRate.num / track.frameRate.den : 25;
}

/** Values of scored frames, sample by sample. @throws {AnyvmafError} `feature` for a metric that the report does not have */
function valuesOf(
  { frames }: Report,
  runs: readonly { readonly from: number; readonly count: number }[],
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

function samplesOf(point: Measured, metric: string): SampleValues {
  const values = point.metrics[metric];
  if (!values) throw new Error(`${metric} was not kept`);
  return values;
}

/** Values after which a coarser one gives a better result. */
function rises(points: readonly SearchPoint[]): readonly number[] {
  return points.flatMap(({ value, margin }, i) =>
    margin > (points[i - 1]?.margin ?? margin) + RISE ? [value] : [],
  );
}

function total(sizes: Float64Array): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function keyOf(parts: readonly unknown[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
