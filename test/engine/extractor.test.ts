/**
 * @module test/engine/extractor
 * The WebAssembly extractor beyond what one call of the core takes: more variants than fit are measured in groups.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileCore } from '../../src/core/module.js';
import { wasmMeasurers } from '../../src/engine/backends/core/extractor.js';
import { ADM_FIELDS, type ExtractionPlan, VIF_FIELDS } from '../../src/engine/backends/types.js';
import { seeded } from '../support/random.js';

const core = await compileCore(readFileSync(new URL('../../wasm/anyvmaf.wasm', import.meta.url)));
const format = { width: 64, height: 48, bitDepth: 8, chroma: '400' } as const;

/** The record of one noisy pair. */
function measure(plan: Pick<ExtractionPlan, 'vif' | 'adm'>): Float64Array {
  const measurer = wasmMeasurers(core, 'simd128').open({
    format,
    motion: [],
    psnrPlanes: 0,
    metrics: [],
    ...plan,
  });
  const slot = measurer.slot(0);
  const random = seeded(7);
  slot.reference.y.set(random.bytes(64 * 48).map((v) => v >> 1));
  slot.distorted.y.set(seeded(7).bytes(64 * 48));
  const record = new Float64Array(measurer.layout.length);
  measurer.measure(slot, record, true);
  measurer.close();
  return record;
}

const gain = (i: number): number => 1 + i / 64;
const vifVariant = (i: number) => ({ enhnGainLimit: gain(i), skipScale0: false });
const admVariant = (i: number) => ({
  enhnGainLimit: gain(i),
  noiseWeight: 0.03125,
  normViewDist: 3,
  refDisplayHeight: 1080,
  csfMode: 0,
  csfScale: 1,
  csfDiagScale: 1,
  skipAim: false,
  skipScale0: false,
});

it('measures 40 VIF gain limits as it measures each alone', () => {
  const all = measure({ vif: Array.from({ length: 40 }, (_, i) => vifVariant(i)), adm: [] });
  for (const i of [0, 15, 16, 39]) {
    const alone = measure({ vif: [vifVariant(i)], adm: [] });
    expect(all.slice(i * VIF_FIELDS, (i + 1) * VIF_FIELDS)).toEqual(alone);
  }
  expect(all[0]).not.toBe(all[39 * VIF_FIELDS]);
});

it('measures 70 ADM parameter sets as it measures each alone', () => {
  const all = measure({ vif: [], adm: Array.from({ length: 70 }, (_, i) => admVariant(i)) });
  for (const i of [0, 63, 64, 69]) {
    const alone = measure({ vif: [], adm: [admVariant(i)] });
    expect(all.slice(i * ADM_FIELDS, (i + 1) * ADM_FIELDS)).toEqual(alone);
  }
  expect(all[0]).not.toBe(all[69 * ADM_FIELDS]);
});
