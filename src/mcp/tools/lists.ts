/**
 * @module mcp/tools/lists
 * `list_videos`: the allowed folders and their videos; `list_live`: running measurements with a live server.
 */
import { extname, parse } from 'node:path';
import * as z from 'zod/v4';
import { TimeLimitError, withinSeconds } from '../../core/abort.js';
import { jsonOf } from '../../core/arguments.js';
import { AnyvmafError } from '../../core/errors.js';
import { quotientOf } from '../../core/numbers.js';
import { counted } from '../../core/printable.js';
import type { SideFacts } from '../../index.js';
import { type FoundVideo, findVideos } from '../files.js';
import { readRunning } from '../live/running.js';
import { checkFile, RAW_ENDING } from '../paths.js';
import { each, rows, text, textOrNull, texts, value, whole } from '../schemas.js';
import { defineTool, READ_ONLY, type ToolContext } from '../tool.js';
import { errorInParameters } from '../wording.js';

/** Most files to probe at a time, and to cache. */
const AT_ONCE = 4;
const MOST_CACHED = 5000;

export const listVideosTool = defineTool({
  name: 'list_videos',
  title: 'List allowed folders and videos',
  description:
    'Lists the folders that the user allowed and the videos in them, newest first: codec, size, frame rate and length. ' +
    'Use it if you do not know the paths.',
  inputSchema: z.object({
    contains: text(200).describe('Only videos with this text in name or location, ignoring case.').optional(),
    limit: whole(1, 200).default(25).describe('Maximum number of videos.'),
    details: z.boolean().default(true).describe('Open each video for its codec, size, rate and length.'),
  }),
  outputSchema: z.object({
    folders: texts.describe('Allowed folders.'),
    advice: z.string().optional().describe('What to do if no folder, or the whole file system, is allowed.'),
    videos: rows({
      path: z.string(),
      bytes: z.int(),
      modified: z.string().describe('ISO 8601.'),
      ...each(z.string().optional(), 'container', 'codec'),
      ...each(z.int().optional(), 'width', 'height', 'bit_depth'),
      frame_rate: z.number().optional().describe('Frames per second.'),
      frames: z.int().optional(),
      seconds: z.number().optional(),
      note: z.string().optional().describe('Why there are no details.'),
    }),
    left_out: z.int().describe('Number of matching videos beyond the limit.'),
    complete: z.boolean().describe('false: not all files were searched.'),
  }),
  async handler({ contains, limit, details }, context) {
    const { signal, files } = context;
    const { allowed: folders } = files;
    const { found, complete } = await findVideos(folders, contains?.toLowerCase(), signal);
    const listed = found.slice(0, limit);
    const entryOf = async (video: FoundVideo) => ({
      ...{ path: video.path, bytes: video.bytes, modified: video.modified.toISOString() },
      ...(details && (await cachedFacts(video, context))),
    });
    const videos: Awaited<ReturnType<typeof entryOf>>[] = [];
    // Probing is cheap and does not wait for the pool.
    for (let i = 0; i < listed.length; i += AT_ONCE) {
      signal.throwIfAborted();
      const message = `opened ${i} of ${counted(listed.length, 'video')}`;
      context.progress({ done: i, total: listed.length, message, isSteps: true });
      videos.push(...(await Promise.all(listed.slice(i, i + AT_ONCE).map(entryOf))));
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

type Facts = Partial<ReturnType<typeof detailsOf>> & { readonly note?: string };

/** Facts by path, size and modification time, least recently used first. */
const cache = new Map<string, Facts>();

async function cachedFacts({ path, bytes, modified }: FoundVideo, context: ToolContext): Promise<Facts> {
  const key = `${path}\n${bytes}\n${modified.getTime()}`;
  const facts = cache.get(key) ?? (await factsOf(path, context));
  cache.delete(key);
  // What prevented the reading may pass: a permission, a missing ffmpeg.
  if (facts.note === undefined) cache.set(key, facts);
  const [oldest] = cache.keys();
  if (cache.size > MOST_CACHED && oldest !== undefined) cache.delete(oldest);
  return facts;
}

async function factsOf(path: string, { files, signal }: ToolContext): Promise<Facts> {
  if (extname(path).toLowerCase() === RAW_ENDING)
    return { note: 'Raw YUV has no header: pass width, height, pixfmt and bitdepth.' };
  try {
    const { path: checked } = await checkFile(path, files);
    const { describeVideo } = await import('../checked-api.js');
    return detailsOf(await describeVideo(checked, { origin: files.origin, signal }));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AnyvmafError)) throw error;
    return { note: errorInParameters(error).message };
  }
}

function detailsOf({
  container,
  codec,
  width,
  height,
  bitDepth,
  frameRate,
  frameCount,
  duration,
}: SideFacts) {
  const rate = quotientOf(frameRate);
  const seconds = duration ?? (rate && frameCount !== null ? frameCount / rate : undefined);
  return {
    ...{ container, codec, width, height, bit_depth: bitDepth },
    frame_rate: rate && Number(rate.toFixed(3)),
    frames: frameCount ?? undefined,
    seconds: seconds && Number(seconds.toFixed(3)),
  };
}

/** Seconds for a live server to answer. */
const ANSWER_TIME = 1;
/** HTTP on this machine, or a Unix socket. */
const ADDRESS = /^(?:http:\/\/127\.0\.0\.1:\d{1,5}\/[\w./-]{1,101}|\/.{1,255})$/;

const statusSchema = z.object({
  model: textOrNull,
  frames: z.object({ measured: z.number(), total: value }),
  seconds_left: value,
});

const measurement = z.object({
  name: z.string().max(64),
  state: z.string().max(20),
  reference: z.string().max(255).optional(),
  distorted: z.string().max(255).optional(),
});

const recordSchema = z.object({
  started: z.iso.datetime(),
  addresses: z.array(z.string().regex(ADDRESS)),
  measurements: z.array(measurement),
});

export const listLiveTool = defineTool({
  name: 'list_live',
  title: 'List running measurements',
  description:
    "Lists this user's running measurements that have a live server: their progress, and the addresses to query or " +
    'steer them.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    summary: z.string(),
    sessions: rows({
      pid: z.number(),
      started: z.string(),
      addresses: texts.describe('HTTP (event stream; Streamable HTTP at /mcp) or Unix sockets.'),
      mcp: z.string().optional().describe('URL for MCP clients.'),
      measurements: z.array(measurement.extend({ status: statusSchema.optional() })),
    }),
  }),
  annotations: { ...READ_ONLY, idempotentHint: false },
  async handler(_, { signal }) {
    const records = (await readRunning()).flatMap(({ pid, text }) => {
      const record = recordSchema.safeParse(jsonOf(text));
      return record.success ? [{ pid, ...record.data }] : [];
    });
    const sessions = await Promise.all(
      records.map(async ({ measurements, ...record }) => {
        const http = record.addresses.find((address) => address.startsWith('http'));
        // Answers at the other address go to all event streams.
        const mcp = http && new URL('/mcp', http).href;
        const withStatus = measurements.map(async (measurement) => ({
          ...measurement,
          status: mcp === undefined ? undefined : await statusOf(mcp, measurement.name, signal),
        }));
        return { ...record, mcp, measurements: await Promise.all(withStatus) };
      }),
    );
    const summary =
      sessions.length === 0
        ? "No running measurement of this user has a live server; start one with 'anyvmaf REFERENCE DISTORTED --live sse:0'."
        : `${counted(sessions.length, 'live server')}: ` +
          'connect an MCP client to mcp, then call vmaf.status, vmaf.score or vmaf.watch there.';
    return { document: { summary, sessions } };
  },
});

/** Queries a live server; `undefined` if it does not answer. */
async function statusOf(address: string, name: string, signal: AbortSignal) {
  const params = { name: 'vmaf.status', arguments: { measurement: name } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const late = new TimeLimitError(`${address} did not answer`);
  const answer = await withinSeconds(ANSWER_TIME, late, signal, async (stopped): Promise<unknown> => {
    const response = await fetch(address, { method: 'POST', body, redirect: 'error', signal: stopped });
    return response.json();
  }).catch(() => undefined);
  const result = z.object({ result: z.object({ structuredContent: statusSchema }) }).safeParse(answer);
  return result.success ? result.data.result.structuredContent : undefined;
}
