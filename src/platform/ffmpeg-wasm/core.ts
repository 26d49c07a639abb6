/**
 * @module platform/ffmpeg-wasm/core
 * The part of `@ffmpeg/core` (FFmpeg compiled to WebAssembly, single thread) that this package uses: loading it
 * without its own loader, an input read as it is needed, outputs that hand every byte on.
 */

/** Reads a file at any position, at once. */
export interface SyncReader {
  /** Bytes in all. */
  readonly size: number;
  /** Fills `into` from `position` on; returns the bytes read, fewer only where the file ends. */
  read(into: Uint8Array, position: number): number;
}

/** Takes bytes that are valid during the call only. */
export type ByteSink = (bytes: Uint8Array) => void;

/** FFmpeg's tools, ready to run. */
export interface FfmpegCore {
  readonly FS: FileSystem;
  /** Runs `ffmpeg`, or `ffprobe`; returns its exit status, -1 where it did not say. */
  exec(...args: string[]): number;
  ffprobe(...args: string[]): number;
  /** What the last run left of its exit status. */
  readonly ret: number;
  /** To be called between two runs. */
  reset(): void;
  setLogger(logger: (line: { readonly type: 'stdout' | 'stderr'; readonly message: string }) => void): void;
  /** The exported function itself, once {@link exec} has run; before that, a function that looks it up. */
  readonly _ffmpeg: (argc: number, argv: number) => number;
  stringsToPtr(texts: readonly string[]): number;
}

/** What `@ffmpeg/core` exports. */
export type CreateFfmpegCore = (options: CreateOptions) => Promise<FfmpegCore>;

interface CreateOptions {
  readonly mainScriptUrlOrBlob: string;
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
}

/** A file descriptor of Emscripten's file system. */
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

/** Emscripten's file system. */
interface FileSystem {
  createFile(parent: string, name: string, properties: object, canRead: boolean, canWrite: boolean): FileNode;
  makedev(major: number, minor: number): number;
  registerDevice(device: number, operations: StreamOperations): void;
  mkdev(path: string, device: number): unknown;
  readonly ErrnoError: new (errno: number) => Error;
}

/** The name under which {@link createCore} finds FFmpeg's only way out. */
const WRITE = '_fd_write';

/** Invalid argument, and input/output error, in the numbering of WASI. */
const EINVAL = 28;
const EIO = 29;

/**
 * Makes an instance of FFmpeg.
 * @param module `ffmpeg-core.wasm`, compiled
 * @param wrapWrite replaces the function by which FFmpeg writes
 */
export function createCore(
  create: CreateFfmpegCore,
  module: WebAssembly.Module,
  wrapWrite?: (write: WriteImport) => WebAssembly.ImportValue,
): Promise<FfmpegCore> {
  // The core's glue finds its files by JSON in base64 behind a #; the module that is handed over makes them needless.
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

/** WASI's `fd_write`. */
export type WriteImport = (fd: number, parts: number, count: number, written: number) => number;

function withWrite(
  imports: WebAssembly.Imports,
  wrap: (write: WriteImport) => WebAssembly.ImportValue,
): WebAssembly.Imports {
  // The names of imports are shortened by the core's build; the functions keep theirs.
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

/** Makes a file in the root folder of the core that is read as it is needed. */
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
        // The reader keeps its error; FFmpeg hears of a failed device.
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

/** Makes a device `/name` of the core that hands on what is written to it. Devices have numbers of their own. */
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
