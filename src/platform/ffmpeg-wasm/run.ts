/**
 * @module platform/ffmpeg-wasm/run
 * One run of a tool of FFmpeg in a thread, for the thread that starts it.
 */
import { onAbort } from '../../core/abort.js';
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { FromWasmWorker, LoadedCore, OpenedInput, WasmHost, WasmJob } from './protocol.js';

export type RunResult = Omit<Extract<FromWasmWorker, { kind: 'done' }>, 'kind'>;

export interface RunEvents {
  /** The ring has data. */
  wake?(): void;
  chunk?(bytes: Uint8Array<ArrayBuffer>, times: readonly number[]): void;
}

/** A run under way; its thread ends with it. */
export interface ToolRun {
  /**
   * Settles when the tool has ended.
   * @throws {AnyvmafError} `io` if the video cannot be read, `internal` if the tool failed; the reason of {@link stop}
   */
  readonly done: Promise<RunResult>;
  /** Takes the number of bytes of chunks that were read. */
  used(bytes: number): void;
  /** Ends the thread at once; nothing more is passed on. */
  stop(reason: unknown): void;
}

/** Compiled once per process or page. */
let core: Promise<LoadedCore> | undefined;

function loadCore(host: WasmHost): Promise<LoadedCore> {
  core ??= load(host);
  // Do not keep a failure: the package may be installed, or the network back, next time.
  core.catch(() => {
    core = undefined;
  });
  return core;
}

async function load(host: WasmHost): Promise<LoadedCore> {
  const found = host.core();
  if (typeof found !== 'string') return found();
  throw new AnyvmafError('io', `ffmpeg.wasm cannot be used: ${found}`);
}

/** @throws {AnyvmafError} `io` if there is no core */
export async function startRun(
  host: WasmHost,
  opened: OpenedInput,
  job: WasmJob,
  events: RunEvents = {},
): Promise<ToolRun> {
  const { module, script } = await loadCore(host);
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
      new AnyvmafError('internal', `ffmpeg.wasm failed on ${shown(opened.name)}: ${shown(how)}`);
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

/** For tools that write text only. */
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
