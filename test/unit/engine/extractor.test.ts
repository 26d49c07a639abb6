/**
 * @module test/unit/engine/extractor
 * The WebAssembly extractor beyond what one call of the core takes: more variants than fit are measured in groups.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileCore } from '../../../src/core/module.js';
import { wasmMeasurers } from '../../../src/engine/backends/core/extractor.js';
import { planOf } from '../../support/finish.js';
import { seeded } from '../../support/random.js';

const core = await compileCore(readFileSync(new URL('../../../wasm/anyvmaf.wasm', import.meta.url)));
const format = { width: 64, height: 48, bitDepth: 8, chroma: '400' } as const;

/** The record of one noisy pair. */
function measure(features: readonly string[]): Float64Array {
  const measurer = wasmMeasurers(core, 'simd128').open(planOf(features, format).extraction);
  const slot = measurer.slot(0);
  const random = seeded(7);
  slot.reference.y.set(random.bytes(64 * 48).map((v) => v >> 1));
  slot.distorted.y.set(seeded(7).bytes(64 * 48));
  const record = new Float64Array(measurer.layout.length);
  measurer.measure(slot, record, true);
  measurer.close();
  return record;
}

it.each([
  ['40 VIF gain limits', 'vif=vif_enhn_gain_limit', 40, [0, 15, 16, 39]],
  ['70 ADM parameter sets', 'adm=adm_enhn_gain_limit', 70, [0, 63, 64, 69]],
] as const)('measures %s as it measures each alone', (_, option, count, some) => {
  const features = Array.from({ length: count }, (__, i) => `${option}=${1 + i / 64}`);
  const all = measure(features);
  const fields = all.length / count;
  for (const i of some) {
    const alone = measure(features.slice(i, i + 1));
    expect(alone).toHaveLength(fields);
    expect(all.slice(i * fields, (i + 1) * fields)).toEqual(alone);
  }
  expect(all[0]).not.toBe(all[(count - 1) * fields]);
});
