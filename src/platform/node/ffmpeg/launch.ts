/**
 * @module platform/node/ffmpeg/launch
 * The one place that starts ffmpeg and ffprobe on an input: with lists of what it may open, and, where somebody else than
 * the user named it, on a descriptor of the file that was checked.
 */
import { closeSync } from 'node:fs';
import type { ToolSource } from '../../ffmpeg/access.js';
import type { Channel } from './channel.js';
import type { FfmpegInput } from './input.js';
import { type Ending, type RunOptions, runTool, startTool, type ToolName, type ToolProcess } from './tool.js';

/** Arguments for an input as the tool is to open it. */
type Command = (source: ToolSource) => readonly string[];

/**
 * Starts a tool on an input.
 * @param channel takes its output, instead of a pipe that is made for it
 * @throws {AnyvmafError} `io` where the input is no longer what may be opened
 */
export function startOn(
  tool: ToolName,
  input: FfmpegInput,
  command: Command,
  channel?: Channel,
): ToolProcess {
  return holding(input, (file) => startTool(tool, command(input), { channel, file }));
}

/**
 * Runs a tool on an input to its end.
 * @throws {AnyvmafError} `io` as {@link startOn}, and when it cannot be started; the signal's reason when it aborts
 */
export async function runOn(
  tool: ToolName,
  input: FfmpegInput,
  command: Command,
  options: RunOptions = {},
): Promise<Ending & { readonly stdout: string; readonly stderr: string }> {
  return holding(input, (file) => runTool(tool, command(input), { ...options, file }));
}

/** Has the input open while `start` starts a process, which has a descriptor of its own from then on. */
function holding<T>({ hold }: FfmpegInput, start: (file: number | undefined) => T): T {
  const file = hold?.();
  try {
    return start(file);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
