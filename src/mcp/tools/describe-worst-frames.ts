/**
 * @module mcp/tools/describe-worst-frames
 * `describe_worst_frames`: shows the worst moments of a video, measures their faults and describes them.
 */
import { worstFramesDocument, worstFramesInput } from '../pictures/documents.js';
import { defineTool, READ_ONLY } from '../tool.js';

export const describeWorstFramesTool = defineTool({
  name: 'describe_worst_frames',
  title: 'Show and describe the worst frames',
  description:
    'Shows the worst moments of any pair of videos: pictures (reference, distorted, amplified difference, quality ' +
    'map), measured facts (blockiness, blur, noise, banding, contrast loss) and a description. Look at the pictures before ' +
    'you trust the description.',
  inputSchema: worstFramesInput,
  outputSchema: worstFramesDocument,
  // A describing model that is not cached yet is downloaded from the hub.
  annotations: { ...READ_ONLY, openWorldHint: true },
  handler: async (input, context) => (await import('../pictures/worst.js')).showWorstFrames(input, context),
});
