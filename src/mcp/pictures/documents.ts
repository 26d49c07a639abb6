/**
 * @module mcp/pictures/documents
 * Parameters and result of describe_worst_frames.
 */
import * as z from 'zod/v4';
import { type CheckedArguments, inputPath } from '../paths.js';
import { backendKeys, findingDocument, resourceDocument, trustDocument } from '../scoring/documents.js';
import {
  backend,
  filters,
  model,
  optionalGeometry,
  pairingParameters,
  scoringParameters,
} from '../scoring/parameters.js';
import type { Given } from '../tool.js';
import { headKeys } from '../verdict.js';

const { frame_cnt, frame_skip_ref, frame_skip_dist } = scoringParameters;

/** Parameters of the reference MCP server first. */
export const worstFramesInput = z.object({
  ref: inputPath('Reference video: planar YUV, Y4M, or any file that a decoder here reads.'),
  dis: inputPath('Distorted video, in any of these formats.'),
  ...optionalGeometry,
  model,
  backend,
  metric: z
    .string()
    .min(1)
    .max(100)
    .describe('Metric to rank by instead of the model, such as ssimulacra2.')
    .optional(),
  n: z.int().min(1).max(32).default(5).describe('Maximum number of frames, worst first.'),
  min_distance: z
    .int()
    .min(1)
    .max(100_000)
    .describe('Minimum distance in frames. Default: half a second, less in a short video.')
    .optional(),
  images: z
    .enum(['all', 'distorted', 'none'])
    .default('none')
    .describe('Pictures in the answer; others are links. all: reference, distorted, difference and map.'),
  image_max_side: z
    .int()
    .min(64)
    .max(4096)
    .default(1024)
    .describe('Longest side of pictures in the answer; files have full size.'),
  images_kb: z
    .int()
    .min(50)
    .max(6000)
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
  seconds: z.number().nullable().describe("From the video's first frame; null if unknown."),
  matrix: z.string().describe('Colour matrix used to convert to RGB.'),
  range: z.string().describe('limited or full.'),
  assumed: z.array(z.string()).describe('Which of the two the video does not declare.'),
});

const file = z.object({
  path: z.string().describe('Full-size PNG, until the server ends.'),
  uri: z.string().describe('The same for resources/read, scaled down if it has more than 100 kB.'),
  width: z.int(),
  height: z.int(),
  content: z
    .int()
    .nullable()
    .describe('0-based index of its picture in the content of this answer; null if it has none.'),
});

const fact = z.object({
  value: z.number().describe('How much more of it the distorted frame has than the reference.'),
  unit: z.string(),
  normal: z.string().describe('Range of normal values.'),
  level: z.enum(['none', 'slight', 'clear', 'strong']),
  reference: z.number(),
  distorted: z.number(),
});

const shownFrame = z.object({
  frame_index: z.int().describe('0-based number of the pair, as frameNum in a report.'),
  vmaf: z.number().describe('Score of the frame by the model.'),
  png: z.string().describe('Path of the distorted frame as PNG.'),
  description: z
    .string()
    .describe('By a vision-language model; without one, the summary and how to install one.'),
  summary: z.string().describe('The measured facts in words.'),
  facts: z.object({
    blockiness: fact,
    blur: fact,
    noise: fact,
    banding: fact,
    contrast_loss: fact,
  }),
  brightness: z
    .object({ reference: z.number(), distorted: z.number() })
    .describe('Mean luma in 8-bit levels.'),
  difference: z.object({
    mean: z.number().describe('Mean absolute difference of luma in 8-bit levels.'),
    largest: z.number(),
    part: z.string().nullable().describe('The ninth of the picture with the most squared error.'),
    share: z.number().describe('Fraction of the squared error in it; 0.11 if spread evenly.'),
    gain: z.number().describe('Factor by which the difference picture is amplified.'),
  }),
  metrics: z.record(z.string(), z.number().nullable()).describe('Features and scores of the frame.'),
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
export const worstFramesDocument = z.object({
  ...headKeys,
  summary: z.string(),
  model_id: z
    .string()
    .nullable()
    .describe('The vision-language model that described the frames; null if none did.'),
  frames: z.array(shownFrame).describe('Worst first.'),
  hint: z.string().nullable().describe('How to get descriptions, if there are none.'),
  metric: z.string().describe('Metric that ranks the frames.'),
  mean: z.number().nullable().describe('Its mean over all frames.'),
  frame_count: z.int().describe('Frame pairs scored.'),
  min_distance: z.int().describe('Minimum distance between shown frames.'),
  ...backendKeys,
  trust: trustDocument,
  preflight: z.array(findingDocument).optional(),
  warnings: z.array(z.string()),
  full_report: resourceDocument.describe('The report with every frame, as JSON.'),
});

export type WorstFramesInput = CheckedArguments<z.output<typeof worstFramesInput>>;
export type WorstFramesDocument = Given<z.input<typeof worstFramesDocument>>;
export type ShownFrame = WorstFramesDocument['frames'][number];
