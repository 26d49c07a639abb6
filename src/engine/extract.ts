/**
 * @module engine/extract
 * Extracts single pairs of frames, paired as for scoring; decoding starts near each requested frame.
 */
import { unlessAborted } from '../core/abort.js';
import { holds, isArray, requireObject, wrongType } from '../core/arguments.js';
import { type AnyvmafError, usageError } from '../core/errors.js';
import { allocateFrame, type FramePlanes, type VideoFormat } from '../core/frame.js';
import { shown, showValue } from '../core/printable.js';
import { displayAspect } from '../core/size.js';
import { factsOf, nameOf, type Side } from '../media/pair.js';
import type { OpenPair, PairingPlan } from '../media/pairing/prepare.js';
import { framesOfPair, openPlanned, partOfPlan } from '../media/pairing/prepare.js';
import { FramePair, FramePicture } from '../pictures/frame-pair.js';
import { colorMeaning } from '../pictures/rgb.js';
import { checkOptions, checkRequest } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import { Scope } from './contract/scope.js';
import type { ExtractOptions, ScoreRequest } from './contract/types.js';
import { identifyPair, openPair } from './inputs/open.js';
import { coloursOf } from './inputs/pictures.js';
import { closePair, expectPairs, type Pair, readPair } from './pair/pair.js';

/** Most frames to decode and skip before the next requested one; a new decoder starts beyond that. */
const PASSED_OVER = 48;

/** Most frames of a decoder if frames are requested one by one. */
const LENGTH = 4096;

/** Numbers of pairs: all at once, or one at a time. */
type FrameNumbers = readonly number[] | AsyncIterable<number>;

/**
 * Reads pairs of frames by number, each on request.
 * @param frames numbers of pairs, as `frameNum` in a report of the same request and options: an array is read in ascending
 * order, an async iterable in its own
 * @throws {AnyvmafError} as the public `extractFrames`
 */
export async function* extractPairs(
  platform: Platform,
  request: ScoreRequest,
  frames: readonly number[] | AsyncIterable<number>,
  options: ExtractOptions = {},
): AsyncGenerator<FramePair, void, undefined> {
  requireObject('options', options);
  checkRequest(request);
  const checked = checkOptions(options, 'extract');
  const { signal } = options;
  const wanted = isAsync(frames) ? eachChecked(frames, signal) : checkFrames(frames);
  const scope = new Scope(signal);
  try {
    const identifying = identifyPair(request, { platform, checked, signal: scope.signal });
    // Waits also for inputs that are still opening.
    scope.own({ close: () => identifying.then(closePair).catch(() => {}) });
    const identified = await unlessAborted(signal, identifying);
    const { sides, plan } = identified;
    refuseUnreadable(sides.reference);
    refuseUnreadable(sides.distorted);
    const known = { ...identified, colours: coloursOf(sides, plan, undefined, checked.pairing.colourAs) };
    if (plan && isEncoded(known)) {
      const requests = 'length' in wanted ? inRuns(wanted) : oneByOne(wanted, plan.count);
      yield* decode(known, plan, requests, scope.signal);
    } else yield* readStored(known, wanted, scope.signal);
  } catch (error) {
    throw await scope.fail(error);
  } finally {
    await scope.close();
  }
}

function isEncoded({ sides }: Pair): boolean {
  return sides.reference.kind === 'encoded' || sides.distorted.kind === 'encoded';
}

async function* readStored(
  known: Pair,
  wanted: FrameNumbers,
  signal: AbortSignal,
): AsyncGenerator<FramePair, void, undefined> {
  const pair = await openPair(known);
  const { expected } = expectPairs(pair);
  const { skip } = pair;
  for await (const index of wanted) {
    if (expected !== null && index >= expected) throw beyond(known, index, expected);
    const frames = known.plan
      ? framesOfPair(known.plan, index)
      : { reference: skip.reference + index, distorted: skip.distorted + index };
    yield await take(known, pair, { index, at: index, frames }, signal);
  }
}

/** A requested pair, and the last pair of its decoders. */
interface FrameRequest {
  readonly index: number;
  readonly last: number;
}

/** Decodes at least one side; keeps decoding if the next frame is near, else starts a new decoder there. */
async function* decode(
  known: Pair,
  plan: PairingPlan,
  wanted: Iterable<FrameRequest> | AsyncIterable<FrameRequest>,
  signal: AbortSignal,
): AsyncGenerator<FramePair, void, undefined> {
  let run: { part: PairingPlan; start: number; next: number; last: number; pair: OpenPair } | undefined;
  try {
    for await (const { index, last } of wanted) {
      const leads = run && index >= run.next && index - run.next <= PASSED_OVER && index <= run.last;
      if (!run || !leads) {
        if (plan.count !== null && last >= plan.count) throw beyond(known, last, plan.count);
        if (run) await closeDecoders(known, run.pair);
        run = undefined;
        const part = partOfPlan(plan, index, last - index + 1);
        run = { part, start: index, next: index, last, pair: await openPlanned(part) };
      }
      const { part, start, pair } = run;
      const at = index - start;
      run.next = index + 1;
      yield await take(known, pair, { index, at, frames: framesOfPair(part, at) }, signal);
    }
  } finally {
    if (run) await closeDecoders(known, run.pair);
  }
}

/** Closes decoders; keeps files that need no decoding open for the next run. */
async function closeDecoders({ sides }: Pair, pair: OpenPair): Promise<void> {
  const roles = ['reference', 'distorted'] as const;
  await Promise.all(roles.map((role) => (sides[role].kind === 'encoded' ? pair[role].close() : undefined)));
}

/** Groups nearby numbers to share a decoder, which ends with the last of its group. */
function inRuns(wanted: readonly number[]): FrameRequest[] {
  const runs: number[][] = [];
  for (const index of wanted) {
    const run = runs.at(-1);
    if (run && index - (run.at(-1) ?? index) <= PASSED_OVER) run.push(index);
    else runs.push([index]);
  }
  return runs.flatMap((run) => run.map((index) => ({ index, last: run.at(-1) ?? index })));
}

/** The next number is unknown, so decoders may run for up to `LENGTH` frames. */
async function* oneByOne(wanted: AsyncIterable<number>, count: number | null): AsyncGenerator<FrameRequest> {
  for await (const index of wanted)
    yield { index, last: Math.max(index, Math.min(index + LENGTH, count ?? Number.POSITIVE_INFINITY) - 1) };
}

interface Place {
  /** Frame number in the report. */
  readonly index: number;
  /** Index of the pair in the open sources. */
  readonly at: number;
  readonly frames: { readonly reference: number; readonly distorted: number };
}

async function take(known: Pair, pair: OpenPair, { index, at, frames }: Place, signal: AbortSignal) {
  signal.throwIfAborted();
  const { width, height, bitDepth, chroma } = pair.reference.info;
  const format: VideoFormat = { width, height, bitDepth, chroma };
  const [reference, distorted] = [allocateFrame(format), allocateFrame(format)];
  const ended = await unlessAborted(signal, Promise.resolve(readPair(pair, at, reference, distorted)));
  if (ended) throw beyond(known, index, null);
  const picture = (role: 'reference' | 'distorted', planes: FramePlanes) => {
    const side = known.sides[role];
    const frame = frames[role];
    const facts = factsOf(side);
    // A scaled video keeps its original display aspect.
    const aspect = displayAspect(facts);
    const place = { frame, time: timeOf(side, frame) };
    return new FramePicture(place, format, planes, colorMeaning(facts), aspect, known.colours?.[role]);
  };
  return new FramePair(index, picture('reference', reference), picture('distorted', distorted));
}

function timeOf(side: Side, frame: number): number | null {
  const time = side.times?.[frame];
  if (time !== undefined) return time - (side.times?.[0] ?? 0);
  const { frameRate } = factsOf(side);
  return frameRate && frameRate.num > 0 ? (frame * frameRate.den) / frameRate.num : null;
}

function refuseUnreadable(side: Side): void {
  if (side.kind === 'encoded' || side.source.seekable) return;
  throw usageError(
    `frames cannot be extracted from ${shown(nameOf(side))}, because it can be read only once, from its start; give ` +
      'it as a file.',
  );
}

/** @param count total pairs; `null` if reading reached the end first */
function beyond({ sides }: Pair, index: number, count: number | null): AnyvmafError {
  const names = `${shown(nameOf(sides.reference))} and ${shown(nameOf(sides.distorted))}`;
  return usageError(
    `frame ${index} was requested, but ${names} have ` +
      `${count === null ? 'fewer frames in common' : count === 1 ? 'only 1 frame in common' : `only ${count} frames in common`}; ` +
      'frames are counted from 0.',
  );
}

function isAsync(frames: FrameNumbers): frames is AsyncIterable<number> {
  if (isArray(frames) || typeof frames !== 'object' || frames === null) return false;
  return holds(() => typeof (frames as AsyncIterable<number>)[Symbol.asyncIterator] === 'function');
}

/** Waits for the next number until the signal aborts. */
async function* eachChecked(
  frames: AsyncIterable<number>,
  signal: AbortSignal | undefined,
): AsyncGenerator<number, void, undefined> {
  const numbers = frames[Symbol.asyncIterator]();
  const next = async () => numbers.next();
  try {
    for (;;) {
      const { done, value } = await unlessAborted(signal, next());
      if (done) return;
      refuseNumber(value);
      yield value;
    }
  } finally {
    const ending = (async () => numbers.return?.())();
    // A generator that is waiting ends only after its next number.
    if (signal?.aborted) ending.catch(() => {});
    else await ending;
  }
}

function refuseNumber(frame: unknown): void {
  if (Number.isSafeInteger(frame) && (frame as number) >= 0) return;
  throw usageError(`${showValue(frame)} is not a frame number; give whole numbers from 0 up.`);
}

/** Ascending, without duplicates. */
function checkFrames(frames: readonly number[]): number[] {
  if (!isArray(frames)) throw wrongType('frames', frames, 'an array of frame numbers');
  for (const frame of frames) refuseNumber(frame);
  return [...new Set(frames)].sort((a, b) => a - b);
}
