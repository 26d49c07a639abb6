/**
 * @module mcp/tools/vmaf-score
 * `vmaf_score`: raw YUV or Y4M frames as stored, like the vmaf tool; `vmaf_score_encoded`: any two video files.
 */
import * as z from 'zod/v4';
import { scoreDocument } from '../scoring/documents.js';
import { encodedPair, pairingParameters, rawPair, scoringParameters } from '../scoring/parameters.js';
import { defineTool } from '../tool.js';

const loadScoring = () =>
  Promise.all([
    import('../scoring/options.js'),
    import('../scoring/run.js'),
    import('../scoring/result.js'),
  ] as const);

export const vmafScore = defineTool({
  name: 'vmaf_score',
  title: 'Score a raw video pair',
  description:
    'Scores a distorted raw YUV (or Y4M) video against its reference with VMAF: pooled scores, percentiles, worst ' +
    "frames and a link to every frame. Scores equal libvmaf's. For containers (MP4, MKV, WebM, ...), use " +
    'vmaf_score_encoded. Next: explain_score, describe_worst_frames.',
  inputSchema: z.object({
    ...rawPair,
    ...scoringParameters,
    allow_damaged: pairingParameters.allow_damaged,
  }),
  outputSchema: scoreDocument,
  async handler(input, context) {
    const [{ scoringCall }, { rawRequest }, { scorePair }] = await loadScoring();
    const call = scoringCall(input, { decoder: 'none', preflight: true });
    return scorePair(rawRequest(input), call, context);
  },
});

export const vmafScoreEncoded = defineTool({
  name: 'vmaf_score_encoded',
  title: 'Score two video files',
  description:
    'Scores a distorted video file (MP4, MKV, WebM, Y4M, ...) against its reference with VMAF. The distorted video is scaled ' +
    'to the reference, frames are paired by time, and preflight reports problems that would make the score wrong. Returns ' +
    'pooled scores, percentiles, worst frames and a link to every frame. Next: explain_score, describe_worst_frames; for ' +
    'several encodes of one source, compare_encodes.',
  inputSchema: z.object({
    ...encodedPair,
    ...scoringParameters,
    ...pairingParameters,
  }),
  outputSchema: scoreDocument.extend({
    reference_encoded: z.string().optional().describe('As given.'),
    distorted_encoded: z.string(),
  }),
  async handler(input, context) {
    const [{ scoringCall }, { pairRequest }, { scorePair }] = await loadScoring();
    const { reference_encoded: reference, distorted_encoded: distorted } = input;
    const call = scoringCall(input);
    const request = pairRequest({ reference, distorted }, 'reference_encoded', input.no_reference);
    const outcome = await scorePair(request, call, context);
    return {
      ...outcome,
      document: {
        ...outcome.document,
        reference_encoded: reference?.named,
        distorted_encoded: distorted.named,
      },
    };
  },
});
