/**
 * @module mcp/tools/vmaf-version
 * `vmaf_version`: which program and which core would score.
 */
import * as z from 'zod/v4';
import { defineTool, READ_ONLY } from '../tool.js';
import { backendFlags } from './list-backends.js';

/** The libvmaf whose numbers the core gives. */
const LIBVMAF = '3.2.0';

export const vmafVersion = defineTool({
  name: 'vmaf_version',
  title: 'Versions',
  description:
    'Says which installed vmaf program native backends would run, and the version of the built-in core.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    binary_path: z.string().nullable().describe('The installed program; null when there is none.'),
    version: z.string().nullable().describe('Of the installed program.'),
    build_flags: z.object(backendFlags).describe('cpu is true also without a program: the built-in core.'),
    error: z.string().nullable(),
    engine: z.object({
      name: z.string(),
      version: z.string(),
      libvmaf: z.string().describe('The libvmaf whose numbers the built-in core gives, to the last bit.'),
    }),
  }),
  annotations: READ_ONLY,
  async handler(_, { signal }) {
    const { describeNative, version } = await import('../../index.js');
    const { binary_path: path, version: installed, build_flags, error } = await describeNative({ signal });
    // An ffmpeg that was found without libvmaf is no vmaf.
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
