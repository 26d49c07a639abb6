/**
 * @module mcp/pictures/worst
 * Scores a pair, picks its worst frames, extracts and publishes their pictures, and describes them.
 */
import { unlessAborted } from '../../core/abort.js';
import { quotientOf } from '../../core/rational.js';
import {
  AnyvmafError,
  type ExtractOptions,
  type Origin,
  type Report,
  ranking,
  trustOf,
  worstFrames,
} from '../../index.js';
import { extractorsFor, isWorseHigh, metricIn, notMeasured } from '../../report/limits.js';
import type { Ranking } from '../../report/worst.js';
import type { Measuring } from '../call-threads.js';
import type { CheckedRequest } from '../checked-api.js';
import type { ExtraContent, ToolContext } from '../context.js';
import {
  PICTURES,
  type PictureJob,
  type PictureName,
  type Preview,
  type TakenPair,
  type TakenSide,
} from '../frame-pictures.js';
import { tableOptions } from '../scoring/options.js';
import { backendUsed, mismatchedModelWarning, publishReport } from '../scoring/result.js';
import { anyRequest, runScore } from '../scoring/run.js';
import type { ToolOutcome } from '../tool.js';
import { headOf, nextWithFix } from '../verdict.js';
import { DESCRIBED_SIDE, type Describer, type NoDescriber, reasonOf, sharedDescriber } from './describer.js';
import type { ShownFrame, WorstFramesDocument, WorstFramesInput } from './documents.js';

/** Replaced in tests. */
export interface WorstFramesParts {
  readonly describer?: (onProgress: (message: string) => void) => Promise<Describer | NoDescriber>;
}

/** Most bytes of a picture in an answer or behind a link; the files have full size. */
const PICTURE_BYTES = 100_000;

const BASE64 = 4 / 3;

/** Frames of half a second if the rate is unknown. */
const USUAL_HALF_SECOND = 12;

/** @throws {AnyvmafError} those of `score` and `extractFrames` */
export async function showWorstFrames(
  input: WorstFramesInput,
  context: ToolContext,
  parts: WorstFramesParts = {},
): Promise<ToolOutcome<WorstFramesDocument>> {
  const request = anyRequest({ ...input, reference: input.ref, distorted: input.dis });
  const options: ExtractOptions = tableOptions(input);
  const steps = new Steps(context, input.n);
  const report = await runScore(request, scoringOf(input, options), steps.scoring);
  const { score, metric, distance, worst } = pickWorst(report, input);
  const describer = await findModel(input, parts.describer ?? sharedDescriber, steps, context);
  // Do not search again for the offset that scoring found.
  const offset = report.pairing?.frames.offset;
  const job = pictureJob(input, request, {
    frames: worst.map(({ frameNum }) => frameNum),
    options: { ...options, offset: offset ?? options.offset },
    butteraugli: metric.startsWith('butteraugli'),
    describer,
    origin: context.files.origin,
  });
  const taken = await context.pool.run(1, ({ api }) => take(job, steps, context, api));
  const shown: ShownFrame[] = [];
  const content: ExtraContent[] = [];
  let said = '';
  for (const { frameNum, value } of worst) {
    const pair = madeOf(taken, frameNum);
    const { metrics = {} } = report.frames.find((frame) => frame.frameNum === frameNum) ?? {};
    const vmaf = metrics[score] ?? Number.NaN;
    const description = await describe(pair, vmaf, describer, steps, context);
    const files = await publish(pair, job, shownPictures(input), content, context);
    const when = moment(pair, value, report, metric);
    said ||= when;
    const summary = `${when} ${pair.facts.summary}`;
    shown.push(shownFrame(pair, { vmaf, metrics, summary, description, files }));
  }
  const { origin } = context.files;
  const { uri, path } = await publishReport(report, 'legacy', context.resources, {
    request,
    options,
    origin,
  });
  return {
    document: {
      ...headOfFrames(report, input, context),
      summary: said,
      model_id: describer.modelId,
      frames: shown,
      hint: 'hint' in describer ? describer.hint : null,
      metric,
      mean: report.pooled_metrics[metric] ? rounded(report.pooled_metrics[metric].mean) : null,
      min_distance: distance,
      backend_requested: input.backend,
      ...runFacts(report),
      full_report: { uri, path },
    },
    content,
    spare: SPARE,
    long: worst.length > USUAL_FRAMES,
  };
}

function madeOf(taken: ReadonlyMap<number, TakenPair>, frame: number): TakenPair {
  const pair = taken.get(frame);
  if (!pair) throw new AnyvmafError('internal', `The pictures of frame ${frame} were not made.`);
  return pair;
}

/** The verdict on the score; if the answer has only links, the next call is for the pictures. */
function headOfFrames(report: Report, { images }: WorstFramesInput, context: ToolContext) {
  const trust = trustOf(report);
  const all = images === 'none' ? context.again({ images: 'all' }) : undefined;
  return headOf({ trust, next: nextWithFix(context, trust.fix) ?? all });
}

const USUAL_FRAMES = 5;

/** Members to drop from a long answer, least important first. */
const SPARE = [
  ...['metrics', 'reference', 'distorted', 'brightness'].map((key) => `frames.[].${key}`),
  ...['path', 'width', 'height'].map((key) => `frames.[].files.*.${key}`),
  'full_report.path',
  ...['reference', 'distorted', 'normal', 'unit'].map((key) => `frames.[].facts.*.${key}`),
  ...['preflight', 'mismatched_model_warning', 'frames.[].difference', 'frames.[].summary'],
  ...['frames.[].facts', 'frames.[].png', 'frames.[].files.*.content'],
  ...['difference', 'reference', 'map'].map((key) => `frames.[].files.${key}`),
];

/** Options of the score; includes a metric that no model needs. */
function scoringOf({ model, backend, metric }: WorstFramesInput, options: ExtractOptions) {
  const features = extractorsFor(metric === undefined ? [] : [metric], []);
  return {
    options: { ...options, models: [model.text], backend, features },
    weight: null,
  };
}

function runFacts(report: Report) {
  return {
    frame_count: report.frames.length,
    backend_used: backendUsed(report),
    mismatched_model_warning: mismatchedModelWarning(report),
    trust: trustOf(report),
    preflight: report.preflight,
    warnings: report.warnings,
  };
}

/** A cancelled call does not wait for a loading model, which can take minutes. */
async function findModel(
  { describe }: WorstFramesInput,
  find: NonNullable<WorstFramesParts['describer']>,
  steps: Steps,
  { pool, signal }: ToolContext,
): Promise<Describer | NoDescriber> {
  steps.next('loading a description model');
  if (!describe) return { modelId: null, hint: 'describe is false' };
  return pool.run(1, () =>
    unlessAborted(
      signal,
      find((message) => steps.more(message)),
    ),
  );
}

function pickWorst(report: Report, { n, min_distance: asked, metric: wanted }: WorstFramesInput) {
  const score = ranking(report);
  if (!score) throw new AnyvmafError('internal', 'The model gave no score to rank frames by.');
  const metric = wanted === undefined ? score.metric : metricIn(report, wanted);
  if (metric === undefined || !report.metrics.includes(metric)) throw notMeasured(wanted ?? '', report);
  const by: Ranking = { metric, worse: isWorseHigh(report, metric) ? 'high' : 'low' };
  const rate = quotientOf(report.reference.frameRate);
  const half = rate === undefined ? USUAL_HALF_SECOND : Math.round(rate / 2);
  const fitting = Math.max(1, Math.floor(report.frames.length / n));
  const distance = asked ?? Math.max(1, Math.min(half, fitting));
  return { score: score.metric, metric, distance, worst: worstFrames(report, by, n, distance) };
}

function shownPictures({ images }: WorstFramesInput): readonly PictureName[] {
  return images === 'all' ? PICTURES : images === 'distorted' ? ['distorted'] : [];
}

/** A picture job whose previews fit into one answer together. */
function pictureJob(
  input: WorstFramesInput,
  request: CheckedRequest,
  {
    frames,
    butteraugli,
    options,
    describer,
    origin,
  }: Pick<PictureJob, 'frames' | 'butteraugli'> & {
    readonly options: ExtractOptions;
    readonly describer: Describer | NoDescriber;
    readonly origin: Origin;
  },
): PictureJob {
  const count = shownPictures(input).length * Math.max(1, frames.length);
  const share = Math.floor((1000 * input.images_kb) / BASE64 / count) - 2;
  return {
    request,
    frames,
    butteraugli,
    options: { ...options, origin },
    previews: { names: PICTURES, maxSide: input.image_max_side, maxBytes: Math.min(PICTURE_BYTES, share) },
    plainSide: describer.modelId === null ? undefined : DESCRIBED_SIDE,
  };
}

async function take(
  job: PictureJob,
  steps: Steps,
  { signal }: ToolContext,
  api: Measuring,
): Promise<Map<number, TakenPair>> {
  const taken = new Map<number, TakenPair>();
  steps.more('taking pictures');
  await api.takePairs(job, {
    signal,
    onPair(pair) {
      taken.set(pair.index, pair);
      steps.next(`took pictures of frame ${pair.index} (${taken.size} of ${job.frames.length})`);
    },
  });
  return taken;
}

/**
 * Steps after scoring: one for the describing model, two for each frame (taken, described), so each message advances.
 */
class Steps {
  readonly #context: ToolContext;
  readonly #after: number;
  #scored = 0;
  #taken = 0;
  /** Fraction of the current step. */
  #part = 0;

  constructor(context: ToolContext, frames: number) {
    this.#context = context;
    this.#after = 1 + 2 * frames;
  }

  /** The context for scoring; its total includes the steps that follow. */
  get scoring(): ToolContext {
    const progress: ToolContext['progress'] = ({ total, ...report }) => {
      this.#scored = Math.max(this.#scored, report.done);
      this.#context.progress({ ...report, total: total === null ? null : total + this.#after });
    };
    return { ...this.#context, progress };
  }

  next(message: string): void {
    this.#taken++;
    this.#part = 0;
    this.#report(message);
  }

  /** Advances within the current step. */
  more(message: string): void {
    this.#part += (1 - this.#part) / 4;
    this.#report(message);
  }

  #report(message: string): void {
    const done = this.#scored + this.#taken - 1 + this.#part;
    this.#context.progress({ done, total: this.#scored + this.#after, message });
  }
}

async function describe(
  { index, facts, plain }: TakenPair,
  vmaf: number,
  describer: Describer | NoDescriber,
  steps: Steps,
  context: ToolContext,
): Promise<string> {
  if (describer.modelId === null) return `${facts.summary} (VLM unavailable: ${describer.hint})`;
  if (!plain) throw new AnyvmafError('internal', `Frame ${index} has no picture to describe.`);
  steps.next(`describing frame ${index} with ${describer.modelId}`);
  const question =
    `This frame of an encoded video has a VMAF score of ${vmaf.toFixed(1)} out of 100. Describe the visible compression ` +
    'artefacts, such as blocks, blur, ringing, banding and noise, and say where in the picture they are.';
  try {
    return await context.pool.run(null, () => describer.describe(plain, question, context.signal));
  } catch (error) {
    context.signal.throwIfAborted();
    return `${facts.summary} (${describer.modelId} failed: ${reasonOf(error)})`;
  }
}

async function publish(
  pair: TakenPair,
  { butteraugli }: PictureJob,
  shown: readonly PictureName[],
  content: ExtraContent[],
  { resources }: ToolContext,
): Promise<ShownFrame['files']> {
  const of = async (name: PictureName) => {
    const { bytes, width, height } = pair.pictures[name];
    const number = String(pair.index).padStart(6, '0');
    const preview = pair.previews[name] ?? { ...pair.pictures[name], mimeType: 'image/png' };
    const description = ABOUT[name](pair, butteraugli);
    const file = { name: `frame_${number}_${name}.png`, mimeType: 'image/png', description };
    const { path, ...whole } = await resources.publish({ ...file, data: bytes });
    const small =
      preview.bytes.length === bytes.length
        ? whole
        : await resources.publish({
            ...file,
            name: `frame_${number}_${name}_small.${preview.mimeType === 'image/png' ? 'png' : 'jpg'}`,
            mimeType: preview.mimeType,
            data: preview.bytes,
          });
    const isShown = shown.includes(name);
    // Its index in the content is the new length, since the JSON document comes first.
    const place = isShown ? content.push(image(preview)) : null;
    if (!isShown && name === 'distorted') content.push(small.link);
    return { path, uri: small.uri, width, height, content: place };
  };
  return {
    reference: await of('reference'),
    distorted: await of('distorted'),
    difference: await of('difference'),
    map: await of('map'),
  };
}

const ABOUT: Readonly<Record<PictureName, (pair: TakenPair, butteraugli: boolean) => string>> = {
  reference: ({ index, reference }) => `Reference of frame ${index} (its frame ${reference.frame}).`,
  distorted: ({ index, distorted }) => `Distorted frame ${index} (its frame ${distorted.frame}).`,
  difference: ({ index, gain }) =>
    `Luma difference of frame ${index}, times ${gain}: warm is brighter than the reference, cold darker.`,
  map: ({ index }, butteraugli) =>
    `Where ${butteraugli ? 'Butteraugli sees differences' : 'VIF and ADM lost quality'} in frame ${index}, over the ` +
    'distorted picture.',
};

function image({ bytes, mimeType }: Preview): ExtraContent {
  return { type: 'image', mimeType, data: Buffer.from(bytes).toString('base64') };
}

function shownFrame(
  pair: TakenPair,
  { vmaf, metrics, ...told }: Pick<ShownFrame, 'vmaf' | 'metrics' | 'summary' | 'description' | 'files'>,
): ShownFrame {
  const { blockiness, blur, noise, banding, contrast_loss, brightness, difference } = pair.facts;
  return rounded({
    ...{ frame_index: pair.index, vmaf, png: told.files.distorted.path, ...told },
    facts: { blockiness, blur, noise, banding, contrast_loss },
    brightness,
    difference: { ...difference, gain: pair.gain },
    metrics,
    reference: sideOf(pair.reference),
    distorted: sideOf(pair.distorted),
  });
}

/** `Frame 12, at 0.48 s, has vmaf 38.40, 12.10 below the mean.` */
function moment({ index, distorted }: TakenPair, value: number, report: Report, metric: string): string {
  const mean = report.pooled_metrics[metric]?.mean;
  const below = mean === undefined ? 0 : mean - value;
  const away = below > 0 ? `${below.toFixed(2)} below` : `${(-below).toFixed(2)} above`;
  const at = distorted.time === null ? '' : `, at ${Number(distorted.time.toFixed(3))} s,`;
  return `Frame ${index}${at} has ${metric} ${value.toFixed(2)}${Math.abs(below) >= 0.01 ? `, ${away} the mean` : ''}.`;
}

function sideOf({ frame, time, color }: TakenSide): ShownFrame['reference'] {
  return {
    frame,
    seconds: time,
    matrix: color.matrix,
    range: color.range,
    assumed: color.assumed,
  };
}

function rounded<Document>(document: Document): Document {
  return JSON.parse(
    JSON.stringify(document, (_, value) => (typeof value === 'number' ? Number(value.toFixed(6)) : value)),
  );
}
