/**
 * @module mcp/scoring/encoding-parameters
 * Parameters of the tools that encode a source.
 */
import * as z from 'zod/v4';
import { inputPath } from '../paths.js';

/** Options beside the parameter that is searched. */
export const encoderOptions = z
  .record(z.string().max(64), z.string().max(400))
  .default({})
  .describe('Such as {"preset": "slow"}.');

/** A source to encode, and what raw YUV does not say. */
export const encodingSource = {
  src: inputPath('The video to encode, or raw YUV.'),
  width: z.int().min(1).max(16384).describe('Width of raw YUV.').optional(),
  height: z.int().min(1).max(16384).describe('Height of raw YUV.').optional(),
  framerate: z.number().positive().max(1000).describe('Frame rate of raw YUV. Default 25.').optional(),
  pix_fmt: z
    .string()
    .max(32)
    .describe("Pixel format of raw YUV (default yuv420p) and of encodes (default: the source's).")
    .optional(),
};

/** Most seconds that a call may take. */
export const MOST_SECONDS = 7200;

/** What a call may take. */
export const callLimits = {
  max_seconds: z.int().min(1).max(MOST_SECONDS).default(900).describe('Seconds after which the work ends.'),
  max_encodes: z.int().min(1).describe('Encodes at most.').optional(),
  max_temp_gb: z.number().min(0.1).max(100).default(4).describe('Temporary gigabytes at most.'),
  dry_run: z.boolean().default(false).describe('Only say how many encodes it takes at most.'),
};

/** What a call may take, and how much of the source it encodes. */
export const encodingLimits = {
  full: z.boolean().default(false).describe('Encode the whole source, not samples.'),
  ...callLimits,
};
