/**
 * @module platform/ffmpeg-wasm/job
 * What a thread does for a decoder: runs one tool of FFmpeg on one video, and hands on frames as they are decoded.
 */
import type { Part } from '../ffmpeg/commands.js';
import { type ExpectedFrame, parseLogLine } from '../ffmpeg/log.js';
import {
  type CreateFfmpegCore,
  createCore,
  type FfmpegCore,
  mountInput,
  mountOutput,
  type SyncReader,
  type WriteImport,
} from './core.js';
import { isInPart } from './plan.js';
import { type Damage, FRAMES, type FromWasmWorker, type ToWasmWorker, type WasmStart } from './protocol.js';
import { RingWriter } from './ring.js';

/** What the thread has around it. */
export interface JobWorld {
  readonly create: CreateFfmpegCore;
  readonly reader: SyncReader;
  post(message: FromWasmWorker, transfer?: ArrayBuffer[]): void;
}

/** A run under way. */
export interface RunningJob {
  /** Settles when the tool has ended; never rejects. */
  readonly done: Promise<void>;
  /** Takes messages after the first. */
  take(message: ToWasmWorker): void;
}

/** Messages of the tools that are kept. */
const MAX_LINES = 200;

/** Bytes on their way to a main thread that is reached by messages only. */
const MAX_UNUSED = 48 << 20;

/** Starts a run. */
export function startJob({ module, job }: WasmStart, world: JobWorld): RunningJob {
  const { post } = world;
  const stderr: string[] = [];
  const stdout: string[] = [];
  let readFailure: unknown;
  const reader: SyncReader = {
    size: world.reader.size,
    read(into, position) {
      try {
        return world.reader.read(into, position);
      } catch (error) {
        readFailure ??= error;
        throw error;
      }
    },
  };
  const outlet = job.frames && !job.frames.ring ? new MessageOutlet(post) : undefined;
  const ring = job.frames?.ring;
  const target = outlet ?? (ring && new RingWriter(ring, () => post({ kind: 'wake' })));
  /** Seconds of one unit of presentation times. */
  let unit = Number.NaN;
  let decoding = false;
  /** Frames decoded, and those of them in the part that is wanted. */
  let seen = 0;
  let wanted = 0;
  let troubleBefore = false;
  let skippedStart: string | undefined;
  let damage: Damage | undefined;
  let gaps = 0;
  /** Reported; whatever comes after is of no use. */
  let over = false;

  function finish(status: number, missed = false): void {
    if (over) return;
    over = true;
    const more = { gaps, ...(damage && { damage }), ...(skippedStart !== undefined && { skippedStart }) };
    post({ kind: 'done', status, stdout, stderr, missed, ...more });
  }

  function listen(line: string): void {
    const event = over || !job.frames ? undefined : parseLogLine(line);
    if (!event || !job.frames) {
      if (stderr.length < MAX_LINES) stderr.push(line);
      return;
    }
    const { expected, part, startsAnywhere } = job.frames;
    switch (event.kind) {
      case 'timebase':
        unit = event.num / event.den;
        return;
      case 'decoding':
        decoding = true;
        return;
      case 'frame':
        frame(event, (event.pts ?? Number.NaN) * unit, expected, part);
        return;
      case 'gap':
        gaps++;
        return;
      case 'damage':
        if (seen === 0 && !decoding) return;
        if (seen === 0 && (startsAnywhere || part.seek !== undefined)) {
          skippedStart ??= event.text;
        } else if (wanted === 0 && part.seek !== undefined) {
          troubleBefore = true;
        } else {
          damaged(event.text, event.atEnd);
        }
    }
  }

  /** FFmpeg announces a frame, before it writes its samples. */
  function frame(found: ExpectedFrame, time: number, expected: ExpectedFrame, part: Part): void {
    const { width, height, pixelFormat } = found;
    if (width !== expected.width || height !== expected.height || pixelFormat !== expected.pixelFormat) {
      const before = `${expected.width}x${expected.height} ${expected.pixelFormat}`;
      damaged(`the pictures change from ${before} to ${width}x${height} ${pixelFormat}`, false);
      return;
    }
    const within = isInPart(part, seen++, time);
    if (within === 'past' || wanted === part.count) {
      finish(0);
    } else if (within && wanted === 0 && part.seek !== undefined && (seen === 1 || troubleBefore)) {
      // Decoding has to begin before the part, or its first frames may be missing.
      finish(0, true);
    } else if (within) {
      wanted++;
      target?.time(time);
    }
  }

  /** Damaged frames are not handed on: the run is over with the first message that tells of damage. */
  function damaged(text: string, atEnd: boolean): void {
    damage ??= { text, atEnd };
    if (!atEnd) finish(-1);
  }

  async function run(): Promise<void> {
    const core = await createCore(world.create, module, outlet?.wrapWrite);
    core.setLogger(({ type, message }) => {
      if (type === 'stdout') stdout.push(message);
      else if (message !== 'Aborted()') listen(message);
    });
    mountInput(core, job.inputName, reader);
    if (target) {
      mountOutput(core, FRAMES.slice(1), 0, (data) => {
        if (!over) target.write(data);
      });
    }
    const status = await call(core);
    if (readFailure !== undefined) throw readFailure;
    finish(status, job.frames?.part.seek !== undefined && wanted === 0);
  }

  async function call(core: FfmpegCore): Promise<number> {
    if (job.tool === 'ffprobe') return core.ffprobe(...job.args);
    if (!outlet) return core.exec(...job.args);
    // Once it ran, the exported function is there itself, which alone can be made to wait. This run writes nothing, as
    // it could not wait for it.
    core.exec('-v', 'quiet');
    core.reset();
    const args = ['./ffmpeg', '-nostdin', '-y', ...job.args];
    try {
      await promising(core._ffmpeg)(args.length, core.stringsToPtr(args));
    } catch (error) {
      // The way in which the core ends every run.
      if (!(error instanceof Error && error.message.startsWith('Aborted'))) throw error;
    }
    return core.ret;
  }

  const done = run().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const what = readFailure === undefined ? 'internal' : 'io';
    post({ kind: 'failed', what, message: [message, ...stderr.slice(-3)].join('; ') });
  });
  return {
    done,
    take(message) {
      if (message.kind === 'used') outlet?.used(message.bytes);
    },
  };
}

/** Hands frames on by messages, and makes FFmpeg wait by suspending it (JavaScript Promise Integration). */
class MessageOutlet {
  readonly #post: JobWorld['post'];
  #unused = 0;
  #times: number[] = [];
  #room: Promise<void> | undefined;
  #resume: (() => void) | undefined;

  constructor(post: JobWorld['post']) {
    this.#post = post;
  }

  readonly wrapWrite = (write: WriteImport): WebAssembly.ImportValue =>
    suspending((fd: number, parts: number, count: number, written: number) => {
      const result = write(fd, parts, count, written);
      return this.#room ? this.#room.then(() => result) : result;
    });

  write(data: Uint8Array): void {
    const bytes = data.slice();
    this.#unused += bytes.length;
    this.#post({ kind: 'chunk', bytes, times: this.#times }, [bytes.buffer]);
    this.#times = [];
    if (this.#unused < MAX_UNUSED || this.#room) return;
    this.#room = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  time(seconds: number): void {
    this.#times.push(seconds);
  }

  used(bytes: number): void {
    this.#unused -= bytes;
    if (this.#unused >= MAX_UNUSED / 2) return;
    this.#room = undefined;
    this.#resume?.();
  }
}

type Suspend = new (call: (...args: never[]) => unknown) => WebAssembly.ImportValue;
type Promising = (call: FfmpegCore['_ffmpeg']) => (argc: number, argv: number) => Promise<number>;

/** JavaScript Promise Integration, which TypeScript does not know yet. */
const integration = WebAssembly as unknown as { Suspending?: Suspend; promising?: Promising };

/** Whether WebAssembly can wait for promises here. */
export function canSuspend(): boolean {
  return integration.Suspending !== undefined && integration.promising !== undefined;
}

function suspending(call: WriteImport | ((...args: never[]) => unknown)): WebAssembly.ImportValue {
  return integration.Suspending ? new integration.Suspending(call) : unreachable();
}

function promising(call: FfmpegCore['_ffmpeg']): ReturnType<Promising> {
  return integration.promising ? integration.promising(call) : unreachable();
}

function unreachable(): never {
  throw new Error('frames have no way out of this thread');
}
