/**
 * @module mcp/scoring/encoding
 * Runs work that encodes a source within one call, with progress and limits of time and disk.
 */
import * as z from 'zod/v4';
import { AnyvmafError, type CurveResult, formatEncodingResult, type ShotStage } from '../../index.js';
import type { Measuring } from '../call-threads.js';
import type { ExtraContent, ToolContext } from '../context.js';
import type { OtherOutcome } from '../tool.js';
import { headKeys, headOf } from '../verdict.js';
import type { callLimits } from './parameters.js';

export type EncodingLimits = z.output<z.ZodObject<typeof callLimits>>;

export interface EncodingCall {
  readonly threads: number;
  /** Folder of measured points. */
  readonly cache: string;
  readonly scratchBytes: number;
  readonly signal: AbortSignal;
  /** For shots, includes the stages of every search. */
  readonly onStage: (stage: ShotStage) => void;
  /** Asks the work to end with what it has, if it can. */
  readonly finish?: AbortSignal;
  /** Receives the best result so far, in words. */
  readonly onBest?: (best: string) => void;
}

type Work<Result> = (call: EncodingCall, api: Measuring) => Promise<Result>;

/** Most encodes of a search for one quality, and of a curve. */
export const ENCODES_OF_SEARCH = 8;

export interface EncodingTask {
  /** Path of the source, by which later calls find the points measured of it. */
  readonly source: string;
  readonly limits: EncodingLimits;
}

/** Aborts work at the limits. @throws {AnyvmafError} those of the work; `resource` at a limit */
export function encodingCall<Result>(
  task: EncodingTask,
  context: ToolContext,
  work: Work<Result>,
): Promise<Result> {
  return finishingCall(task, context, ({ signal, finish, onBest: _, ...call }, api) =>
    work({ ...call, signal: finish ? AbortSignal.any([signal, finish]) : signal }, api),
  );
}

/** Asks work to finish at the limits. @throws {AnyvmafError} like {@link encodingCall}, if it has no result then */
export function finishingCall<Result>(
  { source, limits }: EncodingTask,
  context: ToolContext,
  work: Work<Result>,
): Promise<Result> {
  return context.pool.run(null, async ({ threads, api }) => {
    const { max_seconds, max_encodes = Number.POSITIVE_INFINITY, max_temp_gb } = limits;
    const cache = await context.resources.points(source);
    const limit = new AbortController();
    const { signal: finish } = limit;
    // Not AbortSignal.timeout: if only AbortSignal.any refers to it, it and its timer may be garbage collected.
    const timer = setTimeout(() => limit.abort(), max_seconds * 1000);
    const { onStage, onBest, end } = encodingProgress(context);
    let encodes = 0;
    try {
      const call: EncodingCall = {
        ...{ threads, cache, scratchBytes: max_temp_gb * 1e9, signal: context.signal, finish, onBest },
        onStage(stage) {
          // Later reports of the same encode have a frame count.
          if (stage.kind === 'encoding' && stage.frames === undefined && ++encodes > max_encodes)
            limit.abort();
          onStage(stage);
        },
      };
      const result = await work(call, api);
      end();
      return result;
    } catch (error) {
      if (!finish.aborted || context.signal.aborted) throw error;
      const resume = 'call again with the same arguments to resume: measured encodes are kept';
      const reason =
        encodes > max_encodes
          ? `stopped at max_encodes, ${max_encodes}; ${resume}`
          : encodes > 1
            ? `stopped at max_seconds, ${max_seconds}; ${resume}`
            : `no encode was measured within max_seconds, ${max_seconds}; raise it, or use a faster preset`;
      throw new AnyvmafError('resource', `${reason}.`);
    } finally {
      clearTimeout(timer);
    }
  });
}

const plan = z.object({
  ...headKeys,
  summary: z.string(),
  dry_run: z.literal(true),
  encodes_at_most: z.int(),
  frames_per_encode: z.int().nullable().describe('null: the whole source, or a whole shot.'),
});

/** Stops before the first encode. @param encodesOf most encodes, by the number of shots */
export function dryRun(
  { source, limits }: EncodingTask,
  context: ToolContext,
  encodesOf: (shots: number) => number,
  work: Work<unknown>,
): Promise<OtherOutcome> {
  return context.pool.run(null, async ({ threads, api }) => {
    const { max_encodes = Number.POSITIVE_INFINITY, max_temp_gb } = limits;
    const enough = new AbortController();
    const { onStage } = encodingProgress(context);
    let frames: number | null = null;
    let shots = 0;
    try {
      const call: EncodingCall = {
        ...{ threads, scratchBytes: max_temp_gb * 1e9 },
        cache: await context.resources.points(source),
        signal: AbortSignal.any([context.signal, enough.signal]),
        onStage(stage) {
          onStage(stage);
          if (stage.kind !== 'cutting' && stage.kind !== 'encoding') return;
          if (stage.kind === 'cutting') frames ??= stage.frames;
          shots = Math.max(1, stage.shots ?? 1);
          enough.abort();
        },
      };
      await work(call, api);
    } catch (error) {
      if (!enough.signal.aborted || context.signal.aborted) throw error;
    }
    // Without a first encode, an earlier call has measured everything.
    const most = shots === 0 ? 0 : Math.min(encodesOf(shots), max_encodes);
    const each = frames === null ? 'each of the whole source or a shot' : `each of ${frames} frames`;
    const summary = `${context.tool} would make and score at most ${most} encodes, ${each}. Nothing was encoded.`;
    const document = {
      ...headOf({ outcome: 'planned', next: context.again({ dry_run: false }) }),
      summary,
      dry_run: true,
      encodes_at_most: most,
      frames_per_encode: frames,
    };
    return { document, fits: plan };
  });
}

/** Milliseconds between two reports of one stage. */
const PACE = 1000;

function encodingProgress({ progress }: ToolContext) {
  let [before, frames, total] = [0, 0, 0];
  let [at, said] = [Number.NEGATIVE_INFINITY, ''];
  let best: string | undefined;
  const tell = (message: string) => {
    [at, said] = [performance.now(), message];
    const known = total > 0 ? before + total : null;
    progress({ done: before + frames, total: known, isOpen: true, message, best });
  };
  return {
    onBest(known: string): void {
      best = known;
    },
    onStage(stage: ShotStage): void {
      const message = stageText(stage);
      if (message !== said) {
        // The previous stage is complete.
        before += Math.max(total, 1);
        [frames, total] = [0, 0];
      }
      if ('total' in stage && stage.frames !== undefined && stage.total !== undefined)
        [frames, total] = [stage.frames, stage.total];
      if (message !== said || frames === total || performance.now() - at >= PACE) tell(message);
    },
    end(): void {
      if (said === '') return;
      [before, frames] = [before + total, 0];
      total = 0;
      progress({ done: before + 1, total: before + 1, message: 'done' });
    },
  };
}

function stageText(stage: ShotStage): string {
  if (stage.kind === 'joining') return 'joining the shots';
  const shot = stage.shot === undefined ? '' : `shot ${stage.shot} of ${stage.shots}: `;
  if (stage.kind === 'finding') return `${shot}detecting shots`;
  if (!('value' in stage)) return `${shot}${stage.kind} the source`;
  const size = stage.size ? `, ${stage.size.width}x${stage.size.height}` : '';
  return `${shot}${stage.kind} at ${stage.value} with ${stage.encoder}${size}`;
}

export async function publishResult(
  result: CurveResult,
  { resources }: ToolContext,
): Promise<{ readonly uris: { json: string; html: string }; readonly content: ExtraContent[] }> {
  const publish = async (format: 'json' | 'html', mimeType: string, description: string) =>
    resources.publish({
      name: `${result.kind}.${format}`,
      mimeType,
      description,
      data: await formatEncodingResult(result, format),
    });
  const json = await publish('json', 'application/json', 'Every point with all pooled values.');
  const html = await publish('html', 'text/html', 'The curves and tables as a self-contained page.');
  return { uris: { json: json.uri, html: html.uri }, content: [json.link, html.link] };
}
