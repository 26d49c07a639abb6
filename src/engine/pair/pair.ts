/**
 * @module engine/pair/pair
 * Two open videos as one sequence of pairs: how to read it, its length, and warnings of different lengths.
 */
import type { KnownColour, ScoredFormat } from '../../core/colour.js';
import { aboutInput, type InputRole, mediaError, ofInput } from '../../core/errors.js';
import { type FramePlanes, lumaBytes, type VideoFormat } from '../../core/frame.js';
import { quotientOf } from '../../core/numbers.js';
import { counted, shown } from '../../core/printable.js';
import { MediaError } from '../../media/errors.js';
import type { Framing } from '../../media/evidence/framing.js';
import { factsOf, type Side, type Sides } from '../../media/pair.js';
import type { OpenPair, PairingPlan, PairSources } from '../../media/pairing/prepare.js';
import type { AlignResult } from '../../media/pairing/types.js';
import type { Finding } from '../../media/preflight/findings.js';
import { closeAll } from '../../media/sources.js';
import type { FrameSource, SourceDescriptor } from '../../media/types.js';
import type { PicturesRead } from '../backends/measurer.js';
import type { EndOfPair, PairDescriptor } from '../contract/platform.js';

export interface KnownColours {
  readonly reference: KnownColour;
  readonly distorted: KnownColour;
  /** Whether both are still images. */
  readonly stills: boolean;
}

export interface Pair {
  readonly sides: Sides;
  /** Leading frames to discard. */
  readonly skip: Readonly<Record<InputRole, number>>;
  /** Most pairs, `Infinity` for all. */
  readonly frameCount: number;
  /** Warnings of stored inputs. */
  readonly warnings: readonly string[];
  /** Absent if frames are compared as stored, by number. */
  readonly plan?: PairingPlan;
  /** Findings from bytes: equal files, and wrong geometry of raw video. */
  readonly ofBytes?: readonly Finding[];
  /** Set if pictures show that one video is a crop of the other. */
  readonly framing?: Framing;
  /** Present if colour metrics are measured. */
  readonly colours?: KnownColours;
  /** Whether conversion changed samples that colour metrics need as stored. */
  readonly apart?: boolean;
  readonly alignment?: AlignResult;
}

export function formatOf({ plan, sides: { reference } }: Pair): VideoFormat {
  if (plan) return plan.format;
  if (reference.kind !== 'frames') throw new Error('a plan is needed to decode');
  return reference.source.info;
}

/** The stored pair, if it needs no decoding. */
export function storedPair({ sides, skip, frameCount, plan }: Pair): OpenPair | undefined {
  const { reference, distorted } = sides;
  if (reference.kind !== 'frames' || distorted.kind !== 'frames') return undefined;
  const limit = plan?.count ?? frameCount;
  return { reference: reference.source, distorted: distorted.source, skip, limit };
}

/** Frame rate and colours for metrics that need them. Still images have no rate. */
export function lightOf({ plan, sides, colours }: Pair): Pick<ScoredFormat, 'frameRate' | 'colours'> {
  const first = sides[plan?.options.pairing.pairBy ?? 'reference'];
  // Raw video declares no rate.
  const frameRate = [first, sides.reference, sides.distorted]
    .map((side) => factsOf(side).frameRate)
    .find((rate) => quotientOf(rate) !== undefined);
  return {
    ...(frameRate && !colours?.stills && { frameRate }),
    ...(colours && { colours: { reference: colours.reference, distorted: colours.distorted } }),
  };
}

export async function closePair({ sides }: Pair): Promise<void> {
  await closeAll(
    [sides.reference, sides.distorted].flatMap((side) => (side.kind === 'frames' ? side.source : [])),
  );
}

/** Whether a side can be read again without disturbing its other readers. */
export function canReadAgain(side: Side): boolean {
  return side.kind === 'encoded' || side.source.descriptor !== undefined;
}

/** Why a side cannot be read again, as a clause. */
export function whyNotAgain(side: Side): string {
  return side.kind === 'frames' && side.source.seekable
    ? 'it is a source of your own, which cannot be opened a second time'
    : 'it can be read only once';
}

/** Number of measured pairs, and whether each video ended (`null`: stopped at the requested number). */
export interface Extent {
  readonly pairs: number;
  readonly ended: EndOfPair | null;
}

type FrameReader = Pick<FrameSource, 'readFrame' | 'checkFrame'>;

/** The part of {@link PairSources} that reading needs. */
export interface ReadablePair extends Pick<PairSources, 'skip'> {
  readonly reference: FrameReader;
  readonly distorted: FrameReader;
}

const BOTH: PicturesRead = { reference: true, distorted: true };

/**
 * Reads one pair. Ignores an incomplete last frame if the other video ends before it.
 * @param wanted pictures to measure; the source may omit the samples of others
 * @returns `null`, or which videos ended; synchronously if both sources do
 * @throws {MediaError} when a frame of the pair is incomplete or damaged
 */
export function readPair(
  pair: ReadablePair,
  index: number,
  reference: FramePlanes,
  distorted: FramePlanes,
  wanted = BOTH,
): EndOfPair | null | Promise<EndOfPair | null> {
  const first = attempt('reference', () =>
    read(pair.reference, pair.skip.reference + index, reference, wanted.reference),
  );
  const readSecond = () =>
    attempt('distorted', () =>
      read(pair.distorted, pair.skip.distorted + index, distorted, wanted.distorted),
    );
  // One source may serve as both videos; it takes one call at a time.
  if (pair.reference === pair.distorted && first instanceof Promise)
    return first.then(async (a) => ends(a, await readSecond()));
  let second: Promise<Outcome> | Outcome;
  try {
    second = readSecond();
  } catch (error) {
    // The first read continues; ignore its failure.
    if (first instanceof Promise) first.catch(() => {});
    throw error;
  }
  if (!(first instanceof Promise || second instanceof Promise)) return ends(first, second);
  return Promise.all([first, second]).then(([a, b]) => ends(a, b));
}

function read(source: FrameReader, index: number, into: FramePlanes, wanted: boolean) {
  return wanted || !source.checkFrame ? source.readFrame(index, into) : source.checkFrame(index);
}

/** Whether the frame exists, or the error of an incomplete one. */
type Outcome = boolean | MediaError;

function attempt(role: InputRole, read: () => Promise<boolean> | boolean): Promise<Outcome> | Outcome {
  const incomplete = (error: unknown): MediaError => {
    if (error instanceof MediaError && error.reason === 'incomplete') return aboutInput(error, role);
    throw aboutInput(error, role);
  };
  try {
    const found = read();
    return typeof found === 'boolean' ? found : Promise.resolve(found).catch(incomplete);
  } catch (error) {
    return incomplete(error);
  }
}

function ends(reference: Outcome, distorted: Outcome): EndOfPair | null {
  if (reference === false || distorted === false)
    return { reference: reference === false, distorted: distorted === false };
  for (const outcome of [reference, distorted]) if (outcome !== true) throw outcome;
  return null;
}

/** Descriptor for workers to open the pair; `undefined` if they cannot, or would copy whole videos. */
export function describePair(pair: PairSources): PairDescriptor | undefined {
  const [reference, distorted] = [pair.reference, pair.distorted].map(({ seekable, descriptor }) => {
    if (!seekable || !descriptor) return undefined;
    return staysHere(descriptor) ? undefined : descriptor;
  });
  return reference && distorted && { reference, distorted, skip: pair.skip };
}

/** Whether other threads can read it only as a copy. */
function staysHere(descriptor: SourceDescriptor): boolean {
  if (descriptor.kind === 'filtered') return staysHere(descriptor.of);
  if (descriptor.kind === 'here') return true;
  return descriptor.kind === 'bytes' && descriptor.bytes.buffer instanceof ArrayBuffer;
}

export interface ExpectedPairs {
  /** From the known lengths; `null` if neither is known and there is no limit. */
  readonly expected: number | null;
  /** Pair to stop before: `expected` if both lengths are known, else the requested limit, or `null`. */
  readonly bound: number | null;
}

export function expectPairs(pair: OpenPair): ExpectedPairs {
  const { limit } = pair;
  const left = sidesOf(pair).map((side) => side.left);
  const known = Math.min(limit, ...left.map((frames) => frames ?? limit));
  const finite = (count: number) => (Number.isFinite(count) ? count : null);
  return { expected: finite(known), bound: finite(left.includes(null) ? limit : known) };
}

/** Refuses a frame to score that is known to be incomplete, if both lengths are known. @throws {MediaError} */
export async function refuseTruncated(pair: OpenPair): Promise<void> {
  const sides = sidesOf(pair).flatMap(({ left, ...side }) => (left === null ? [] : { ...side, left }));
  if (sides.length < 2) return;
  const withIncomplete = sides.map(({ left, source }) => left + (source.info.incompleteFrame ? 1 : 0));
  const scored = Math.min(pair.limit, ...withIncomplete);
  for (const { role, source, left } of sides) {
    const { incompleteFrame } = source.info;
    if (!incompleteFrame || left >= scored || !source.seekable) continue;
    const into = { y: new Uint8Array(lumaBytes(source.info)) };
    await ofInput(role, () => source.readFrame(incompleteFrame.index, into));
  }
}

/** Both videos with their number of frames after skipping; `null` while unknown. */
function sidesOf(pair: PairSources) {
  return (['reference', 'distorted'] as const).map((role) => {
    const [source, skip] = [pair[role], pair.skip[role]];
    const { frameCount } = source.info;
    return { role, source, skip, left: frameCount && Math.max(0, frameCount - skip) };
  });
}

/** @throws {AnyvmafError} `media` if no pair was measured */
export function refuseEmpty(pair: PairSources, extent: Extent): void {
  if (extent.pairs > 0) return;
  const reasons = sidesOf(pair)
    .filter(({ role, source, skip }) => {
      return extent.ended?.[role] || (source.info.frameCount ?? skip + 1) <= skip;
    })
    .map(({ role, source, skip }) => {
      const { name, frameCount } = source.info;
      const none = skip > 0 ? 'no frames left' : 'no frames';
      const frames = frameCount === null ? none : counted(frameCount, 'frame');
      return `${role} ${shown(name)} has ${frames}${skip > 0 ? ` (${skip} skipped)` : ''}`;
    });
  if (reasons.length === 0) {
    reasons.push(
      `reference ${shown(pair.reference.info.name)} and distorted ${shown(pair.distorted.info.name)} do not overlap in the ` +
        'requested range; check the offset and the range',
    );
  }
  throw mediaError(`There are no frames to score: ${reasons.join(', and ')}.`);
}

export interface PairLengths {
  /** Frames after skipping; `null` while unknown. */
  readonly left: { readonly reference: number | null; readonly distorted: number | null };
  /** Whether frames repeat or are left out. */
  readonly mapped: boolean;
  readonly skips: boolean;
}

/** @param pair read from its start */
export function lengthsOf(pair: OpenPair): PairLengths {
  const [reference = null, distorted = null] = sidesOf(pair).map(({ left }) => left);
  return {
    left: { reference, distorted },
    mapped: pair.mapped !== undefined,
    skips: pair.skip.reference + pair.skip.distorted > 0,
  };
}

/** Warns that one video is shorter than the other. @param limit requested pairs, `Infinity` for all */
export function explainLengths(
  inputs: Readonly<Record<InputRole, { readonly name: string }>>,
  { left: { reference, distorted }, mapped, skips }: PairLengths,
  { pairs, ended }: Extent,
  limit: number,
): string[] {
  if (pairs === limit) return [];
  const only = `only the first ${pairs === 1 ? 'pair was' : `${pairs} pairs were`} scored.`;
  if (reference !== null && distorted !== null) {
    if (reference === distorted) return [];
    if (mapped) {
      const [long, short] =
        reference > distorted ? (['reference', 'distorted'] as const) : (['distorted', 'reference'] as const);
      const more = counted(Math.abs(reference - distorted), 'frame');
      return [
        `The ${long} ${shown(inputs[long].name)} continues for ${more} after the ${short} ${shown(inputs[short].name)} ends; ${only}`,
      ];
    }
    const after = skips ? ' after those skipped' : '';
    return [
      `The reference ${shown(inputs.reference.name)} has ${counted(reference, 'frame')} and the distorted ${shown(inputs.distorted.name)} has ` +
        `${counted(distorted, 'frame')}${after}; ${only}`,
    ];
  }
  if (!ended || ended.reference === ended.distorted) return [];
  const roles = ['reference', 'distorted'] as const;
  const [short, long] = ended.reference ? roles : ([roles[1], roles[0]] as const);
  return [
    `The ${short} ${shown(inputs[short].name)} ended after ${counted(pairs, 'frame')}, before the ${long} ${shown(inputs[long].name)}; ${only}`,
  ];
}
