/**
 * @module mcp/tools/list-videos
 * `list_videos`: the allowed folders and the videos in them. Ours.
 */
import { extname, parse } from 'node:path';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../core/errors.js';
import { quotientOf } from '../../core/rational.js';
import type { SideFacts } from '../../index.js';
import type { ToolContext } from '../context.js';
import { checkFile, RAW_ENDING } from '../paths.js';
import { defineTool } from '../tool.js';
import type { FoundVideo } from '../video-list.js';
import { errorInParameters } from '../wording.js';

/** Most files to probe at a time, and most files whose facts are cached. */
const AT_ONCE = 4;
const MOST_REMEMBERED = 5000;

export const listVideosTool = defineTool({
  name: 'list_videos',
  title: 'List allowed folders and videos',
  description:
    'Lists the folders that the user allowed and the videos in them, newest first: codec, size, frame rate and length. ' +
    'Use it if you do not know the paths.',
  inputSchema: z.object({
    contains: z
      .string()
      .min(1)
      .max(200)
      .describe('Only videos with this text in name or location, ignoring case.')
      .optional(),
    limit: z.int().min(1).max(200).default(25).describe('Maximum number of videos.'),
    details: z.boolean().default(true).describe('Open each video for its codec, size, rate and length.'),
  }),
  outputSchema: z.object({
    folders: z.array(z.string()).describe('Allowed folders.'),
    advice: z.string().optional().describe('What to do if no folder, or the whole file system, is allowed.'),
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
    left_out: z.int().describe('Number of matching videos beyond the limit.'),
    complete: z.boolean().describe('false: not all files were searched.'),
  }),
  async handler({ contains, limit, details }, context) {
    const { findVideos } = await import('../video-list.js');
    const { signal, files } = context;
    const { allowed: folders } = files;
    const { found, complete } = await findVideos(folders, contains?.toLowerCase(), signal);
    const listed = found.slice(0, limit);
    const videos: (Facts & { readonly path: string; readonly bytes: number; readonly modified: string })[] =
      [];
    // Probing is cheap, so it does not wait for a turn in the pool.
    for (let i = 0; i < listed.length; i += AT_ONCE) {
      signal.throwIfAborted();
      context.progress({ done: i, total: listed.length, message: 'opening videos' });
      const some = listed.slice(i, i + AT_ONCE).map(async (one) => ({
        ...{ path: one.path, bytes: one.bytes, modified: one.modified.toISOString() },
        ...(details && (await knownFacts(one, context))),
      }));
      videos.push(...(await Promise.all(some)));
    }
    const left_out = Math.max(0, found.length - limit);
    return { document: { folders, advice: adviceOf(folders), videos, left_out, complete } };
  },
});

function adviceOf(folders: readonly string[]): string | undefined {
  if (folders.length === 0)
    return 'No folder is allowed: hosts may start the server in /, which is ignored. Start it with --allow DIR, or set ANYVMAF_MCP_ALLOW.';
  if (folders.every((folder) => parse(folder).root === folder))
    return 'The whole file system is allowed, but only part of it is searched. Start the server with --allow DIR, or pass paths.';
  return undefined;
}

type Facts = Partial<ReturnType<typeof known>> & { readonly note?: string };

/** Facts by path, size and modification time, least recently used first. */
const remembered = new Map<string, Facts>();

async function knownFacts(one: FoundVideo, context: ToolContext): Promise<Facts> {
  const key = `${one.path}\n${one.bytes}\n${one.modified.getTime()}`;
  const facts = remembered.get(key) ?? (await factsOf(one.path, context));
  remembered.delete(key);
  remembered.set(key, facts);
  const [oldest] = remembered.keys();
  if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  return facts;
}

async function factsOf(path: string, { files, signal }: ToolContext): Promise<Facts> {
  if (extname(path).toLowerCase() === RAW_ENDING)
    return { note: 'Raw YUV has no header: pass width, height, pixfmt and bitdepth.' };
  try {
    const [{ path: checked }, { describeVideo }] = [
      await checkFile(path, files),
      await import('../checked-api.js'),
    ];
    return known(await describeVideo(checked, { origin: files.origin, signal }));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AnyvmafError)) throw error;
    return { note: errorInParameters(error).message };
  }
}

function known({ container, codec, width, height, bitDepth, frameRate, frameCount, duration }: SideFacts) {
  const rate = quotientOf(frameRate);
  const seconds = duration ?? (rate && frameCount !== null ? frameCount / rate : undefined);
  return {
    ...{ container, codec, width, height, bit_depth: bitDepth },
    frame_rate: rate && Number(rate.toFixed(3)),
    frames: frameCount ?? undefined,
    seconds: seconds && Number(seconds.toFixed(3)),
  };
}
