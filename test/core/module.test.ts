/**
 * @module test/core/module
 * The loader of the WebAssembly core: what callers see when the module itself fails.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../src/core/errors.js';
import { Core, compileCore } from '../../src/core/module.js';

const module = await compileCore(readFileSync(new URL('../../wasm/anyvmaf.wasm', import.meta.url)));

/** An address behind the end of the module's memory: whoever reads there traps. */
const NOWHERE = 0xffff_0000;

function failureOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe('a trap of the core', () => {
  const context = new Core(module).open({ width: 18, height: 20, bitDepth: 8, chroma: '400' }, 'simd128');

  it.each([
    ['vif', () => context.vif(NOWHERE, NOWHERE, [100], 0)],
    ['motion', () => context.motion(NOWHERE, NOWHERE, false)],
    ['motion', () => context.motion(NOWHERE, NOWHERE, true)],
    ['psnr', () => context.sse(NOWHERE, NOWHERE, 360)],
    ['map of vif', () => context.vifMap(NOWHERE, NOWHERE, 100, 16, 16)],
    [
      'float_psnr',
      () => {
        const picture = { serial: 1, planes: [{ address: NOWHERE, width: 18, height: 20 }] };
        const [reference, distorted] = [picture, { ...picture, serial: 2 }];
        context.setFrames({
          reference,
          distorted,
          earlierReference: undefined,
          earlierDistorted: undefined,
        });
        return context.metric({ metric: 'float_psnr', options: [], chroma: false });
      },
    ],
  ])('becomes an internal error that names %s, the size, and asks for a report', (metric, run) => {
    const error = failureOf(run);
    expect(error).toBeInstanceOf(AnyvmafError);
    expect(error).toMatchObject({ code: 'internal' });
    expect(String(error)).toContain(
      `failed on ${metric} of 18x20 pictures of 8 bits (memory access out of bounds)`,
    );
    expect(String(error)).toContain('please report it');
  });
});
