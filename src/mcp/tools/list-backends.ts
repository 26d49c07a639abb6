/**
 * @module mcp/tools/list-backends
 * `list_backends`: the backends that can measure frames here.
 */
import * as z from 'zod/v4';
import { defineTool, READ_ONLY } from '../tool.js';

/** One flag per backend, by the reference's names. */
export const backendFlags = {
  cpu: z.boolean(),
  cuda: z.boolean(),
  sycl: z.boolean(),
  hip: z.boolean(),
  metal: z.boolean(),
};

/** An installed program that contains libvmaf, or the reason why none was found. */
const programDocument = z.object({
  binary_path: z.string().nullable(),
  version: z.string().nullable(),
  build_flags: z.object(backendFlags),
  flavour: z.enum(['vmaf', 'ffmpeg', 'ffprobe']).nullable(),
  error: z.string().nullable(),
});

export const listBackendsTool = defineTool({
  name: 'list_backends',
  title: 'List backends',
  description:
    'Says which backends can be asked for: cpu (built in), webgpu (a GPU, alone or as hybrid), cuda, sycl, hip and ' +
    'metal (of an installed vmaf). True means built with; probe_backend says whether it works. tiny lists devices of ' +
    'tiny ONNX models.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    ...backendFlags,
    details: z.array(
      z.object({
        backend: z
          .string()
          .describe('native-cpu is an installed libvmaf on the CPU; ask for it with native_cpu.'),
        compiled_in: z.boolean(),
        runs: z.string().nullable().describe('What would run.'),
        advice: z.string().nullable().describe('How to get it.'),
      }),
    ),
    native: programDocument,
    tiny: z
      .array(
        z.object({
          device: z.string(),
          available: z.boolean(),
          runtime: z.string().nullable(),
          adapter: z.string().nullable().describe('The GPU, where the platform says.'),
          advice: z.string().nullable().describe('How to get it.'),
        }),
      )
      .describe('Devices for tiny_device: available ones were tried, and work.'),
  }),
  annotations: READ_ONLY,
  async handler(_, { signal }) {
    const { listBackends, listTinyDevices } = await import('../../index.js');
    const { cpu, cuda, sycl, hip, metal, details, native } = await listBackends({ signal });
    const tiny = await listTinyDevices();
    return {
      document: {
        cpu,
        cuda,
        sycl,
        hip,
        metal,
        details: details.map((detail) => ({ ...detail })),
        native,
        tiny: tiny.map(({ device, available, runtime, adapter, how }) => ({
          device,
          available,
          runtime,
          adapter: adapter ?? null,
          advice: how ?? null,
        })),
      },
    };
  },
});
