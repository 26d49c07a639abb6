/**
 * @module mcp/live/compute
 * `compute_vmaf`: scores a pair of files beside the running measurement, in one worker.
 */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { TimeLimitError, unlessAborted, withinSeconds } from '../../core/abort.js';
import { AnyvmafError, usageError } from '../../core/errors.js';
import type { ChromaFormat, RawVideoFormat } from '../../index.js';
import type { Hub } from './hub.js';
import { type Arguments, type LiveContext, type LiveTool, numberOf, textOf } from './tool.js';

const DEPTHS = [8, 9, 10, 11, 12, 13, 14, 15, 16] as const;
const LAYOUTS = ['420', '422', '444', '400'] as const;
const DEFAULT_MODEL = 'vmaf_v0.6.1';

const MAX_SECONDS = 600;

const HOW_TO_OPEN = 'start the server with --allow DIR, or the option folders of the API, to allow one';

/** Hubs that are scoring a pair: one at a time each, since the measurement comes first. */
const scoring = new WeakSet<Hub>();

export const COMPUTE_VMAF: LiveTool = {
  name: 'compute_vmaf',
  title: 'Score a pair of files',
  description:
    'Scores a pair of video files beside the running measurement: raw YUV with its geometry, Y4M, or any file that a ' +
    'decoder on this machine reads. Files must be in an allowed folder.',
  parameters: {
    reference_path: { type: 'string', description: 'Path of the reference.', maxLength: 4096 },
    distorted_path: { type: 'string', description: 'Path of the distorted video.', maxLength: 4096 },
    width: {
      type: 'integer',
      description: 'Width of raw YUV; omit for other files.',
      minimum: 1,
      maximum: 16384,
    },
    height: {
      type: 'integer',
      description: 'Height of raw YUV; omit for other files.',
      minimum: 1,
      maximum: 16384,
    },
    bitdepth: { type: 'integer', description: 'Bits per sample of raw YUV. Default 8.', enum: DEPTHS },
    pixel_format: {
      type: 'string',
      description: 'Chroma subsampling of raw YUV. Default 420.',
      enum: LAYOUTS,
    },
    model_version: { type: 'string', description: `Model. Default ${DEFAULT_MODEL}.` },
  },
  required: ['reference_path', 'distorted_path'],
  async call(args, hub, context) {
    const raw = rawFormat(args);
    const { folders } = hub.settings;
    if (folders.length === 0) {
      throw usageError(`compute_vmaf: no folder is allowed; ${HOW_TO_OPEN}.`);
    }
    if (scoring.has(hub))
      throw new AnyvmafError('resource', 'busy: another pair is being scored; try again later.');
    scoring.add(hub);
    try {
      // Do not delay a closing server, whose connections do not wait long.
      return await unlessAborted(context.signal, compute(args, raw, hub.settings, context));
    } catch (error) {
      if (!(error instanceof AnyvmafError)) throw error;
      throw new AnyvmafError(error.code, `compute_vmaf: ${error.message}`);
    } finally {
      scoring.delete(hub);
    }
  },
};

async function compute(
  args: Arguments,
  raw: RawVideoFormat | undefined,
  settings: Hub['settings'],
  { signal, progress }: LiveContext,
) {
  // Loaded with the first pair: other tools need none of it.
  const [{ AllowedPaths }, { checkFile, checkModelString }, { score }] = await Promise.all([
    import('../../files/allowed-paths.js'),
    import('../paths.js'),
    import('../checked-api.js'),
  ]);
  const named = [textOf(args, 'reference_path') ?? '', textOf(args, 'distorted_path') ?? ''] as const;
  const folders = await Promise.all(settings.folders.map(realName));
  const files = new AllowedPaths(folders, process.cwd(), HOW_TO_OPEN);
  const [reference, distorted] = [await checkFile(named[0], files), await checkFile(named[1], files)];
  const model = textOf(args, 'model_version') ?? DEFAULT_MODEL;
  const { text } = await checkModelString(/^[\w.-]+$/.test(model) ? `version=${model}` : model, files);
  const { maxSeconds = MAX_SECONDS } = settings;
  const late = new TimeLimitError(
    `the pair took longer than ${maxSeconds} s and was stopped; score it with the command line`,
  );
  const report = await withinSeconds(maxSeconds, late, signal, (limited) =>
    score(
      { reference: reference.path, distorted: distorted.path, ...(raw && { raw }) },
      {
        ...{ models: [text], threads: 1, origin: files.origin, signal: limited },
        onProgress: ({ framesDone, framesTotal, fps }) =>
          progress({ done: framesDone, total: framesTotal, fps }),
      },
    ),
  );
  const name = report.models[0]?.name ?? '';
  return {
    score: report.pooled_metrics[name]?.mean ?? null,
    frames_scored: report.frames.length,
    model_version: model,
    bitdepth: report.distorted.bitDepth,
    reference_path: named[0],
    distorted_path: named[1],
    pool_method: 'mean',
  };
}

/** Follows links, since files are compared with the real paths of folders. */
async function realName(path: string): Promise<string> {
  const absolute = resolve(path);
  return realpath(absolute).catch(() => absolute);
}

/** @throws {AnyvmafError} `usage` if only one of width and height is given */
function rawFormat(args: Arguments): RawVideoFormat | undefined {
  const [width, height] = [numberOf(args, 'width'), numberOf(args, 'height')];
  if (width === undefined && height === undefined) return undefined;
  if (width === undefined || height === undefined)
    throw usageError('compute_vmaf: raw YUV needs both width and height.');
  const chroma = (textOf(args, 'pixel_format') ?? '420') as ChromaFormat;
  return { width, height, chroma, bitDepth: numberOf(args, 'bitdepth') ?? 8 };
}
