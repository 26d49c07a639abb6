/**
 * @module mcp/tools/explain-score
 * `explain_score`: which features, scales and moments drove a score. Ours.
 */
import * as z from 'zod/v4';
import { modelString } from '../paths.js';
import { findingDocument, trustDocument } from '../scoring/documents.js';
import {
  anyPair,
  DEFAULT_MODEL,
  optionalGeometry,
  pairingParameters,
  scoringParameters,
} from '../scoring/parameters.js';
import { defineTool } from '../tool.js';
import { headKeys } from '../verdict.js';

const { frame_cnt, frame_skip_ref, frame_skip_dist, subsample } = scoringParameters;

const points = z.number().describe('Score points lost, averaged over the frames; negative: gained.');

const USUAL_SEGMENTS = 5;

export const explainScoreTool = defineTool({
  name: 'explain_score',
  title: 'Explain a score',
  description:
    'Explains a VMAF score, in points below a perfect copy: by feature (adding up to the loss), by scale (finest first), ' +
    'and over time (costliest first). adm2 stands for lost detail (blur, denoising, scaling), vif at scales 2 and 3 for ' +
    'altered structures (coarse quantisation, blocks). Next: describe_worst_frames.',
  inputSchema: z.object({
    ...anyPair,
    ...optionalGeometry,
    model: modelString('One model: version=NAME or path=FILE.', DEFAULT_MODEL),
    frame_cnt,
    frame_skip_ref,
    frame_skip_dist,
    subsample,
    ...pairingParameters,
    segments: z
      .int()
      .min(1)
      .max(50)
      .default(USUAL_SEGMENTS)
      .describe('Maximum segments and frames to list, costliest first.'),
  }),
  outputSchema: z.object({
    ...headKeys,
    explanation: z.array(z.string()).describe('The result in sentences.'),
    model: z.string(),
    score: z.number().describe('Mean over the explained frames.'),
    ceiling: z.number().describe('Mean score of a perfect copy with the same motion.'),
    loss: z.number().describe('ceiling minus score; the sum of the points of all features.'),
    frames: z.int().describe('Frames scored.'),
    frames_explained: z.int().describe('All up to 2000 frames, else 2000 evenly spread ones.'),
    features: z
      .array(
        z.object({
          feature: z.string(),
          meaning: z.string(),
          points,
          share: z.number().nullable().describe('Fraction of the loss; null if nothing is lost.'),
          mean_value: z
            .number()
            .describe('In a perfect copy 1, to about a millionth: features are computed in fixed point.'),
          lowest_value: z.number(),
        }),
      )
      .describe('Costliest first.'),
    scales: z
      .array(
        z.object({ scale: z.int(), meaning: z.string(), points, adm_points: points, vif_points: points }),
      )
      .describe(
        'The same points by scale; those of adm2 are split by the shortfall of its sums at each scale.',
      ),
    not_blamed: z
      .array(z.object({ feature: z.string(), mean_value: z.number() }))
      .describe('Features that describe the reference, not the damage (mainly motion); kept as measured.'),
    segments: z.array(
      z.object({
        first_frame: z.int(),
        last_frame: z.int(),
        start_seconds: z.number().nullable(),
        score: z.number(),
        loss: z.number(),
        share_of_loss: z.number().nullable(),
        main_feature: z.string().describe('The costliest feature in it.'),
      }),
    ),
    worst_frames: z.array(
      z.object({
        frame: z.int(),
        score: z.number(),
        ceiling: z.number(),
        points: z.record(z.string(), z.number()),
      }),
    ),
    trust: trustDocument,
    preflight: z.array(findingDocument),
    mismatched_model_warning: z.string().optional(),
  }),
  async handler(input, context) {
    const { explainScore } = await import('../scoring/explanation.js');
    return {
      document: await explainScore(input, context),
      spare: ['worst_frames', 'features.[].lowest_value', 'scales.[].meaning', 'mismatched_model_warning'],
      long: input.segments > USUAL_SEGMENTS,
    };
  },
});
