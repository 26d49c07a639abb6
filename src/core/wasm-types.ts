/**
 * @module core/wasm-types
 * Types of WebAssembly that the public declarations name. TypeScript declares them with the DOM library only, so that a
 * program without it gets plain objects in their place.
 */

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
