/**
 * @module mcp/scoring/encoding
 * Work that encodes a source within one call: on the pool, with progress, limits on time and disk, and the whole result as
 * resources.
 */
import {
  AnyvmafError,
  type CurveResult,
  forgetSearches,
  formatEncodingResult,
  type SearchStage,
} from '../../index.js';
import type { ToolContext } from '../context.js';
import type { ExtraContent } from '../tool.js';

/** What limits a call. */
export interface EncodingLimits {
  readonly max_seconds: number;
  readonly max_temp_gb: number;
}

/** What the API is told by every such call. */
export interface EncodingCall {
  readonly threads: number;
  /** Folder of measured points. */
  readonly cache: string;
  readonly scratchBytes: number;
  readonly signal: AbortSignal;
  readonly onStage: (stage: SearchStage) => void;
}

/** A call whose work can end at its limit with what it has. */
export interface FinishingCall extends EncodingCall {
  readonly finish: AbortSignal;
}

/**
 * Runs the work, which ends at the limit of time.
 * @throws {AnyvmafError} what the work throws; `resource` when it takes longer than it may
 */
export function encodingCall<Result>(
  tool: string,
  limits: EncodingLimits,
  context: ToolContext,
  work: (call: EncodingCall) => Promise<Result>,
): Promise<Result> {
  return finishingCall(tool, limits, context, ({ finish, ...call }) =>
    work({ ...call, signal: AbortSignal.any([call.signal, finish]) }),
  );
}

/** Runs work that is asked to finish at the limit of time. @throws {AnyvmafError} as {@link encodingCall} where it has nothing then */
export function finishingCall<Result>(
  tool: string,
  limits: EncodingLimits,
  context: ToolContext,
  work: (call: FinishingCall) => Promise<Result>,
): Promise<Result> {
  return context.pool.run(tool, null, async ({ threads }) => {
    const { max_seconds, max_temp_gb, ...asked } = limits;
    const cache = await context.resources.points(JSON.stringify([tool, asked]));
    const late = AbortSignal.timeout(max_seconds * 1000);
    const { onStage, end } = encodingProgress(context, stageText);
    try {
      const result = await work({
        threads,
        cache,
        scratchBytes: max_temp_gb * 1e9,
        signal: context.signal,
        finish: late,
        onStage,
      });
      end();
      // What is asked again after an answer is measured again.
      if (!late.aborted) await forgetSearches(cache);
      return result;
    } catch (error) {
      if (!late.aborted || context.signal.aborted) throw error;
      throw new AnyvmafError(
        'resource',
        `the work took longer than max_seconds, ${max_seconds}; call again with the same arguments: what was measured is kept while this ` +
          'server runs, and the call resumes from there.',
      );
    }
  });
}

/** Milliseconds between two notices of one stage. */
const PACE = 1000;

/** What an encoding call reports. */
export interface EncodingProgress<Stage> {
  readonly onStage: (stage: Stage) => void;
  /** All is done. */
  end(): void;
}

/**
 * Passes on what is done as frames over all stages of a call.
 * @param textOf a stage in words
 */
export function encodingProgress<Stage extends { readonly kind: string }>(
  { progress }: ToolContext,
  textOf: (stage: Stage) => string,
): EncodingProgress<Stage> {
  let [before, frames, total] = [0, 0, 0];
  let [at, said] = [Number.NEGATIVE_INFINITY, ''];
  const tell = (message: string) => {
    [at, said] = [performance.now(), message];
    progress({ done: before + frames, total: total > 0 ? before + total : null, message });
  };
  return {
    onStage(stage) {
      const message = textOf(stage);
      const counted = 'frames' in stage && 'total' in stage;
      if (message !== said) {
        // The stage before has all its frames now.
        before += Math.max(total, 1);
        [frames, total] = [0, 0];
      }
      if (counted) [frames, total] = [Number(stage.frames), Number(stage.total)];
      if (message !== said || frames === total || performance.now() - at >= PACE) tell(message);
    },
    end() {
      if (said === '') return;
      [before, frames] = [before + total, 0];
      total = 0;
      progress({ done: before + 1, total: before + 1, message: 'done' });
    },
  };
}

/** What a search is doing, but for how far it is. */
export function stageText(stage: SearchStage): string {
  if (stage.kind === 'finding') return 'looking for cuts';
  if (!('value' in stage)) return `${stage.kind} the source`;
  const size = stage.size ? `, ${stage.size.width}x${stage.size.height}` : '';
  return `${stage.kind} at ${stage.value} with ${stage.encoder}${size}`;
}

/** A result as resources: everything as JSON, and as a page to look at. */
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
  const html = await publish('html', 'text/html', 'The curves and tables as a page that stands by itself.');
  return { uris: { json: json.uri, html: html.uri }, content: [json.link, html.link] };
}
