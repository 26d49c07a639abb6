/**
 * @module score/preflight
 * Looks at a pair before its score is believed: at once what both declare, and beside the scoring what their pictures
 * show.
 */
import { AnyvmafError } from '../errors.js';
import type { AlignResult } from '../media/align/types.js';
import { reopen } from '../media/open.js';
import type { Side } from '../media/pairing/prepare.js';
import type { Finding, PreflightContext, SideFacts, SideMeasurements } from '../media/preflight/types.js';
import { preflight } from '../media/preflight.js';
import type { Platform } from '../platform/platform.js';
import { canReadAgain, type KnownInputs } from './inputs.js';
import type { CheckedOptions } from './options.js';
import type { Requested } from './plan.js';

/** A preflight under way. */
export interface Preflight {
  /** Everything found, once the pictures have been looked at. */
  findings(): Promise<readonly Finding[]>;
  /** What was found before the pictures were looked at, and what they showed. */
  inspection(): Promise<Inspection>;
  /** Stops looking. */
  close(): Promise<void>;
}

/** Two videos side by side, and what is to be said of them. */
export interface Inspection {
  readonly reference: SideFacts;
  readonly distorted: SideFacts;
  readonly findings: readonly Finding[];
  /** Where both videos could be read twice. */
  readonly alignment?: AlignResult;
}

/** Frames of each encoded video whose borders and sharpness are looked at. */
const MEASURED = 3;

/** Offsets tried to either side when nobody asked for a search: a second of most videos. */
const WINDOW = 25;

/** How to look. */
export interface PreflightOptions {
  /** Whether to look at the pictures too. */
  readonly look: boolean;
  /** Whether findings that stand against scoring are thrown. */
  readonly refuse: boolean;
  readonly signal: AbortSignal;
}

/**
 * Looks at what both videos declare, and starts to look at their pictures.
 * @throws {AnyvmafError} `mismatch` for what cannot be compared as asked; with `strict` for every warning too, after
 * the pictures have been looked at
 */
export async function startPreflight(
  platform: Platform,
  known: KnownInputs,
  requested: Pick<Requested, 'models'>,
  checked: CheckedOptions,
  { look: looks, refuse, signal }: PreflightOptions,
): Promise<Preflight> {
  const { sides, plan } = known;
  const { pairing } = checked;
  const reference = sideFacts(sides.reference);
  const distorted = sideFacts(sides.distorted);
  const offset = plan?.options.offset ?? 0;
  const context: PreflightContext = {
    models: requested.models.map(({ source }) => ({ name: source })),
    ...(pairing.scale && { scale: pairing.scale }),
    ...(plan && { comparedSize: { width: plan.format.width, height: plan.format.height } }),
    ...(pairing.frameRatePolicy && { frameRatePolicy: pairing.frameRatePolicy }),
    offset,
    partial:
      pairing.range !== undefined ||
      Number.isFinite(checked.frameCount) ||
      checked.skipReference + checked.skipDistorted > 0,
  };
  const declared = preflight(reference, distorted, context);
  if (refuse) refuseFindings(declared, ['error']);

  const stop = new AbortController();
  const pass = () => stop.abort(signal.reason);
  signal.addEventListener('abort', pass);
  const looking = look();
  looking.catch(() => {});
  const settled = looking.finally(() => signal.removeEventListener('abort', pass));
  settled.catch(() => {});

  async function look(): Promise<Inspection> {
    const again = canReadAgain(sides.reference) && canReadAgain(sides.distorted);
    if (!looks || !again) return { reference, distorted, findings: declared };
    const { findOffset } = await import('./alignment.js');
    const searching =
      known.alignment?.result ??
      findOffset(platform, sides, {
        skipReference: checked.skipReference,
        skipDistorted: checked.skipDistorted,
        assumed: offset,
        window: Math.max(WINDOW, 2 * Math.abs(offset)),
        signal: stop.signal,
      }).then(({ result }) => result);
    const found = await whatever(
      Promise.all([
        searching,
        measure(platform, sides.reference, stop.signal),
        measure(platform, sides.distorted, stop.signal),
      ]),
      stop.signal,
    );
    // Frames that cannot be read are for the run itself to report.
    if (!found) return { reference, distorted, findings: declared };
    const [alignment, first, second] = found;
    const facts = [
      { ...reference, measured: first },
      { ...distorted, measured: second },
    ] as const;
    const findings = preflight(facts[0], facts[1], { ...context, alignment });
    return { reference: facts[0], distorted: facts[1], findings, alignment };
  }

  if (refuse && pairing.strict) {
    const { findings } = await settled;
    refuseFindings(findings, ['error', 'warning']);
  }
  return {
    findings: async () => (await settled).findings,
    inspection: () => settled,
    async close() {
      stop.abort();
      await settled.catch(() => {});
    },
  };
}

/** What the work gives, or nothing when a video cannot be read; the signal's reason is thrown all the same. */
async function whatever<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AnyvmafError && error.code !== 'internal') return undefined;
    throw error;
  }
}

/** @throws {AnyvmafError} `mismatch` when there is a finding of one of the severities, naming all of them */
function refuseFindings(findings: readonly Finding[], severities: readonly Finding['severity'][]): void {
  const against = findings.filter(({ severity }) => severities.includes(severity));
  if (against.length === 0) return;
  const texts = against.map(({ message, fix }) => {
    if (fix === undefined) return message;
    return `${message} ${fix.startsWith('--') ? 'Pass' : 'Use'} ${fix}.`;
  });
  throw new AnyvmafError('mismatch', texts.join(' '));
}

function sideFacts(side: Side): SideFacts {
  const timestamps = side.times;
  return side.kind === 'encoded' ? { ...side.video.facts, timestamps } : { ...side.source.info, timestamps };
}

async function measure(platform: Platform, side: Side, signal: AbortSignal): Promise<SideMeasurements> {
  const { measureEncoded, measureLuma, spreadFrames } = await import('../media/preflight/measure.js');
  if (side.kind === 'encoded') {
    const { video, times } = side;
    const frames = spreadFrames(times?.length ?? video.facts.frameCount, MEASURED);
    const rate = video.facts.frameRate ? video.facts.frameRate.num / video.facts.frameRate.den : 25;
    const at = frames.map((frame) => times?.[frame] ?? frame / rate);
    const { openDecoded } = await import('../media/decoders.js');
    return measureEncoded((request) => openDecoded(video, request), video.facts, at, signal);
  }
  const { descriptor } = side.source;
  if (!descriptor) return { frames: [], sharpness: [], borders: null };
  const source = reopen(descriptor, platform.files);
  try {
    return await measureLuma(source, undefined, signal);
  } finally {
    await source.close();
  }
}
