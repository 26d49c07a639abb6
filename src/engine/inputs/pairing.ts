/**
 * @module engine/inputs/pairing
 * Pairs videos that are encoded or differ: decoders, times of all frames, offset and plan. No-reference models get blank
 * reference frames. Not loaded for two Y4M or raw videos of one format.
 */
import { capital, type InputRole, ofInput, usageError } from '../../core/errors.js';
import { changed } from '../../core/options.js';
import { shown } from '../../core/printable.js';
import { chooseTrack } from '../../media/decoder.js';
import { chooseDecoder, type EncodedVideo, readTimes } from '../../media/decoders.js';
import { deliveryPhrases, hasAlpha } from '../../media/delivery.js';
import type { Framing } from '../../media/evidence/framing.js';
import type { EncodedInput, OpenedInput, OpenedInputs } from '../../media/open.js';
import type { Side, Sides } from '../../media/pair.js';
import { byNumberWarning, checkMeasurable, checkPair, factsOf, frameCountOf } from '../../media/pair.js';
import { partOfPlan, planPairing } from '../../media/pairing/prepare.js';
import { blankSource } from '../../media/sources.js';
import type { VideoInfo } from '../../media/types.js';
import type { CheckedOptions } from '../contract/options.js';
import type { InputContext } from '../contract/scope.js';
import type { Pair } from '../pair/pair.js';
import { asRead, coloursOf, deliveryOf, limitedPicture } from './pictures.js';

export async function pairVideos(context: InputContext, inputs: Required<OpenedInputs>): Promise<Pair> {
  const { checked, signal, colour } = context;
  const { pairing, skip, frameCount } = checked;
  const { sides, apart } = await asRead(context, await identifyVideos(context, inputs));
  const { reference, distorted } = sides;
  const stored = reference.kind === 'frames' && distorted.kind === 'frames';
  const warnings = storedWarnings(sides, checked);
  const search = { assumed: 0, window: pairing.window };
  const alignment =
    pairing.offset === 'auto'
      ? (context.alignment ?? (await (await import('./few-frames.js')).findOffset(context, sides, search)))
      : undefined;
  if (!pairing.preflight) warnings.push(...(await setBackWarnings({ reference, distorted })));
  if (alignment?.ambiguous && !pairing.preflight) {
    const { doubtText } = await import('../../media/preflight/moments.js');
    warnings.push(doubtText(alignment));
  }
  const offset = pairing.offset === 'auto' ? (alignment?.offset ?? 0) : pairing.offset;
  const framing = pairing.preflight ? await framingOfSides(context, sides, offset) : undefined;
  // Y4M and raw video are paired by number, as in libvmaf, unless times are requested.
  const timed = !stored || changed(pairing, ({ unites }) => unites === 'times').length > 0;
  const light =
    checked.colours === 'only' ? coloursOf(sides, undefined, colour, pairing.colourAs) : undefined;
  const whole = planPairing(timed ? sides : untimed(sides), { ...checked, offset, alignment, light, signal });
  const { part } = context;
  const plan = part ? partOfPlan(whole, part.start, part.count) : whole;
  const untrue =
    plan.paired?.policy === 'nearest' ? byNumberWarning(factsOf(reference), factsOf(distorted)) : undefined;
  const said = warnings.filter((warning) => warning !== untrue);
  return { sides, skip, frameCount, warnings: said, plan, framing, alignment, apart };
}

/** Warnings of stored videos. Both must have the same format unless they may be scaled. */
function storedWarnings({ reference, distorted }: Sides, { colours, pairing }: CheckedOptions): string[] {
  const scales = changed(pairing, ({ unites }) => unites === 'sizes').length > 0;
  if (!scales && reference.kind === 'frames' && distorted.kind === 'frames')
    return checkPair(reference.source.info, distorted.source.info, {
      anyDepth: pairing.commonBitDepth,
      colours,
    });
  return [reference, distorted].flatMap((side) =>
    side.kind === 'frames' ? [...side.source.info.warnings] : [],
  );
}

async function framingOfSides(
  context: InputContext,
  sides: Sides,
  offset: number,
): Promise<Framing | undefined> {
  const { reference, distorted } = sides;
  const [one, other] = [reference, distorted].map(factsOf);
  if (one?.width === other?.width && one?.height === other?.height) return undefined;
  return (await import('./few-frames.js')).findFraming(context, sides, offset);
}

function untimed({ reference, distorted }: Sides): Sides {
  return { reference: { ...reference, times: null }, distorted: { ...distorted, times: null } };
}

/** Probes both videos concurrently. @throws {AnyvmafError} as {@link chooseDecoder} */
async function identifyVideos(context: InputContext, inputs: Required<OpenedInputs>): Promise<Sides> {
  const identify = (role: InputRole, input: OpenedInput) =>
    ofInput(role, () => identifyVideo(context, role, input));
  const [reference, distorted] = await Promise.allSettled([
    identify('reference', inputs.reference),
    identify('distorted', inputs.distorted),
  ]);
  // If both fail, report the reference.
  if (reference.status === 'rejected') throw reference.reason;
  if (distorted.status === 'rejected') throw distorted.reason;
  return { reference: reference.value, distorted: distorted.value };
}

async function identifyVideo(context: InputContext, role: InputRole, input: OpenedInput): Promise<Side> {
  const { pairing } = context.checked;
  if (!('kind' in input)) {
    const { info } = input;
    chooseTrack([{ ...info, isDefault: true }], pairing.tracks[role], info.name);
    return { kind: 'frames', source: input, times: storedTimes(info) };
  }
  const shared = context.shared?.side(role, pairing, (signal) =>
    identifyEncoded({ ...context, signal }, role, input),
  );
  return shared ?? identifyEncoded(context, role, input);
}

async function identifyEncoded(
  { platform, checked, signal }: InputContext,
  role: InputRole,
  input: EncodedInput,
): Promise<Side> {
  const { decoder: choice, urls, rate, tracks, grain } = checked.pairing;
  const track = tracks[role];
  const decoders = choice === 'none' ? [] : await platform.decoders({ urls: urls === true, rate, track });
  const chosen = await chooseDecoder(input, { choice, decoders, signal });
  const known = await readTimes(grain === 'on' ? chosen : grainOf(chosen, grain), signal);
  const { video } = known;
  const applied = [
    ...deliveryPhrases(video.facts.pixelFormat, deliveryOf(video)),
    ...(input.alphaApart && !hasAlpha(video.facts.pixelFormat) ? ['alpha left out'] : []),
    ...(video.facts.filmGrain === 'left out' ? ['film grain left out'] : []),
  ];
  return {
    kind: 'encoded',
    ...known,
    ...(applied.length > 0 && { applied }),
  };
}

/** Turns off an AV1 decoder's grain unless requested. @throws {AnyvmafError} `usage` if it always adds grain */
function grainOf(video: EncodedVideo, grain: 'off' | 'both'): EncodedVideo {
  const { facts, decoder } = video;
  if (facts.codec !== 'av1') return video;
  if (decoder.id !== 'ffmpeg') {
    throw usageError(
      `is ${grain}, but the decoder ${decoder.id} always adds the grain of ${shown(facts.name)}; decode with ffmpeg, or leave it out.`,
      { about: 'grain' },
    );
  }
  return facts.filmGrain && grain === 'off'
    ? { ...video, filters: 'film grain left out', facts: { ...facts, filmGrain: 'left out' } }
    : video;
}

/** Frame times at the header's rate; `null` if the rate or the frame count is unknown. */
function storedTimes({ frameRate, frameCount }: VideoInfo): Float64Array | null {
  if (!frameRate || frameCount === null) return null;
  return Float64Array.from({ length: frameCount }, (_, n) => (n * frameRate.den) / frameRate.num);
}

/** Warns of clocks that jump back, for runs without preflight. @param sides by their names in messages */
async function setBackWarnings(sides: Readonly<Record<string, Side>>): Promise<string[]> {
  const jumping = Object.entries(sides).flatMap(([who, side]) =>
    side.kind === 'encoded' && side.setBacks
      ? [[who, { setBacks: side.setBacks, timestamps: side.times }] as const]
      : [],
  );
  if (jumping.length === 0) return [];
  const { setBackText } = await import('../../media/preflight/moments.js');
  const text = setBackText(Object.fromEntries(jumping));
  return text === undefined ? [] : [capital(text)];
}

/** Pairs a video with blank reference frames. */
export async function pairAlone(context: InputContext, input: OpenedInput): Promise<Pair> {
  const { checked, signal } = context;
  const { pairing, skip, frameCount } = checked;
  const identified = await identifyVideo(context, 'distorted', input);
  const found = await limitedPicture('distorted', identified, signal);
  const { distorted } = pairing.filters
    ? await (await import('./filters.js')).filterSides(context, { distorted: found }, pairing.filters)
    : { distorted: found };
  const { width, height, bitDepth, chroma } = factsOf(distorted);
  checkMeasurable({ width, height, bitDepth, chroma });
  const reference: Side = {
    kind: 'frames',
    source: blankSource({ width, height, bitDepth, chroma }, frameCountOf(distorted)),
    times: distorted.times,
  };
  const sides = { reference, distorted };
  const warnings =
    distorted.kind === 'frames'
      ? distorted.source.info.warnings
      : await setBackWarnings({ 'the video': distorted });
  const pair = { sides, skip, frameCount, warnings };
  if (distorted.kind === 'frames' && pairing.range === undefined && !pairing.filters) return pair;
  const both = { reference: skip.distorted, distorted: skip.distorted };
  return { ...pair, plan: planPairing(sides, { ...checked, offset: 0, skip: both, signal }) };
}
