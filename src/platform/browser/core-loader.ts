/**
 * @module platform/browser/core-loader
 * Fetches and compiles a WebAssembly module; loaded with the first run.
 */
import { compileCore } from '../../core/compile.js';
import { AnyvmafError } from '../../core/errors.js';
import type { Assets } from '../../engine/contract/platform.js';

/**
 * @param asset what `configure` calls it
 * @throws {AnyvmafError} `io` if it cannot be fetched, `internal` if it does not compile
 */
export async function loadCore(
  wasm: NonNullable<Assets['wasm']>,
  asset: 'wasm' | 'perceptualWasm',
): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (typeof wasm !== 'string' && !(wasm instanceof URL)) return compileCore(wasm);
  const failed = (why: string, cause?: unknown) =>
    new AnyvmafError(
      'io',
      `The WebAssembly module ${wasm} cannot be fetched${why}; name it with configure({ ${asset} }).`,
      { cause },
    );
  const response = await fetch(wasm).catch((cause) => {
    throw failed('', cause);
  });
  if (!response.ok) throw failed(`, the server answered ${response.status}`);
  return compileCore(await response.arrayBuffer());
}
