/**
 * @module mcp/tools/list-videos
 * `list_videos`: the allowed folders and the videos in them. Ours.
 */
import * as z from 'zod/v4';
import { defineTool } from '../tool.js';

export const listVideosTool = defineTool({
  name: 'list_videos',
  title: 'List allowed folders and videos',
  description:
    'Lists the folders that the user allowed and the videos in them, newest first: codec, size, frame rate and length. ' +
    'Use it when you do not know the paths.',
  inputSchema: z.object({
    contains: z
      .string()
      .min(1)
      .max(200)
      .describe('Only videos in whose name or place this text is, in any case.')
      .optional(),
    limit: z.int().min(1).max(200).default(25).describe('Videos to list at most.'),
    details: z.boolean().default(true).describe('Open each for its codec, size, rate and length.'),
  }),
  outputSchema: z.object({
    folders: z.array(z.string()).describe('Allowed folders.'),
    advice: z
      .string()
      .optional()
      .describe('What to do where no folder is allowed, or the whole file system.'),
    videos: z.array(
      z.object({
        path: z.string(),
        bytes: z.int(),
        modified: z.string().describe('ISO 8601.'),
        container: z.string().optional(),
        codec: z.string().optional(),
        width: z.int().optional(),
        height: z.int().optional(),
        bit_depth: z.int().optional(),
        frame_rate: z.number().optional().describe('Frames per second.'),
        frames: z.int().optional(),
        seconds: z.number().optional(),
        note: z.string().optional().describe('Why there are no details.'),
      }),
    ),
    left_out: z.int().describe('Videos that fit but exceed the limit.'),
    complete: z.boolean().describe('false: there are more files than are looked at.'),
  }),
  async handler(input, context) {
    const { listVideos } = await import('../video-list.js');
    return { document: await listVideos(input, context) };
  },
});
