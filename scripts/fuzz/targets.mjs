/**
 * @module scripts/fuzz/targets
 * Every entry point for untrusted bytes. A target sets up once, makes an input from random numbers and runs it. It returns
 * nothing if the input was accepted, a sentence if the result is wrong, and throws what the entry point throws.
 *
 * `inputs` is the number per process before it is restarted; `short` the number in `npm test`.
 */

const text = () => import('./targets/text.mjs');
const tables = () => import('./targets/tables.mjs');
const videos = () => import('./targets/videos.mjs');
const mcp = () => import('./targets/mcp.mjs');
const args = () => import('./targets/arguments.mjs');
const core = () => import('./targets/core.mjs');

/** Containers through one decoder, `CONTAINER-DECODER`; `short` by container. */
function decoders(decoder, inputs, short) {
  const target = (container) => ({
    load: videos,
    name: 'encoded',
    given: [container, decoder],
    short: short[container],
    inputs,
  });
  return Object.fromEntries(
    Object.keys(short).map((container) => [`${container}-${decoder}`, target(container)]),
  );
}

export const TARGETS = {
  y4m: { load: videos, name: 'y4m', short: 6000 },
  raw: { load: videos, name: 'raw', short: 1500 },
  'model-json': { load: text, name: 'modelJson', short: 12_000 },
  libsvm: { load: text, name: 'libsvm', short: 6000 },
  'feature-string': { load: text, name: 'featureString', short: 3000 },
  'model-string': { load: text, name: 'modelString', short: 1500 },
  'command-line': { load: text, name: 'commandLine', short: 3000 },
  report: { load: text, name: 'report', short: 500 },
  sidecar: { load: text, name: 'sidecar', short: 1500 },
  'pairs-list': { load: text, name: 'pairsList', short: 1500 },
  onnx: { load: tables, name: 'onnx', short: 200 },
  parquet: { load: tables, name: 'parquet', short: 60, inputs: 2000 },
  'mcp-lines': { load: mcp, name: 'lines', short: 300, inputs: 5000 },
  'mcp-arguments': { load: mcp, name: 'callArguments', short: 300, inputs: 5000 },
  'hostile-arguments': { load: args, name: 'hostileArguments', short: 200, inputs: 500 },
  simd: { load: core, name: 'simd', short: 40, inputs: 2000 },
  ...decoders('mediabunny', 500, { mp4: 15, mkv: 15, webm: 8, ts: 8 }),
  ...decoders('ffmpeg', 500, { mp4: 4, mkv: 4, webm: 2, ts: 4 }),
  ...decoders('wasm', 300, { mp4: 2, mkv: 2, webm: 1, ts: 1 }),
};

/** @returns {Promise<{ make(random): unknown, run(input): unknown, close?(): void }>} */
export async function openTarget(name) {
  const { load, name: made, given = [] } = TARGETS[name];
  return (await load())[made](...given);
}
