/**
 * @module core/compile
 * Compiles the WebAssembly modules. Apart from core/module, which an application needs only once it measures.
 */
import { AnyvmafError } from './errors.js';

type Global<Name extends string> = typeof globalThis extends {
  WebAssembly: Record<Name, new (...args: never[]) => infer Instance>;
}
  ? Instance
  : object;

/** A compiled module: `WebAssembly.Module`. */
export type WasmModule = Global<'Module'>;

/** A module's memory: `WebAssembly.Memory`. */
export type WasmMemory = Global<'Memory'>;

/** Bytes of a module. */
export type WasmBytes = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

/**
 * Compiles the core once for any number of instances.
 * @throws {AnyvmafError} 'internal' when the bytes are not a WebAssembly module or this runtime has no 128-bit SIMD.
 */
export async function compileCore(bytes: WasmBytes): Promise<WasmModule> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new AnyvmafError(
      'internal',
      'The WebAssembly core does not compile here; anyvmaf needs a runtime with WebAssembly SIMD (Node 20.19 or a ' +
        'browser of 2023 or later).',
      { cause },
    );
  }
}
