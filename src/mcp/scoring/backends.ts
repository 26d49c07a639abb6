/**
 * @module mcp/scoring/backends
 * What tools say of backends and of the installed program behind the native ones.
 */
import * as z from 'zod/v4';

/** One flag per backend, by the reference's names. */
export const backendFlags = {
  cpu: z.boolean(),
  cuda: z.boolean(),
  sycl: z.boolean(),
  hip: z.boolean(),
  metal: z.boolean(),
};

/** An installed program that contains libvmaf, or why there is none. */
export const programDocument = z.object({
  binary_path: z.string().nullable(),
  version: z.string().nullable(),
  build_flags: z.object(backendFlags),
  flavour: z.enum(['vmaf', 'ffmpeg', 'ffprobe']).nullable(),
  error: z.string().nullable(),
});
