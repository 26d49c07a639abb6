/**
 * @module engine/inputs/inputs
 * From two inputs of any kind to two sources whose n-th frames belong together. Decoders and all that pairing needs are
 * loaded only when a pair is not simply two Y4M or raw videos of one format.
 */

import type { VideoFormat } from '../../core/frame.js';
import { alignState } from '../../media/align/types.js';
import { checkPair, closeInput, type OpenedInput, openInputs } from '../../media/pair.js';
import type { OpenDecoder, PairingPlan, Side, Sides } from '../../media/pairing/prepare.js';
import type { Pairing } from '../../media/pairing/types.js';
import type { Finding } from '../../media/preflight/types.js';
import type { FrameSource } from '../../media/types.js';
import type { ReportInput } from '../../report/types.js';
import type { CheckedOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import type { ScoreRequest } from '../contract/types.js';
import type { Alignment } from './alignment.js';
import { findingsOfBytes } from './byte-findings.js';
import type { OpenPair } from './pair.js';
import type { ReferenceLooks } from './shared-inspection.js';

/** Two inputs that are known but not yet open for scoring. */
export interface KnownInputs {
  readonly sides: Sides;
  /** From opening what is not encoded. */
  readonly warnings: readonly string[];
  /** Absent where frames are compared as stored, by number. */
  readonly plan?: PairingPlan;
  /** What the bytes of both say: that they are the same, and against the geometry of raw video. */
  readonly ofBytes?: readonly Finding[];
  /** What the search for the offset found, where it was asked for. */
  readonly alignment?: Alignment;
}

/** A pair ready to be measured. */
export interface ReadyInputs extends OpenPair {
  /** Pairs at most, `Infinity` for all. */
  readonly limit: number;
  /** What was done to the frames, where anything was. */
  describe?(pairs: number): Pairing;
}

/**
 * Finds out what the inputs are and how they go together.
 * @param signal ends decoders that are asked; its reason is thrown then
 * @param looks at the reference, where other runs do too
 * @throws {AnyvmafError} as the public `score` says
 */
export async function knowInputs(
  platform: Platform,
  request: ScoreRequest,
  checked: CheckedOptions,
  signal: AbortSignal,
  looks?: ReferenceLooks,
): Promise<KnownInputs> {
  const { pairing } = checked;
  if (checked.noReference) {
    const { knowAlone } = await import('./no-reference.js');
    return knowAlone(platform, request, checked, signal);
  }
  if (request.reference === undefined) throw new Error('a pair needs a reference');
  const inputs = await openInputs(request.reference, request.distorted, {
    raw: request.raw,
    platform: platform.files,
    decoding: { allowUrl: pairing.allowUrl },
    partialFrame: pairing.allowDamaged ? 'drop' : 'refuse',
    signal,
  });
  try {
    const [reference, distorted] = inputs;
    const ofBytes = pairing.preflight ? await findingsOfBytes(inputs, platform.files) : [];
    const sized = pairing.scale !== undefined || pairing.scaleTo !== undefined;
    const asked =
      sized || pairing.frameRatePolicy !== undefined || pairing.range !== undefined || pairing.offset !== 0;
    const encoded = 'kind' in reference || 'kind' in distorted;
    if (encoded || asked || (pairing.commonBitDepth && reference.info.bitDepth !== distorted.info.bitDepth)) {
      return { ...(await pairUp(platform, inputs, sized, checked, signal, looks)), ofBytes };
    }
    const warnings = checkPair(reference.info, distorted.info);
    const side = (source: FrameSource): Side => ({ kind: 'frames', source, times: null });
    return { sides: { reference: side(reference), distorted: side(distorted) }, warnings, ofBytes };
  } catch (error) {
    await Promise.all(inputs.map(closeInput));
    throw error;
  }
}

/** The way of everything that is encoded, or differs, or is asked to be brought together. */
async function pairUp(
  platform: Platform,
  inputs: readonly [OpenedInput, OpenedInput],
  sized: boolean,
  checked: CheckedOptions,
  signal: AbortSignal,
  looks?: ReferenceLooks,
): Promise<KnownInputs> {
  const { pairing, skipReference, skipDistorted, frameCount } = checked;
  const { knowSides } = await import('./sides.js');
  const { planPairing } = await import('../../media/pairing/prepare.js');
  const sides = await knowSides(platform, inputs, pairing, signal);
  const { reference, distorted } = sides;
  const stored = reference.kind === 'frames' && distorted.kind === 'frames';
  const warnings =
    stored && !sized ? checkPair(reference.source.info, distorted.source.info, pairing.commonBitDepth) : [];
  if (!(stored && !sized)) {
    for (const side of [reference, distorted])
      if (side.kind === 'frames') warnings.push(...side.source.info.warnings);
  }
  let alignment: Alignment | undefined;
  if (pairing.offset === 'auto') {
    const { findOffset } = await import('./alignment.js');
    alignment = await findOffset(platform, sides, {
      skipReference,
      skipDistorted,
      assumed: 0,
      window: pairing.window,
      looks,
      signal,
    });
  }
  if (!pairing.preflight) warnings.push(...(await setBackWarnings({ reference, distorted })));
  if (alignment?.result.ambiguous && !pairing.preflight) {
    const { doubtText } = await import('../../media/preflight/timing.js');
    warnings.push(doubtText(alignment.result));
  }
  const offset = pairing.offset === 'auto' ? (alignment?.result.offset ?? 0) : pairing.offset;
  // Y4M and raw video go by number, as libvmaf has it, unless times are asked for.
  const timed = !stored || pairing.frameRatePolicy !== undefined;
  const plan = planPairing(timed ? sides : untimed(sides), {
    scale: pairing.scale ?? 'bicubic',
    scaleTo: pairing.scaleTo ?? 'ref',
    frameRatePolicy: pairing.frameRatePolicy ?? 'nearest',
    offset,
    offsetRequested: pairing.offset,
    ...(alignment && {
      offsetConfidence: alignment.result.confidence,
      offsetState: alignState(alignment.result),
    }),
    ...(pairing.range && { range: pairing.range }),
    skipReference,
    skipDistorted,
    frameCount,
    allowDamaged: pairing.allowDamaged,
    signal,
  });
  return { sides, warnings, plan, ...(alignment && { alignment }) };
}

/** What preflight says of a clock that is set back, where nothing asks it. @param sides by what to call them */
export async function setBackWarnings(sides: Readonly<Record<string, Side>>): Promise<string[]> {
  const jumping = Object.entries(sides).flatMap(([who, side]) =>
    side.kind === 'encoded' && side.setBacks
      ? [[who, { setBacks: side.setBacks, timestamps: side.times }] as const]
      : [],
  );
  if (jumping.length === 0) return [];
  const { setBackText } = await import('../../media/preflight/timing.js');
  const text = setBackText(Object.fromEntries(jumping));
  return text === undefined ? [] : [`${text.charAt(0).toUpperCase()}${text.slice(1)}`];
}

function untimed({ reference, distorted }: Sides): Sides {
  return { reference: { ...reference, times: null }, distorted: { ...distorted, times: null } };
}

/**
 * Opens decoders, where there are any to open.
 * @param open opens them instead of the usual way
 */
export async function readyInputs(
  known: KnownInputs,
  checked: CheckedOptions,
  open?: OpenDecoder,
): Promise<ReadyInputs> {
  const { plan, sides } = known;
  if (plan) {
    const { openPlanned } = await import('../../media/pairing/prepare.js');
    const prepared = await openPlanned(plan, open);
    return { ...prepared, limit: plan.count ?? checked.frameCount };
  }
  const { reference, distorted } = sides;
  if (reference.kind !== 'frames' || distorted.kind !== 'frames')
    throw new Error('a plan is needed to decode');
  const { skipReference, skipDistorted, frameCount } = checked;
  return {
    reference: reference.source,
    distorted: distorted.source,
    skipReference,
    skipDistorted,
    limit: frameCount,
  };
}

/** The format in which the pair is measured. */
export function formatOf({ plan, sides: { reference } }: KnownInputs): VideoFormat {
  if (plan) return plan.format;
  if (reference.kind !== 'frames') throw new Error('a plan is needed to decode');
  return reference.source.info;
}

/** Closes what {@link knowInputs} left open. */
export async function closeKnown({ sides }: KnownInputs): Promise<void> {
  for (const side of [sides.reference, sides.distorted]) {
    if (side.kind === 'frames') await side.source.close();
  }
}

/**
 * What the report says of one input.
 * @param skipped frames before the first that is scored
 * @param counted frames, where only reading to the end told
 */
export function reportInput(side: Side, skipped: number, counted: number | null): ReportInput {
  const info = side.kind === 'frames' ? side.source.info : side.video.facts;
  const { name, container, width, height, bitDepth, chroma, frameRate } = info;
  const fileSize = side.kind === 'frames' ? side.source.info.fileSize : null;
  const frameCount = side.times?.length ?? info.frameCount ?? counted;
  return {
    name,
    container,
    width,
    height,
    bitDepth,
    chroma,
    frameCount,
    skipped,
    ...(frameRate && { frameRate }),
    ...(typeof fileSize === 'number' && { fileSize }),
  };
}

/** Whether the first frames of a side can be read without disturbing who reads it besides. */
export function canReadAgain(side: Side): boolean {
  return side.kind === 'encoded' || side.source.descriptor !== undefined;
}
