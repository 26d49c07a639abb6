/**
 * @module mcp/tools/vmaf-score
 * `vmaf_score`: scores a pair of raw YUV or Y4M files as the vmaf tool does, frame by frame as stored.
 */
import * as z from 'zod/v4';
import { scoreDocument } from '../scoring/documents.js';
import { pairingParameters, rawPair, scoringParameters } from '../scoring/parameters.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const vmafScore = defineTool({
  name: 'vmaf_score',
  title: 'Score a raw video pair',
  description:
    'Scores a distorted raw YUV (or Y4M) video against its reference with VMAF: pooled scores, percentiles, worst ' +
    "frames and a link to every frame. Numbers equal libvmaf's. Containers (MP4, MKV, WebM, ...) go to " +
    'vmaf_score_encoded. Next: explain_score, describe_worst_frames.',
  inputSchema: z.object({
    ...rawPair,
    ...scoringParameters,
    allow_damaged: pairingParameters.allow_damaged,
  }),
  outputSchema: scoreDocument,
  annotations: READ_ONLY,
  async handler(input, context) {
    const [{ scoringCall }, { rawRequest }, { runScore }, { scoreOutcome }] = await Promise.all([
      import('../scoring/options.js'),
      import('../scoring/request.js'),
      import('../scoring/run.js'),
      import('../scoring/result.js'),
    ]);
    const call = scoringCall(input, { decoder: 'none', preflight: true });
    const request = rawRequest(input);
    const report = await runScore('vmaf_score', request, call, context);
    const pictured = { request, options: call.options, origin: context.files.origin };
    return scoreOutcome(report, call, context, pictured);
  },
});
