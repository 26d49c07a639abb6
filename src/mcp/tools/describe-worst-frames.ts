/**
 * @module mcp/tools/describe-worst-frames
 * `describe_worst_frames`: scores a pair, then shows, measures and describes its worst moments.
 */
import * as z from 'zod/v4';
import { unlessAborted } from '../../core/abort.js';
import { internalError } from '../../core/errors.js';
import type { ExtractOptions, Report } from '../../index.js';
import { frameTime, pairRate } from '../../report/facts.js';
import { extractorsFor, isWorseHigh, metricIn, notMeasured } from '../../report/limits.js';
import { mapsOfMetric } from '../../report/quality-metrics.js';
import { type Ranking, ranking, worstFrames } from '../../report/ranking.js';
import { trustOf } from '../../report/trust.js';
import type { Measuring } from '../call-threads.js';
import type { PictureJob, PictureName, TakenPair, TakenSide } from '../checked-api.js';
import { DESCRIBED_SIDE, type Describer, type NoDescriber, reasonOf, sharedDescriber } from '../describer.js';
import { inputPath } from '../paths.js';
import { each, text, textOrNull, texts, value, whole, wholeOrNull } from '../schemas.js';
import {
  backendKeys,
  backendUsed,
  findingDocument,
  headKeys,
  headOf,
  mismatchedModelWarning,
  nextWithFix,
  publishReport,
  resourceDocument,
  trustDocument,
} from '../scoring/answers.js';
import {
  anyRequest,
  backend,
  filters,
  model,
  optionalGeometry,
  pairingParameters,
  scoringParameters,
  tableOptions,
} from '../scoring/parameters.js';
import { runScore } from '../scoring/run.js';
import {
  defineTool,
  type ExtraContent,
  type Given,
  type InputOf,
  READ_ONLY,
  type ToolContext,
  type ToolOutcome,
} from '../tool.js';

const { frame_cnt, frame_skip_ref, frame_skip_dist } = scoringParameters;

/** Parameters of the reference MCP server first. */
const worstFramesInput = z.object({
  ref: inputPath('Reference video: planar YUV, Y4M, or any file that a decoder here reads.'),
  dis: inputPath('Distorted video, in any of these formats.'),
  ...optionalGeometry,
  model,
  backend,
  metric: text(100).describe('Metric to rank by instead of the model, such as ssimulacra2.').optional(),
  n: whole(1, 32).default(5).describe('Maximum number of frames, worst first.'),
  min_distance: whole(1, 100_000)
    .describe('Minimum distance in frames. Default: half a second, less in a short video.')
    .optional(),
  images: z
    .enum(['all', 'distorted', 'none'])
    .default('none')
    .describe('Pictures in the answer; others are links. all: reference, distorted, difference and map.'),
  image_max_side: whole(64, 4096)
    .default(1024)
    .describe('Longest side of pictures in the answer; files have full size.'),
  images_kb: whole(50, 6000)
    .default(650)
    .describe('Maximum kilobytes of pictures in the answer (100 each); they are scaled down to fit.'),
  describe: z
    .boolean()
    .default(true)
    .describe('Describe frames with an installed vision-language model; takes minutes to load.'),
  frame_cnt,
  frame_skip_ref,
  frame_skip_dist,
  offset: pairingParameters.offset,
  scale: pairingParameters.scale,
  filters,
});

const side = z.object({
  frame: z.int().describe('0-based number in its own video.'),
  seconds: value.describe("From the video's first frame; null if unknown."),
  matrix: z.string().describe('Colour matrix used to convert to RGB.'),
  range: z.string().describe('limited or full.'),
  assumed: texts.describe('Which of the two the video does not declare.'),
});

const file = z.object({
  path: z.string().describe('Full-size PNG, until the server ends.'),
  uri: z.string().describe('The same for resources/read, scaled down if it has more than 100 kB.'),
  ...each(z.int(), 'width', 'height'),
  content: wholeOrNull.describe(
    '0-based index of its picture in the content of this answer; null if it has none.',
  ),
});

const fact = z.object({
  value: z.number().describe('How much more of it the distorted frame has than the reference.'),
  unit: z.string(),
  normal: z.string().describe('Range of normal values.'),
  level: z.enum(['none', 'slight', 'clear', 'strong']),
  ...each(z.number(), 'reference', 'distorted'),
});

const frameDocument = z.object({
  frame_index: z.int().describe('0-based number of the pair, as frameNum in a report.'),
  vmaf: z.number().describe('Score of the frame by the model.'),
  png: z.string().describe('Path of the distorted frame as PNG.'),
  description: z
    .string()
    .describe('By a vision-language model; without one, the summary and how to install one.'),
  summary: z.string().describe('The measured facts in words.'),
  facts: z.object({ blockiness: fact, blur: fact, noise: fact, banding: fact, contrast_loss: fact }),
  brightness: z
    .object({ reference: z.number(), distorted: z.number() })
    .describe('Mean luma in 8-bit levels.'),
  difference: z.object({
    mean: z.number().describe('Mean absolute difference of luma in 8-bit levels.'),
    largest: z.number(),
    part: textOrNull.describe('The ninth of the picture with the most squared error.'),
    share: z.number().describe('Fraction of the squared error in it; 0.11 if spread evenly.'),
    gain: z.number().describe('Factor by which the difference picture is amplified.'),
  }),
  metrics: z.record(z.string(), value).describe('Features and scores of the frame.'),
  reference: side,
  distorted: side,
  files: z.object({
    reference: file,
    distorted: file,
    difference: file,
    map: file.describe('The distorted frame coloured where VIF and ADM lost quality, with a legend.'),
  }),
});

/** Keys of the reference MCP server first. */
const worstFramesDocument = z.object({
  ...headKeys,
  summary: z.string(),
  model_id: textOrNull.describe('The vision-language model that described the frames; null if none did.'),
  frames: z.array(frameDocument).describe('Worst first.'),
  hint: textOrNull.describe('How to get descriptions, if there are none.'),
  metric: z.string().describe('Metric that ranks the frames.'),
  mean: value.describe('Its mean over all frames.'),
  frame_count: z.int().describe('Frame pairs scored.'),
  min_distance: z.int().describe('Minimum distance between shown frames.'),
  ...backendKeys,
  trust: trustDocument,
  preflight: z.array(findingDocument).optional(),
  warnings: texts,
  full_report: resourceDocument.describe('The report with every frame, as JSON.'),
});

export const describeWorstFramesTool = defineTool({
  name: 'describe_worst_frames',
  title: 'Show and describe the worst frames',
  description:
    'Shows the worst moments of any pair of videos: pictures (reference, distorted, amplified difference, quality ' +
    'map), measured facts (blockiness, blur, noise, banding, contrast loss) and a description. Look at the pictures before ' +
    'you trust the description.',
  inputSchema: worstFramesInput,
  outputSchema: worstFramesDocument,
  // Downloads the describing model once.
  annotations: { ...READ_ONLY, openWorldHint: true },
  handler: (input, context) => showWorstFrames(input, context),
});

export type WorstFramesInput = InputOf<typeof worstFramesInput>;
export type WorstFramesDocument = Given<z.input<typeof worstFramesDocument>>;
export type ShownFrame = WorstFramesDocument['frames'][number];

const PICTURES: readonly PictureName[] = ['reference', 'distorted', 'difference', 'map'];
/** Most bytes of a picture in an answer or behind a link. */
const PICTURE_BYTES = 100_000;
const BASE64 = 4 / 3;
/** Frames of half a second if the rate is unknown. */
const USUAL_HALF_SECOND = 12;

/**
 * @param describerOf replaced in tests
 * @throws {AnyvmafError} those of `score` and `extractFrames`
 */
export async function showWorstFrames(
  input: WorstFramesInput,
  context: ToolContext,
  describerOf = sharedDescriber,
): Promise<ToolOutcome<WorstFramesDocument>> {
  const request = anyRequest({ ...input, reference: input.ref, distorted: input.dis });
  const options: ExtractOptions = tableOptions(input);
  const steps = stepsOf(context, input.n);
  const report = await runScore(request, scoringOf(input, options), steps.scoring);
  const { score, metric, distance, worst } = pickWorst(report, input);
  const describer = await findModel(input, describerOf, steps, context);
  // Do not search again for the offset that scoring found.
  const offset = report.pairing?.frames.offset;
  const { origin } = context.files;
  const frames = worst.map(({ frameNum }) => frameNum);
  const paired = { ...options, offset: offset ?? options.offset, origin };
  const maps = mapsOfMetric(report, metric);
  const job = pictureJob(input, { request, frames, maps, options: paired }, describer);
  const taken = await context.pool.run(1, ({ api }) => take(job, steps, context, api));
  const shown: ShownFrame[] = [];
  const content: ExtraContent[] = [];
  let summary = '';
  for (const { frameNum, value } of worst) {
    const pair = taken.get(frameNum);
    if (!pair) throw internalError(`The pictures of frame ${frameNum} were not made.`);
    const { metrics = {} } = report.frames.find((frame) => frame.frameNum === frameNum) ?? {};
    const vmaf = metrics[score] ?? Number.NaN;
    const description = await describe(pair, vmaf, describer, steps, context);
    const files = await publish(pair, job, shownPictures(input), content, context);
    const when = moment(pair, value, report, metric);
    summary ||= when;
    const words = { summary: `${when} ${pair.facts.summary}`, description };
    shown.push(shownFrame(pair, { vmaf, metrics, ...words, files }));
  }
  const pictured = { request, options, origin };
  const { uri, path } = await publishReport(report, 'legacy', context.resources, pictured);
  const trust = trustOf(report);
  // If the answer has only links, the next call gets the pictures.
  const all = input.images === 'none' ? context.again({ images: 'all' }) : undefined;
  return {
    document: {
      ...headOf({ trust, next: nextWithFix(context, trust.fix) ?? all }),
      summary,
      model_id: describer.modelId,
      frames: shown,
      hint: 'hint' in describer ? describer.hint : null,
      metric,
      mean: report.pooled_metrics[metric] ? rounded(report.pooled_metrics[metric].mean) : null,
      ...{ min_distance: distance, frame_count: report.frames.length },
      ...{ backend_requested: input.backend, backend_used: backendUsed(report) },
      mismatched_model_warning: mismatchedModelWarning(report),
      ...{ trust, preflight: report.preflight, warnings: report.warnings },
      full_report: { uri, path },
    },
    content,
    spare: SPARE,
    long: worst.length > USUAL_FRAMES,
  };
}

const USUAL_FRAMES = 5;

/** The score; includes a metric that no model needs. */
function scoringOf({ model, backend, metric }: WorstFramesInput, options: ExtractOptions) {
  const features = extractorsFor(metric === undefined ? [] : [metric], []);
  return { options: { ...options, models: [model.text], backend, features }, weight: null };
}

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

/** Loading a model can take minutes, for which a cancelled call does not wait. */
async function findModel(
  { describe }: WorstFramesInput,
  describerOf: typeof sharedDescriber,
  steps: Steps,
  { pool, signal }: ToolContext,
): Promise<Describer | NoDescriber> {
  steps.next('loading a description model');
  if (!describe) return { modelId: null, hint: 'describe is false' };
  return pool.run(1, () => unlessAborted(signal, describerOf(steps.more)));
}

function pickWorst(report: Report, { n, min_distance: least, metric: wanted }: WorstFramesInput) {
  const score = ranking(report);
  if (!score) throw internalError('The model gave no score to rank frames by.');
  const metric = wanted === undefined ? score.metric : metricIn(report, wanted);
  if (metric === undefined || !report.metrics.includes(metric)) throw notMeasured(wanted ?? '', report);
  const by: Ranking = { metric, worse: isWorseHigh(report, metric) ? 'high' : 'low' };
  const rate = pairRate(report);
  const half = rate === undefined ? USUAL_HALF_SECOND : Math.round(rate / 2);
  const fitting = Math.max(1, Math.floor(report.frames.length / n));
  const distance = least ?? Math.max(1, Math.min(half, fitting));
  return { score: score.metric, metric, distance, worst: worstFrames(report, by, n, distance) };
}

function shownPictures({ images }: WorstFramesInput): readonly PictureName[] {
  return images === 'all' ? PICTURES : images === 'distorted' ? ['distorted'] : [];
}

/** A picture job whose previews fit into one answer. */
function pictureJob(
  input: WorstFramesInput,
  job: Omit<PictureJob, 'previews' | 'plainSide'>,
  { modelId }: Describer | NoDescriber,
): PictureJob {
  const count = shownPictures(input).length * Math.max(1, job.frames.length);
  const share = Math.floor((1000 * input.images_kb) / BASE64 / count) - 2;
  return {
    ...job,
    previews: { names: PICTURES, maxSide: input.image_max_side, maxBytes: Math.min(PICTURE_BYTES, share) },
    plainSide: modelId === null ? undefined : DESCRIBED_SIDE,
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

type Steps = ReturnType<typeof stepsOf>;

/** Progress of the steps after scoring: one for the describing model, two for each frame (taken, described). */
function stepsOf(context: ToolContext, frames: number) {
  const after = 1 + 2 * frames;
  let [scored, taken, part] = [0, 0, 0];
  const report = (message: string) =>
    context.progress({ done: scored + taken - 1 + part, total: scored + after, message });
  const progress: ToolContext['progress'] = ({ total, ...rest }) => {
    scored = Math.max(scored, rest.done);
    context.progress({ ...rest, total: total === null ? null : total + after });
  };
  return {
    /** The context for scoring; its total includes the steps that follow. */
    scoring: { ...context, progress },
    next(message: string): void {
      [taken, part] = [taken + 1, 0];
      report(message);
    },
    /** Advances within the current step. */
    more(message: string): void {
      part += (1 - part) / 4;
      report(message);
    },
  };
}

async function describe(
  { index, facts, plain }: TakenPair,
  vmaf: number,
  describer: Describer | NoDescriber,
  steps: Steps,
  context: ToolContext,
): Promise<string> {
  if (describer.modelId === null) return `${facts.summary} (VLM unavailable: ${describer.hint})`;
  if (!plain) throw internalError(`Frame ${index} has no picture to describe.`);
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
  { maps: { butteraugli } }: PictureJob,
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
            ...{ ...file, mimeType: preview.mimeType, data: preview.bytes },
            name: `frame_${number}_${name}_small.${preview.mimeType === 'image/png' ? 'png' : 'jpg'}`,
          });
    const isShown = shown.includes(name);
    // Its index is the new length: the JSON document comes first in the content.
    const place = isShown
      ? content.push({
          ...{ type: 'image', mimeType: preview.mimeType },
          data: Buffer.from(preview.bytes).toString('base64'),
        })
      : null;
    if (!isShown && name === 'distorted') content.push(small.link);
    return { path, uri: small.uri, width, height, content: place };
  };
  const files: Partial<ShownFrame['files']> = {};
  for (const name of PICTURES) Object.assign(files, { [name]: await of(name) });
  return files as ShownFrame['files'];
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
function moment({ index }: TakenPair, value: number, report: Report, metric: string): string {
  const mean = report.pooled_metrics[metric]?.mean;
  const below = mean === undefined ? 0 : mean - value;
  const away = below > 0 ? `${below.toFixed(2)} below` : `${(-below).toFixed(2)} above`;
  const time = frameTime(report, index);
  const at = time === undefined ? '' : `, at ${Number(time.toFixed(3))} s,`;
  return `Frame ${index}${at} has ${metric} ${value.toFixed(2)}${Math.abs(below) >= 0.01 ? `, ${away} the mean` : ''}.`;
}

function sideOf({ frame, time, color: { matrix, range, assumed } }: TakenSide): ShownFrame['reference'] {
  return { frame, seconds: time, matrix, range, assumed };
}

function rounded<Document>(document: Document): Document {
  return JSON.parse(
    JSON.stringify(document, (_, value) => (typeof value === 'number' ? Number(value.toFixed(6)) : value)),
  );
}
