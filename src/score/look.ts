/**
 * @module score/look
 * Looks at a pair without scoring it: what preflight finds, and the offset between the two.
 */
import { requireObject } from '../arguments.js';
import type { AlignResult } from '../media/align/types.js';
import type { Platform } from '../platform/platform.js';
import { findOffset } from './alignment.js';
import { closeKnown, type KnownInputs, knowInputs } from './inputs.js';
import { checkOptions, checkRequest, LOOK_OPTIONS } from './options.js';
import { loadRequested } from './plan.js';
import { type Inspection, Preflight } from './preflight.js';
import type { AlignOptions, InspectOptions, ScoreOptions, ScoreRequest } from './types.js';

/** Everything preflight finds. The videos are not refused, whatever it is. */
export async function inspectPair(
  platform: Platform,
  request: ScoreRequest,
  options: InspectOptions,
): Promise<Inspection> {
  requireObject('options', options);
  const checked = checkOptions({ scale: 'bicubic', ...options }, LOOK_OPTIONS);
  return known(platform, request, { scale: 'bicubic', ...options }, async (inputs, signal) => {
    const size = () => inputs.plan?.format ?? { width: 1920, height: 1080 };
    const requested = await loadRequested(checked, platform, size);
    // What the caller did not ask for is not what preflight should take as asked for.
    const asked = { ...checked, pairing: { ...checked.pairing, scale: options.scale } };
    const looking = new Preflight(platform, inputs, requested, asked);
    looking.look(signal);
    try {
      return await looking.inspection();
    } finally {
      await looking.close();
    }
  });
}

/** The offset at which two videos show the same pictures. */
export async function alignPair(
  platform: Platform,
  request: ScoreRequest,
  options: AlignOptions,
): Promise<AlignResult> {
  requireObject('options', options);
  const { window, ...others } = options;
  return known(platform, request, { scale: 'bicubic', ...others }, async ({ sides }, signal) => {
    const found = await findOffset(platform, sides, {
      skipReference: 0,
      skipDistorted: 0,
      assumed: 0,
      ...(window !== undefined && { window }),
      signal,
    });
    return found.result;
  });
}

/** Runs `use` on inputs that are known, and closes them. */
async function known<T>(
  platform: Platform,
  request: ScoreRequest,
  options: ScoreOptions,
  use: (inputs: KnownInputs, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  checkRequest(request);
  signal?.throwIfAborted();
  const ending = new AbortController();
  const pass = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', pass);
  let inputs: KnownInputs | undefined;
  try {
    inputs = await knowInputs(platform, request, checkOptions(options, LOOK_OPTIONS), ending.signal);
    return await use(inputs, ending.signal);
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', pass);
    ending.abort();
    if (inputs) await closeKnown(inputs);
  }
}
