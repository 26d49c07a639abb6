/**
 * @module mcp/tools/backends
 * `list_backends`, `probe_backend`, `run_benchmark`, `vmaf_version` and `list_extractors`: backends and extractors.
 */
import * as z from 'zod/v4';
import { GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { each, flag, rows, textOrNull, texts, value, wholeOrNull } from '../schemas.js';
import { BACKENDS } from '../scoring/parameters.js';
import { defineTool, READ_ONLY } from '../tool.js';
import { inShort } from '../wording.js';

/** A flag for each backend of the reference MCP server. */
const backendFlags = { ...each(z.boolean(), 'cpu', 'cuda', 'sycl', 'hip', 'metal') };

/** An installed program with libvmaf, or why there is none. */
const programDocument = z.object({
  ...each(textOrNull, 'binary_path', 'version'),
  build_flags: z.object(backendFlags),
  flavour: z.enum(['vmaf', 'ffmpeg', 'ffprobe']).nullable(),
  error: textOrNull,
});

export const listBackendsTool = defineTool({
  name: 'list_backends',
  title: 'List backends',
  description:
    'Lists backends: cpu (built in), webgpu (a GPU; hybrid: GPU and CPU together), cuda, sycl, hip and metal (of an ' +
    'installed vmaf). true: compiled in; probe_backend tests whether it works. tiny lists devices for tiny ONNX models.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    ...backendFlags,
    details: rows({
      backend: z.string().describe('native-cpu: an installed libvmaf on the CPU, selected by native_cpu.'),
      compiled_in: z.boolean(),
      runs: textOrNull.describe('Program or core that would run.'),
      advice: textOrNull.describe('How to make it available.'),
    }),
    native: programDocument,
    tiny: rows({
      device: z.string(),
      available: z.boolean(),
      runtime: textOrNull,
      adapter: textOrNull.describe('GPU, if known.'),
      advice: textOrNull.describe('How to make it available.'),
    }).describe('Devices for tiny_device; those available were tested and work.'),
  }),
  async handler(_, { signal }) {
    const { listBackends, listTinyDevices } = await import('../../index.js');
    const { webgpu: _webgpu, native_cpu: _native, ...backends } = await listBackends({ signal });
    const tiny = (await listTinyDevices()).map(
      ({ device, available, runtime, adapter = null, how = null }) => {
        return { device, available, runtime, adapter, advice: how };
      },
    );
    return { document: { ...backends, tiny } };
  },
});

const adapterDocument = z.object({
  ...each(z.string(), 'vendor', 'architecture', 'device', 'description'),
  software: z.boolean().describe('A software renderer: correct, but slow.'),
});

export const probeBackendTool = defineTool({
  name: 'probe_backend',
  title: 'Probe a backend',
  description:
    'Scores one 64x64 grey frame against itself on a backend, to tell "compiled in" from "driver present and working". ' +
    'error has the reason of a failure.',
  inputSchema: z.object({ backend: z.enum(BACKENDS).describe('cpu is the built-in core.') }),
  outputSchema: z.object({
    backend: z.enum(BACKENDS),
    ...each(z.boolean(), 'compiled_in', 'runtime_healthy'),
    latency_ms: value,
    score: value.describe('Near 100 if the backend works.'),
    error: textOrNull,
    adapter: adapterDocument.optional().describe('For webgpu and hybrid: the GPU in use.'),
  }),
  async handler({ backend }, { pool, signal }) {
    const { probeBackend } = await import('../../index.js');
    const health = await pool.run(1, () => probeBackend(backend, { signal }));
    const { latency_ms: latency } = health;
    return { document: { ...health, backend, latency_ms: latency && Number(latency.toFixed(1)) } };
  },
});

/** The libvmaf whose numbers the core reproduces. */
const LIBVMAF = '3.2.0';

export const vmafVersion = defineTool({
  name: 'vmaf_version',
  title: 'Show versions',
  description:
    'Shows which installed vmaf program native backends would run, and the version of the built-in core.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    binary_path: textOrNull.describe('The installed program; null if none was found.'),
    version: textOrNull.describe('Version of the installed program.'),
    build_flags: z.object(backendFlags).describe('cpu is always true: the built-in core.'),
    error: textOrNull,
    engine: z.object({
      ...each(z.string(), 'name', 'version'),
      libvmaf: z
        .string()
        .describe('The libvmaf version whose scores the built-in core reproduces bit for bit.'),
    }),
  }),
  async handler(_, { signal }) {
    const { describeNative, version } = await import('../../index.js');
    const { binary_path: path, version: installed, build_flags, error } = await describeNative({ signal });
    // An ffmpeg without libvmaf does not count.
    const isVmaf = installed !== null || !/(^|[\\/])ffmpeg(\.exe)?$/i.test(path ?? '');
    return {
      document: {
        binary_path: isVmaf ? path : null,
        version: installed,
        build_flags: { ...build_flags, cpu: true },
        error,
        engine: { name: 'anyvmaf', version, libvmaf: LIBVMAF },
      },
    };
  },
});

const run = z.object({
  backend: z.string().describe('portable: the built-in core without SIMD; cpu: with SIMD.'),
  mean: value.describe('Mean VMAF; null if the run failed.'),
  seconds: value.describe('Wall-clock time of the whole call.'),
  fps: value,
  max_difference: value.describe(
    "Largest difference of a frame's VMAF from the portable result; 0: equal to the last bit.",
  ),
  max_difference_frame: wholeOrNull,
  identical: z
    .boolean()
    .nullable()
    .describe('Whether every metric of every frame equals the portable result to the last bit.'),
  error: textOrNull,
});

export const runBenchmarkTool = defineTool({
  name: 'run_benchmark',
  title: 'Benchmark backends',
  description:
    'Scores three generated pairs (576x324 to 3840x2160) with every working backend: mean score, frames per second and ' +
    'largest difference from the portable result. Occupies the machine for half a minute or more.',
  inputSchema: z.object({
    full: flag('Score all 200 frames of the 3840x2160 pair: takes minutes and 5 GB of temporary files.'),
    shapes: z
      .array(z.enum(['576x324', '1920x1080', '3840x2160']))
      .min(1)
      .describe('Pairs to score. Default: all.')
      .optional(),
  }),
  outputSchema: z.object({
    exit_code: z.int().describe('1 if a backend failed or cpu differs from portable, else 0.'),
    stdout: z.string().describe('The results as tables.'),
    stderr: z.string().describe('Errors, one per line.'),
    tests: rows({ name: z.string(), width: z.int(), height: z.int(), frames: z.int(), runs: z.array(run) }),
    skipped: rows({ backend: z.string(), reason: z.string() }).describe(
      'Backends that do not work on this machine.',
    ),
    machine: z.object({ cpu: z.string(), cores: z.int(), platform: z.string(), node: z.string() }),
    threads: z.int().describe('Maximum worker threads of the core.'),
    model: z.string(),
  }),
  annotations: { ...READ_ONLY, idempotentHint: false },
  async handler({ full, shapes }, { pool, signal, progress }) {
    const { benchOutput } = await import('../../bench/run.js');
    const reports = process.env.VMAF_BENCH_OUTDIR || undefined;
    const result = await pool.run(null, ({ threads, api }) =>
      api.runBenchmark({ full, maxThreads: threads, signal, onProgress: progress, shapes, reports }),
    );
    const { exitCode: exit_code, stdout, stderr } = benchOutput(result);
    // The tables say the same.
    return { document: { exit_code, stdout, stderr, ...result }, spare: ['tests', 'skipped'] };
  },
});

export const listExtractorsTool = defineTool({
  name: 'list_extractors',
  title: 'List feature extractors',
  description:
    'Lists the feature extractors of the built-in core with their options and the features they emit. To measure one, pass ' +
    'it as feature to vmaf_score or vmaf_score_encoded.',
  inputSchema: z.object({
    name: z.string().max(64).describe('List only this extractor, in full.').optional(),
  }),
  outputSchema: z.object({
    extractors: z.array(
      z.looseObject({
        name: z.string(),
        backend: z.enum(['cpu', ...GPU_BACKENDS]),
        source: z.string().describe('Its source file.'),
        description: z.string(),
        options: rows({
          name: z.string(),
          type: z.enum(['bool', 'int', 'double', 'choice', 'folder']),
          default: z.union([z.boolean(), z.number(), z.string()]),
          choices: z.array(z.string()).optional(),
          ...each(z.number().optional(), 'min', 'max'),
          description: z.string(),
        }),
        features: texts.describe('Names in reports, including those of options that are off by default.'),
      }),
    ),
  }),
  async handler({ name: wanted }) {
    const { listExtractors } = await import('../../index.js');
    const all = listExtractors();
    const listed = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
    if (listed.length === 0) {
      const names = all.map(({ name }) => name).join(', ');
      throw usageError(`Unknown extractor ${quoted(wanted ?? '', 60)}; available: ${names}.`);
    }
    return {
      document: {
        extractors: listed.map(({ name, source, description, options, features }) => ({
          name,
          backend: 'cpu' as const,
          source,
          description: wanted === undefined ? inShort(description) : description,
          options: options.map(({ alias: _, near: _near, inName: _inName, max, ...option }) => {
            return { ...option, max: max === Number.MAX_VALUE ? undefined : max };
          }),
          features: features.map(({ alias }) => alias),
        })),
      },
      spare: ['options', 'features', 'source', 'backend'].map((key) => `extractors.[].${key}`),
    };
  },
});
