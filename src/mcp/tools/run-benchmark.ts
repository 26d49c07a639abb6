/**
 * @module mcp/tools/run-benchmark
 * `run_benchmark`: times every backend that works here, and compares their numbers.
 */
import * as z from 'zod/v4';
import { defineTool, READ_ONLY } from '../tool.js';

const run = z.object({
  backend: z.string().describe('portable is the built-in core without SIMD, cpu the same with it.'),
  mean: z.number().nullable().describe('Mean VMAF; null where the run failed.'),
  seconds: z.number().nullable().describe('Wall-clock time of the whole call.'),
  fps: z.number().nullable(),
  max_difference: z
    .number()
    .nullable()
    .describe(
      "Largest difference of a frame's VMAF from the portable result; 0 is the same to the last bit.",
    ),
  max_difference_frame: z.int().nullable(),
  identical: z
    .boolean()
    .nullable()
    .describe('Whether every metric of every frame is the same to the last bit.'),
  error: z.string().nullable(),
});

export const runBenchmarkTool = defineTool({
  name: 'run_benchmark',
  title: 'Time the backends',
  description:
    'Scores three generated pairs (576x324 to 3840x2160) with every backend that works here: mean score, frames per second ' +
    'and largest difference from the portable result. Occupies the machine for half a minute or more.',
  inputSchema: z.object({
    full: z
      .boolean()
      .default(false)
      .describe('All 200 frames of the 3840x2160 pair: minutes, and 5 GB of temporary files.'),
    shapes: z
      .array(z.enum(['576x324', '1920x1080', '3840x2160']))
      .min(1)
      .describe('Only these pairs.')
      .optional(),
  }),
  outputSchema: z.object({
    exit_code: z.int().describe('0, or 1 when a backend failed or the core is not what it should be.'),
    stdout: z.string().describe('The result as tables.'),
    stderr: z.string().describe('What went wrong, a line each.'),
    tests: z.array(
      z.object({
        name: z.string(),
        width: z.int(),
        height: z.int(),
        frames: z.int(),
        runs: z.array(run),
      }),
    ),
    skipped: z
      .array(z.object({ backend: z.string(), reason: z.string() }))
      .describe('Backends that do not work here.'),
    machine: z.object({ cpu: z.string(), cores: z.int(), platform: z.string(), node: z.string() }),
    threads: z.int().describe('Worker threads of the core at most.'),
    model: z.string(),
  }),
  annotations: { ...READ_ONLY, idempotentHint: false },
  async handler({ full, shapes }, { pool, signal, progress }) {
    const { benchData, benchOutput } = await import('../../bench/table.js');
    const reports = process.env.VMAF_BENCH_OUTDIR || undefined;
    const result = await pool.run(null, ({ threads, api }) =>
      api.runBenchmark({ full, maxThreads: threads, signal, onProgress: progress, shapes, reports }),
    );
    const { exitCode: exit_code, stdout, stderr } = benchOutput(result);
    // The tables say the same.
    return { document: { exit_code, stdout, stderr, ...benchData(result) }, spare: ['tests', 'skipped'] };
  },
});
