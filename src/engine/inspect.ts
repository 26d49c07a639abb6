/**
 * @module engine/inspect
 * Inspects a pair without scoring it: preflight findings, and the offset between the two.
 */
import { holds, requireObject, wrongType } from '../core/arguments.js';
import { chooseDecoder } from '../media/decoders.js';
import { closeInput, openInput } from '../media/open.js';
import { checkMeasurable } from '../media/pair.js';
import type { AlignResult } from '../media/pairing/types.js';
import type { SideFacts } from '../media/preflight/findings.js';
import type { VideoInput } from '../media/types.js';
import { type CheckedOptions, checkOptions, checkRequest } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import { type InputContext, withScope } from './contract/scope.js';
import type {
  AlignOptions,
  DescribeVideoOptions,
  Inspection,
  InspectOptions,
  ScoreOptions,
  ScoreRequest,
} from './contract/types.js';
import { findOffset } from './inputs/few-frames.js';
import { identifyPair } from './inputs/open.js';
import { Preflight } from './inputs/preflight.js';
import { closePair, formatOf, type Pair, refuseTruncated, storedPair } from './pair/pair.js';
import { loadRequested } from './plan/plan.js';

/** What runs that score the pair know of it. */
interface Known extends Pick<InputContext, 'shared' | 'alignment'> {
  /** Frames that the run leaves out. */
  readonly cut?: Pick<CheckedOptions, 'skip' | 'frameCount'>;
}

/** Returns all findings; throws only if scoring cannot read the videos. @param known from runs that score them */
export async function inspectPair(
  platform: Platform,
  request: ScoreRequest,
  options: InspectOptions = {},
  known: Known = {},
): Promise<Inspection> {
  requireObject('options', options);
  return withPair(request, options, { ...known, platform }, async (pair, context) => {
    const { checked } = context;
    await refuseUnscorable(pair, checked);
    const size = () => pair.plan?.format ?? { width: 1920, height: 1080 };
    const requested = await loadRequested(checked, platform, size);
    // Preflight must not treat defaults as requested.
    const withoutDefaults = { ...checked, pairing: { ...checked.pairing, scale: options.scale } };
    const preflight = new Preflight({ ...context, checked: withoutDefaults }, pair, requested);
    preflight.readAgain();
    return preflight.inspection();
  });
}

/** Probes a video without decoding it. */
export async function describeVideo(
  platform: Platform,
  video: Extract<VideoInput, string | URL | Blob>,
  options: DescribeVideoOptions = {},
): Promise<SideFacts> {
  requireObject('options', options);
  const { signal, ...others } = options;
  if (!isStored(video)) throw wrongType('video', video, 'a path, a URL or a Blob');
  const { pairing } = checkOptions(others, 'look');
  return withScope(signal, async (scope) => {
    const urls = pairing.urls === true;
    const input = await openInput(video, {
      raw: undefined,
      platform: platform.files,
      decoding: { urls },
      signal: scope.signal,
    });
    scope.own({ close: () => closeInput(input) });
    if (!('kind' in input)) return { ...input.info, timestamps: null };
    const decoders = pairing.decoder === 'none' ? [] : await platform.decoders({ urls });
    const { facts } = await chooseDecoder(input, { choice: pairing.decoder, decoders, signal: scope.signal });
    return { ...facts, timestamps: null };
  });
}

/** Whether a video can be opened more than once. */
function isStored(video: unknown): boolean {
  if (typeof video === 'string') return video !== '-';
  return holds(() => video instanceof URL || video instanceof Blob);
}

/** @throws {AnyvmafError} as scoring before decoding: for a truncated file or too small pictures */
async function refuseUnscorable(pair: Pair, checked: CheckedOptions): Promise<void> {
  const { plan } = pair;
  checkMeasurable(formatOf(pair), checked.colours);
  if (plan) (await import('../media/pairing/prepare.js')).refuseCutOffs(plan);
  const stored = storedPair(pair);
  if (stored) await refuseTruncated(stored);
}

export async function alignPair(
  platform: Platform,
  request: ScoreRequest,
  options: AlignOptions = {},
): Promise<AlignResult> {
  requireObject('options', options);
  const { window, ...others } = options;
  return withPair(request, others, { platform }, ({ sides }, context) =>
    findOffset(context, sides, { assumed: 0, window }),
  );
}

async function withPair<T>(
  request: ScoreRequest,
  options: ScoreOptions,
  { cut, ...reading }: Known & Pick<InputContext, 'platform'>,
  use: (pair: Pair, context: InputContext) => Promise<T>,
): Promise<T> {
  const checked = { ...checkOptions({ scale: 'bicubic', ...options }, 'look'), ...cut };
  checkRequest(request);
  return withScope(options.signal, async (scope) => {
    const context = { ...reading, checked, signal: scope.signal };
    const pair = await identifyPair(request, context);
    scope.own({ close: () => closePair(pair) });
    return use(pair, context);
  });
}
