/**
 * @module core/compile
 * Compiles the WebAssembly modules; separate from core/module, which only measuring needs.
 */
import { internalError } from './errors.js';

type Global<Name extends string> = typeof globalThis extends {
  WebAssembly: Record<Name, new (...args: never[]) => infer Instance>;
}
  ? Instance
  : object;

export type WasmModule = Global<'Module'>;

export type WasmMemory = Global<'Memory'>;

export type WasmBytes = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

/**
 * Compiles the core once for any number of instances.
 * @throws {AnyvmafError} `internal` if the bytes are not a WebAssembly module or 128-bit SIMD is missing
 */
export async function compileCore(bytes: WasmBytes): Promise<WasmModule> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw internalError(
      'The WebAssembly core does not compile here; anyvmaf needs a runtime with WebAssembly SIMD (Node 20.19 or a ' +
        'browser of 2023 or later).',
      { cause },
    );
  }
}
