/**
 * @module mcp/tools/vmaf-score-encoded
 * `vmaf_score_encoded`: scores any two video files; frames go from the decoder to the core, never to a disk.
 */
import * as z from 'zod/v4';
import { scoreDocument } from '../scoring/documents.js';
import { encodedPair, pairingParameters, scoringParameters } from '../scoring/parameters.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const vmafScoreEncoded = defineTool({
  name: 'vmaf_score_encoded',
  title: 'Score two video files',
  description:
    'Scores a distorted video file (MP4, MKV, WebM, Y4M, ...) against its reference with VMAF. The distorted video is scaled ' +
    'to the reference, frames are paired by their times, and preflight says what would make the score wrong. Gives pooled ' +
    'scores, percentiles, worst frames and a link to every frame. Next: explain_score, describe_worst_frames; for several ' +
    'encodes of one source compare_encodes.',
  inputSchema: z.object({
    ...encodedPair,
    ...scoringParameters,
    ...pairingParameters,
  }),
  outputSchema: scoreDocument.extend({
    reference_encoded: z.string().optional().describe('As it was given.'),
    distorted_encoded: z.string(),
  }),
  annotations: READ_ONLY,
  async handler(input, context) {
    const [{ scoringCall }, { pairRequest }, { runScore }, { scoreOutcome }] = await Promise.all([
      import('../scoring/options.js'),
      import('../scoring/request.js'),
      import('../scoring/run.js'),
      import('../scoring/result.js'),
    ]);
    const { reference_encoded: reference, distorted_encoded: distorted } = input;
    const call = scoringCall(input);
    const request = pairRequest({ reference, distorted }, 'reference_encoded', input.no_reference);
    const report = await runScore('vmaf_score_encoded', request, call, context);
    const outcome = await scoreOutcome(report, call, context, {
      ...{ request, options: call.options, origin: context.files.origin },
    });
    return {
      ...outcome,
      document: {
        ...outcome.document,
        ...(reference && { reference_encoded: reference.named }),
        distorted_encoded: distorted.named,
      },
    };
  },
});
