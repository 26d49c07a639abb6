/**
 * @module platform/ffmpeg-wasm/run
 * One run of a tool of FFmpeg in a thread, seen from the thread that asked for it.
 */
import { onAbort } from '../../core/abort.js';
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { OpenedInput, WasmHost } from './host.js';
import type { FromWasmWorker, WasmJob } from './protocol.js';

/** How a tool ended. */
export type RunResult = Omit<Extract<FromWasmWorker, { kind: 'done' }>, 'kind'>;

/** What a run hands on while it goes. */
export interface RunEvents {
  /** There is something in the ring. */
  wake?(): void;
  chunk?(bytes: Uint8Array<ArrayBuffer>, times: readonly number[]): void;
}

/** A run under way; its thread ends with it. */
export interface ToolRun {
  /**
   * Settles when the tool has ended.
   * @throws {AnyvmafError} `io` when the video cannot be read, `internal` when the tool broke; what {@link stop} was
   * given
   */
  readonly done: Promise<RunResult>;
  /** Bytes of chunks that were used. */
  used(bytes: number): void;
  /** Ends the thread at once; nothing more is handed on. */
  stop(reason: unknown): void;
}

/** Starts a tool on a video. */
export async function startRun(
  host: WasmHost,
  opened: OpenedInput,
  job: WasmJob,
  events: RunEvents = {},
): Promise<ToolRun> {
  const { module, script } = await host.load();
  const thread = host.startThread();
  let end: (settle: () => void) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const done = new Promise<RunResult>((resolve, reject) => {
    let ended = false;
    end = (settle) => {
      if (ended) return;
      ended = true;
      thread.terminate();
      settle();
    };
    fail = (reason) => end(() => reject(reason));
    const broken = (how: string) =>
      new AnyvmafError('internal', `FFmpeg in WebAssembly failed on ${shown(opened.name)}: ${shown(how)}`);
    thread.listen(
      (message) => {
        if (ended) return;
        switch (message.kind) {
          case 'wake':
            return events.wake?.();
          case 'chunk':
            return events.chunk?.(message.bytes, message.times);
          case 'read':
            opened.serve?.(job.input, message.position, message.length).catch(fail);
            return;
          case 'done':
            return end(() => resolve(message));
          case 'failed':
            return fail(
              message.what === 'io'
                ? new AnyvmafError('io', `reading ${shown(opened.name)} failed: ${shown(message.message)}.`)
                : broken(message.message),
            );
        }
      },
      (how) => fail(broken(how)),
    );
  });
  // A caller that stops a run need not handle its failure.
  done.catch(() => {});
  thread.post({ kind: 'start', module, script, job });
  return {
    done,
    used: (bytes) => thread.post({ kind: 'used', bytes }),
    stop: (reason) => fail(reason),
  };
}

/** Runs a tool that writes text only. */
export async function runTool(
  host: WasmHost,
  opened: OpenedInput,
  job: Pick<WasmJob, 'tool' | 'args' | 'inputName'>,
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  signal?.throwIfAborted();
  const run = await startRun(host, opened, { ...job, input: opened.jobInput() });
  const forget = onAbort(signal, run.stop);
  return run.done.finally(forget);
}
