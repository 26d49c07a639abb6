/**
 * @module platform/ffmpeg-wasm/job
 * Runs one FFmpeg tool on one video in a thread, and passes on decoded frames. Uses `@ffmpeg/core` (single-threaded FFmpeg
 * in WebAssembly) without its loader.
 */
import { type FrameEvent, FrameLog } from '../ffmpeg/log.js';
import type { Damage, FromWasmWorker, ToWasmWorker, WasmJob, WasmStart } from './protocol.js';
import { FRAMES } from './protocol.js';

export interface JobWorld {
  readonly create: CreateFfmpegCore;
  readonly reader: SyncReader;
  post(message: FromWasmWorker, transfer?: ArrayBuffer[]): void;
}

export interface RunningJob {
  /** Resolves when the tool has ended; never rejects. */
  readonly done: Promise<void>;
  /** Takes messages after the first. */
  take(message: ToWasmWorker): void;
}

const MAX_LINES = 200;

export function startJob({ module, job }: WasmStart, world: JobWorld): RunningJob {
  const outlet = job.frames && new Outlet(world.post, job.frames);
  const run = new JobRun(job, world, outlet);
  return {
    done: run.start(module),
    take(message) {
      if (message.kind === 'used') outlet?.used(message.bytes);
    },
  };
}

class JobRun {
  readonly #job: WasmJob;
  readonly #world: JobWorld;
  readonly #outlet: Outlet | undefined;
  readonly #log: FrameLog | undefined;
  readonly #stdout: string[] = [];
  readonly #stderr: string[] = [];
  #readFailure: unknown;
  #damage: Damage | undefined;
  /** Whether the result is reported; ignores later output. */
  #over = false;

  constructor(job: WasmJob, world: JobWorld, outlet: Outlet | undefined) {
    this.#job = job;
    this.#world = world;
    this.#outlet = outlet;
    this.#log = job.frames && new FrameLog(job.frames);
  }

  async start(module: WebAssembly.Module): Promise<void> {
    try {
      await this.#run(module);
    } catch (error) {
      const message = error instanceof Error ? error.message : (JSON.stringify(error) ?? String(error));
      const what = this.#readFailure === undefined ? 'internal' : 'io';
      this.#world.post({ kind: 'failed', what, message: [message, ...this.#stderr.slice(-3)].join('; ') });
    }
  }

  async #run(module: WebAssembly.Module): Promise<void> {
    const core = await createCore(this.#world.create, module, this.#outlet?.wrapWrite);
    core.setLogger(({ type, message }) => {
      if (type === 'stdout') this.#stdout.push(message);
      else if (message !== 'Aborted()') this.#listen(message);
    });
    mountInput(core, this.#job.inputName, this.#reader());
    mountOutput(core, (data) => {
      if (!this.#over) this.#outlet?.write(data);
    });
    const status = await this.#call(core);
    if (this.#readFailure !== undefined) throw this.#readFailure;
    this.#finish(status, this.#job.frames?.part.seek !== undefined && this.#log?.wanted === 0);
  }

  async #call(core: FfmpegCore): Promise<number> {
    const { tool, args } = this.#job;
    if (tool === 'ffprobe') {
      try {
        return core.ffprobe(...args);
      } catch (error) {
        // A program exits by throwing an object with its status, not an Error.
        const status = typeof error === 'object' && error !== null ? Reflect.get(error, 'status') : undefined;
        if (typeof status === 'number') return status;
        throw error;
      }
    }
    if (!this.#outlet?.wrapWrite) return core.exec(...args);
    // `_ffmpeg`, which can be suspended, exists only after a first run. That run cannot wait, so it must write nothing.
    core.exec('-v', 'quiet');
    core.reset();
    const command = ['./ffmpeg', '-nostdin', '-y', ...args];
    try {
      await promising(core._ffmpeg)(command.length, core.stringsToPtr(command));
    } catch (error) {
      // The core always ends a run this way.
      if (!(error instanceof Error && error.message.startsWith('Aborted'))) throw error;
    }
    return core.ret;
  }

  /** Wraps the reader to keep its first error. */
  #reader(): SyncReader {
    const { reader } = this.#world;
    return {
      size: reader.size,
      read: (into, position) => {
        try {
          return reader.read(into, position);
        } catch (error) {
          this.#readFailure ??= error;
          throw error;
        }
      },
    };
  }

  #listen(line: string): void {
    const event = this.#over ? undefined : this.#log?.take(line);
    if (event) this.#act(event);
    else if (this.#stderr.length < MAX_LINES) this.#stderr.push(line);
  }

  /** Ends the run at the first message about damage, to pass on no damaged frame. */
  #act(event: FrameEvent): void {
    const { frames } = this.#job;
    if (!frames || !this.#log) return;
    switch (event.kind) {
      case 'wanted':
        // Decoding must start before the part, or its first frames may be missing.
        if (this.#log.wanted === 1 && frames.part.seek !== undefined && !this.#log.ledIn)
          this.#finish(0, true);
        else this.#outlet?.time(event.time);
        return;
      case 'past':
        this.#finish(0);
        return;
      case 'change': {
        const [before, after] = [frames.expected, event.found].map(
          ({ width, height, pixelFormat }) => `${width}x${height} ${pixelFormat}`,
        );
        this.#damaged(`the pictures change from ${before} to ${after}`, false);
        return;
      }
      case 'damage':
        this.#damaged(event.text, event.atEnd);
    }
  }

  #damaged(text: string, atEnd: boolean): void {
    this.#damage ??= { text, atEnd };
    if (!atEnd) this.#finish(-1);
  }

  #finish(status: number, missed = false): void {
    if (this.#over) return;
    this.#over = true;
    const { gaps = 0, skippedStart } = this.#log ?? {};
    const output = { stdout: this.#stdout, stderr: this.#stderr, damage: this.#damage };
    this.#world.post({ kind: 'done', status, ...output, missed, gaps, skippedStart });
  }
}

/**
 * Sends frames as messages. While too many bytes are in flight, makes FFmpeg wait: on shared memory, else by suspending it
 * (JavaScript Promise Integration).
 */
class Outlet {
  readonly #post: JobWorld['post'];
  readonly #frames: NonNullable<WasmJob['frames']>;
  /** Replaces FFmpeg's write function if it must be suspended. */
  readonly wrapWrite: ((write: WriteImport) => WebAssembly.ImportValue) | undefined;
  #unread = 0;
  #times: number[] = [];
  #room: Promise<void> | undefined;
  #resume = () => {};

  constructor(post: JobWorld['post'], frames: NonNullable<WasmJob['frames']>) {
    this.#post = post;
    this.#frames = frames;
    if (!frames.unread) this.wrapWrite = (write) => this.#suspended(write);
  }

  #suspended(write: WriteImport): WebAssembly.ImportValue {
    return suspending((fd: number, parts: number, count: number, written: number) => {
      const result = write(fd, parts, count, written);
      return this.#room ? this.#room.then(() => result) : result;
    });
  }

  write(data: Uint8Array): void {
    const bytes = data.slice();
    const { length } = bytes;
    const { unread, most } = this.#frames;
    if (unread) Atomics.add(unread, 0, length);
    this.#post({ kind: 'chunk', bytes, times: this.#times }, [bytes.buffer]);
    this.#times = [];
    if (!unread) this.#suspend(length);
    else
      for (let left = Atomics.load(unread, 0); left >= most; left = Atomics.load(unread, 0))
        Atomics.wait(unread, 0, left);
  }

  #suspend(bytes: number): void {
    this.#unread += bytes;
    if (this.#unread < this.#frames.most || this.#room) return;
    this.#room = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** Adds the time of the next frame. */
  time(seconds: number): void {
    this.#times.push(seconds);
  }

  used(bytes: number): void {
    this.#unread -= bytes;
    if (this.#unread >= this.#frames.most / 2) return;
    this.#room = undefined;
    this.#resume();
  }
}

type Suspend = new (call: (...args: never[]) => unknown) => WebAssembly.ImportValue;
type Promising = (call: FfmpegCore['_ffmpeg']) => (argc: number, argv: number) => Promise<number>;

/** JavaScript Promise Integration, which TypeScript does not declare yet. */
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

export interface SyncReader {
  readonly size: number;
  /** Fills `into` from `position`; returns the bytes read, fewer only at the end of the file. */
  read(into: Uint8Array, position: number): number;
}

interface FfmpegCore {
  readonly FS: FileSystem;
  /** Runs `ffmpeg` or `ffprobe`; returns its exit status, or -1. */
  exec(...args: string[]): number;
  ffprobe(...args: string[]): number;
  readonly ret: number;
  /** Required between two runs. */
  reset(): void;
  setLogger(logger: (line: { readonly type: 'stdout' | 'stderr'; readonly message: string }) => void): void;
  /** The exported function after a call of {@link exec}; before, a function that looks it up. */
  readonly _ffmpeg: (argc: number, argv: number) => number;
  stringsToPtr(texts: readonly string[]): number;
}

export type CreateFfmpegCore = (options: CreateOptions) => Promise<FfmpegCore>;

interface CreateOptions {
  readonly mainScriptUrlOrBlob: string;
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
}

interface FileStream {
  position: number;
}

interface StreamOperations {
  open?(stream: FileStream): void;
  close?(stream: FileStream): void;
  read?(stream: FileStream, buffer: Int8Array, offset: number, length: number, position: number): number;
  write?(stream: FileStream, buffer: Int8Array, offset: number, length: number, position: number): number;
  llseek?(stream: FileStream, offset: number, whence: number): number;
}

interface FileNode {
  readonly id: number;
  readonly mode: number;
  node_ops: object;
  stream_ops: StreamOperations;
}

interface FileSystem {
  createFile(parent: string, name: string, properties: object, canRead: boolean, canWrite: boolean): FileNode;
  makedev(major: number, minor: number): number;
  registerDevice(device: number, operations: StreamOperations): void;
  mkdev(path: string, device: number): unknown;
  readonly ErrnoError: new (errno: number) => Error;
}

/** The import through which FFmpeg writes. */
const WRITE = '_fd_write';

/** WASI's error numbers. */
const EINVAL = 28;
const EIO = 29;

/** Instantiates FFmpeg. @param module compiled `ffmpeg-core.wasm` @param wrapWrite replaces its write function */
function createCore(
  create: CreateFfmpegCore,
  module: WebAssembly.Module,
  wrapWrite?: (write: WriteImport) => WebAssembly.ImportValue,
): Promise<FfmpegCore> {
  // The core's glue expects its files' addresses as JSON in base64 behind a #; the compiled module makes them unused.
  const mainScriptUrlOrBlob = `core#${btoa('{"wasmURL":"","workerURL":""}')}`;
  return new Promise((resolve, reject) => {
    create({
      mainScriptUrlOrBlob,
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(module, wrapWrite ? withWrite(imports, wrapWrite) : imports).then(
          (instance) => done(instance, module),
          reject,
        );
        return {};
      },
    }).then(resolve, reject);
  });
}

type WriteImport = (fd: number, parts: number, count: number, written: number) => number;

function withWrite(
  imports: WebAssembly.Imports,
  wrap: (write: WriteImport) => WebAssembly.ImportValue,
): WebAssembly.Imports {
  // The core's build shortens the names of imports, but not those of the functions.
  const wrapped = Object.entries(imports).map(([space, functions]) => [
    space,
    Object.fromEntries(
      Object.entries(functions).map(([name, value]) => [
        name,
        typeof value === 'function' && value.name === WRITE ? wrap(value as WriteImport) : value,
      ]),
    ),
  ]);
  return Object.fromEntries(wrapped);
}

/** Mounts an input in the root folder of the core, read on demand. */
function mountInput({ FS }: FfmpegCore, name: string, reader: SyncReader): void {
  const { size } = reader;
  const node = FS.createFile('/', name, {}, true, false);
  const never = new Date(0);
  node.node_ops = {
    ...node.node_ops,
    getattr: () => ({
      ...{ dev: 1, ino: node.id, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size },
      ...{ atime: never, mtime: never, ctime: never, blksize: 4096, blocks: Math.ceil(size / 4096) },
    }),
  };
  node.stream_ops = {
    open() {},
    close() {},
    read(_stream, heap, offset, length, position) {
      const count = Math.max(0, Math.min(length, size - position));
      try {
        return reader.read(new Uint8Array(heap.buffer, heap.byteOffset + offset, count), position);
      } catch {
        // The reader keeps the error; FFmpeg sees an I/O error.
        throw new FS.ErrnoError(EIO);
      }
    },
    llseek(stream, offset, whence) {
      const position = ([0, stream.position, size][whence] ?? Number.NaN) + offset;
      if (!(position >= 0)) throw new FS.ErrnoError(EINVAL);
      return position;
    },
  };
}

/** Mounts the device for frames, which passes on written bytes; they are valid only during the call. */
function mountOutput({ FS }: FfmpegCore, sink: (bytes: Uint8Array) => void): void {
  const device = FS.makedev(64, 0);
  FS.registerDevice(device, {
    open() {},
    close() {},
    write(_stream, heap, offset, length) {
      sink(new Uint8Array(heap.buffer, heap.byteOffset + offset, length));
      return length;
    },
  });
  FS.mkdev(FRAMES, device);
}
