import { configure, score } from 'anyvmaf';

/** Call this first if the bundler does not resolve `new URL(…, import.meta.url)`, such as esbuild and Rollup. */
export function namePlaces(): void {
  configure({
    wasm: '/anyvmaf/wasm/anyvmaf.wasm',
    perceptualWasm: '/anyvmaf/wasm/perceptual.wasm',
    models: '/anyvmaf/model/',
    worker: '/anyvmaf-worker.js',
    parserWorker: '/anyvmaf-parser.js',
  });
}

/** Scores two files that a user has chosen. They are read in workers and not uploaded. */
export async function compare(
  reference: File,
  distorted: File,
  signal: AbortSignal,
): Promise<number | undefined> {
  const report = await score({ reference, distorted }, { signal });
  return report.pooled_metrics.vmaf?.mean;
}
