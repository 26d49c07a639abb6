/**
 * @module test/unit/core/module
 * The loader of the WebAssembly core: what callers see when the module itself fails.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Compat } from '../../../src/core/choices.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import { Core, compileCore } from '../../../src/core/module.js';
import { planOf } from '../../support/finish.js';

const module = await compileCore(readFileSync(new URL('../../../wasm/anyvmaf.wasm', import.meta.url)));

const FORMAT = { width: 18, height: 20, bitDepth: 8, chroma: '400' } as const;

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
  const context = new Core(module).open(FORMAT, 'simd128');

  const picture = { serial: 1, planes: [{ address: NOWHERE, width: 18, height: 20 }] };
  const of = (feature: string, compat?: Compat) => {
    const [call] = planOf([feature], FORMAT, compat).extraction.calls;
    if (!call) throw new Error(`${feature} calls nothing`);
    context.setFrames({ reference: [picture, picture], distorted: [{ ...picture, serial: 2 }] });
    return context.run(call);
  };

  it.each([
    ['vif', () => of('vif')],
    ['motion', () => of('motion')],
    ['motion', () => of('motion', 'libvmaf-3.0')],
    ['psnr', () => of('psnr')],
    ['map of vif', () => context.vifMap(NOWHERE, NOWHERE, 100, 16, 16)],
    ['float_psnr', () => of('float_psnr')],
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
