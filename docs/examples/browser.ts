import { configure, score } from 'anyvmaf';

/** To be called first where the bundler leaves `new URL(…, import.meta.url)` alone, as esbuild and Rollup do. */
export function namePlaces(): void {
  configure({
    wasm: '/anyvmaf/wasm/anyvmaf.wasm',
    perceptualWasm: '/anyvmaf/wasm/perceptual.wasm',
    models: '/anyvmaf/model/',
    worker: '/anyvmaf-worker.js',
  });
}

/** Scores two files a user has chosen; they are read in workers and uploaded nowhere. */
export async function compare(
  reference: File,
  distorted: File,
  signal: AbortSignal,
): Promise<number | undefined> {
  const report = await score({ reference, distorted }, { signal });
  return report.pooled_metrics.vmaf?.mean;
}
