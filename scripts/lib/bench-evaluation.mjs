/**
 * @module scripts/lib/bench-evaluation
 * Row `evaluation` of the benchmark: a tiny model on a table of 100,000 rows, with keys and without, from the file to the
 * intervals.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROWS = 100_000;
const KEYS = 200;
const FEATURES = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];

/**
 * @param tools the benchmark's folder, runs, load (a built module), median
 * @returns for each case, its name and the median of seconds with the spread
 */
export async function benchEvaluation({ folder, runs, load, median }) {
  const { DatasetWriter } = await load('evaluate/table/write.js');
  const { evaluateModel } = await load('index.js');
  const model = join(folder, 'linear.onnx');
  const table = join(folder, 'features.parquet');
  writeFileSync(model, linearModel([60, 10, 10, 5, 5, 0.5]));
  const writer = new DatasetWriter({ features: FEATURES, target: true, teacher: false });
  const pieces = [];
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  for (let frame = 0; frame < ROWS; frame++) {
    const values = FEATURES.map(next);
    const metrics = Object.fromEntries(FEATURES.map((name, i) => [name, values[i]]));
    const key = `clip_${frame % KEYS}`;
    const mos = Math.round(100 * (values[0] + 0.3 * values[5] + 0.2 * next())) / 100;
    const piece = writer.add({ key, clip: key, frame, mos, metrics });
    if (piece) pieces.push(piece);
  }
  writeFileSync(table, Buffer.concat([...pieces, writer.end()]));
  try {
    const rows = [];
    for (const [name, resamples] of [
      ['with intervals', undefined],
      ['without', 0],
    ]) {
      const seconds = [];
      // The first run loads the runtime.
      for (let run = 0; run <= runs; run++) {
        const start = performance.now();
        await evaluateModel(model, table, { split: 'all', ...(resamples !== undefined && { resamples }) });
        if (run > 0) seconds.push((performance.now() - start) / 1000);
      }
      const [low, high] = [Math.min(...seconds), Math.max(...seconds)];
      rows.push([
        `${ROWS} rows of ${KEYS} keys, ${name}`,
        `${median(seconds).toFixed(2)} s (${low.toFixed(2)} - ${high.toFixed(2)})`,
      ]);
    }
    return rows;
  } finally {
    rmSync(model, { force: true });
    rmSync(table, { force: true });
  }
}

/** An ONNX file with one matrix product, as Protocol Buffers with onnx.proto's field numbers. */
function linearModel(weights) {
  const varint = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]);
  const int = (field, value) => [...varint(field * 8), ...varint(value)];
  const bytes = (field, content) => [...varint(field * 8 + 2), ...varint(content.length), ...content];
  const text = (field, value) => bytes(field, [...Buffer.from(value)]);
  const port = (name, width) => [
    ...text(1, name),
    ...bytes(
      2,
      bytes(1, [...int(1, 1), ...bytes(2, [...bytes(1, text(2, 'N')), ...bytes(1, int(1, width))])]),
    ),
  ];
  const raw = Buffer.from(Float32Array.from(weights).buffer);
  const weight = [...int(1, weights.length), ...int(1, 1), ...int(2, 1), ...text(8, 'w'), ...bytes(9, raw)];
  const node = [...text(1, 'features'), ...text(1, 'w'), ...text(2, 'score'), ...text(4, 'MatMul')];
  const graph = [
    ...bytes(1, node),
    ...text(2, 'linear'),
    ...bytes(5, weight),
    ...bytes(11, port('features', weights.length)),
    ...bytes(12, port('score', 1)),
  ];
  return Uint8Array.from([...int(1, 8), ...bytes(7, graph), ...bytes(8, int(2, 17))]);
}
