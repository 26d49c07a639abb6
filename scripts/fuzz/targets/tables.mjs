/**
 * @module scripts/fuzz/targets/tables
 * ONNX models and Parquet tables.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { loadBuilt, ROOT } from '../../lib/project.mjs';
import { damageBytes } from '../mutate.mjs';

const FEATURES = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];

/** Models: the runtime opens those that pass the checks. */
export async function onnx() {
  const { checkOnnx } = await loadBuilt('tiny/onnx/check.js');
  const corpus = ['fr_vmaf_v0.6.1', 'fr_vmaf_v1.0.16_3d0h', 'nr_vmaf_v0.6.1'].map((name) =>
    readFileSync(join(ROOT, 'model/tiny', `${name}.onnx`)),
  );
  return {
    make: (random) => damageBytes(random, random.pick(corpus.slice(0, random.oneIn(10) ? 3 : 2)), corpus[0]),
    run: (input) => void checkOnnx(input, 'fuzz.onnx'),
  };
}

/** Tables, including their evaluation. */
export async function parquet() {
  const { evaluateModel } = await loadBuilt('index.js');
  const file = join(ROOT, 'model/tiny/fr_vmaf_v0.6.1.onnx');
  const rows = 40;
  const column = (name, type, value) => ({
    name,
    type,
    data: Array.from({ length: rows }, (_, i) => value(i)),
  });
  const table = (codec, extra = []) =>
    new Uint8Array(
      parquetWriteBuffer({
        codec,
        rowGroupSize: 16,
        columnData: [
          column('key', 'STRING', (i) => `source ${i % 7}`),
          column('mos', 'DOUBLE', (i) => 1 + (i % 5)),
          ...FEATURES.map((name, n) => column(name, 'DOUBLE', (i) => ((i * (n + 3)) % 17) / 17)),
          ...extra,
        ],
      }),
    );
  const corpus = [
    table('SNAPPY'),
    table('UNCOMPRESSED'),
    table('SNAPPY', [column('frame', 'INT32', (i) => i), column('clip', 'STRING', (i) => `c${i % 2}`)]),
  ];
  return {
    make: (random) => damageBytes(random, random.pick(corpus), corpus[1]),
    run: async (input) => void (await evaluateModel(file, input, { split: 'all' })),
  };
}
