import { configure, score } from 'anyvmaf';

// Only needed where a bundler moves the package's files without adapting their names.
configure({ wasm: new URL('anyvmaf/anyvmaf.wasm', import.meta.url) });

/** Scores two files a user has chosen; they are read in workers and uploaded nowhere. */
export async function compare(
  reference: File,
  distorted: File,
  signal: AbortSignal,
): Promise<number | undefined> {
  const report = await score({ reference, distorted }, { signal });
  return report.pooled_metrics.vmaf?.mean;
}
