/**
 * @module mcp/scoring/encoding
 * Work that encodes a source within one call: on the pool, with progress, limits on time and disk, and the whole result as
 * resources.
 */
import { AnyvmafError, type CurveResult, formatEncodingResult, type SearchStage } from '../../index.js';
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
  readonly cache: false;
  readonly scratchBytes: number;
  readonly signal: AbortSignal;
  readonly onStage: (stage: SearchStage) => void;
}

/**
 * Runs the work.
 * @throws {AnyvmafError} what the work throws; `resource` when it takes longer than it may
 */
export function encodingCall<Result>(
  tool: string,
  { max_seconds, max_temp_gb }: EncodingLimits,
  context: ToolContext,
  work: (call: EncodingCall) => Promise<Result>,
): Promise<Result> {
  return context.pool.run(tool, null, async ({ threads }) => {
    const late = AbortSignal.timeout(max_seconds * 1000);
    try {
      return await work({
        threads,
        cache: false,
        scratchBytes: max_temp_gb * 1e9,
        signal: AbortSignal.any([context.signal, late]),
        onStage: progressOf(context),
      });
    } catch (error) {
      if (!late.aborted || context.signal.aborted) throw error;
      throw new AnyvmafError(
        'resource',
        `the work took longer than max_seconds, ${max_seconds}; allow more, or ask for less.`,
      );
    }
  });
}

function progressOf({ progress }: ToolContext): (stage: SearchStage) => void {
  let done = 0;
  return (stage) => {
    const what = 'value' in stage ? `${stage.kind} at ${stage.value}` : plainText(stage);
    const size = 'size' in stage && stage.size ? `, ${stage.size.width}x${stage.size.height}` : '';
    const by = 'encoder' in stage ? ` with ${stage.encoder}` : '';
    progress({ done: done++, total: null, message: `${what}${by}${size}` });
  };
}

function plainText(stage: SearchStage): string {
  if (stage.kind === 'finding') return `looking for cuts, frame ${stage.frames} of ${stage.total}`;
  return `${stage.kind} the source`;
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
