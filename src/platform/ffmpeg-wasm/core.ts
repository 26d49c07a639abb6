/**
 * @module platform/ffmpeg-wasm/core
 * The part of `@ffmpeg/core` (single-threaded FFmpeg in WebAssembly) used here, without its own loader.
 */

/** Reads a file synchronously at any position. */
export interface SyncReader {
  /** Bytes. */
  readonly size: number;
  /** Fills `into` from `position` on; returns the bytes read, fewer only at the end of the file. */
  read(into: Uint8Array, position: number): number;
}

/** Takes bytes that are valid only during the call. */
export type ByteSink = (bytes: Uint8Array) => void;

export interface FfmpegCore {
  readonly FS: FileSystem;
  /** Runs `ffmpeg`, or `ffprobe`; returns its exit status, -1 if it has none. */
  exec(...args: string[]): number;
  ffprobe(...args: string[]): number;
  /** Exit status of the last run. */
  readonly ret: number;
  /** Required between two runs. */
  reset(): void;
  setLogger(logger: (line: { readonly type: 'stdout' | 'stderr'; readonly message: string }) => void): void;
  /** The exported function, once {@link exec} has run; before that, a function that looks it up. */
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

/** WASI's numbers of an invalid argument and an input/output error. */
const EINVAL = 28;
const EIO = 29;

/**
 * Makes an instance of FFmpeg.
 * @param module `ffmpeg-core.wasm`, compiled
 * @param wrapWrite replaces the function that FFmpeg writes with
 */
export function createCore(
  create: CreateFfmpegCore,
  module: WebAssembly.Module,
  wrapWrite?: (write: WriteImport) => WebAssembly.ImportValue,
): Promise<FfmpegCore> {
  // The core's glue finds its files by JSON in base64 behind a #; with the compiled module it needs none.
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

export type WriteImport = (fd: number, parts: number, count: number, written: number) => number;

function withWrite(
  imports: WebAssembly.Imports,
  wrap: (write: WriteImport) => WebAssembly.ImportValue,
): WebAssembly.Imports {
  // The core's build shortens the names of imports; the functions keep theirs.
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

/** Adds an input to the root folder of the core, read on demand. */
export function mountInput({ FS }: FfmpegCore, name: string, reader: SyncReader): void {
  const { size } = reader;
  const node = FS.createFile('/', name, {}, true, false);
  const never = new Date(0);
  node.node_ops = {
    ...node.node_ops,
    getattr: () => ({
      dev: 1,
      ino: node.id,
      mode: node.mode,
      nlink: 1,
      uid: 0,
      gid: 0,
      rdev: 0,
      size,
      atime: never,
      mtime: never,
      ctime: never,
      blksize: 4096,
      blocks: Math.ceil(size / 4096),
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
        // The reader keeps its error; FFmpeg gets a device failure.
        throw new FS.ErrnoError(EIO);
      }
    },
    llseek(stream, offset, whence) {
      const base = [0, stream.position, size][whence] ?? Number.NaN;
      const position = base + offset;
      if (!(position >= 0)) throw new FS.ErrnoError(EINVAL);
      return position;
    },
  };
}

/** Adds a device `/name` to the core that passes on what is written to it. Each device needs its own number. */
export function mountOutput({ FS }: FfmpegCore, name: string, number: number, sink: ByteSink): void {
  const device = FS.makedev(64, number);
  FS.registerDevice(device, {
    open() {},
    close() {},
    write(_stream, heap, offset, length) {
      sink(new Uint8Array(heap.buffer, heap.byteOffset + offset, length));
      return length;
    },
  });
  FS.mkdev(`/${name}`, device);
}
