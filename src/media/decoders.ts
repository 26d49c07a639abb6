/**
 * @module media/decoders
 * Selects the decoder of an encoded video: the first preferred one that runs and supports the file.
 */
import { onAbort } from '../core/abort.js';
import { AnyvmafError, mediaError, type Objection, type Remedy, usageError } from '../core/errors.js';
import { quotedWord } from '../core/names.js';
import { clause, quoted, shown } from '../core/printable.js';
import {
  type DecodedSource,
  type DecodeRequest,
  type Decoder,
  type DecoderAvailability,
  type DecoderChoice,
  stillKnown,
  type TrackFacts,
  type TrackTimes,
} from './decoder.js';
import { convertCommand, DECLARE_RAW } from './errors.js';
import { rateOf } from './evidence/rate.js';
import { packetBitrate } from './facts.js';
import { SEGMENT } from './formats.js';
import { type EncodedInput, notY4m } from './open.js';
import type { VideoInput } from './types.js';

export interface EncodedVideo extends Pick<EncodedInput, 'cutOff' | 'encoderSettings'> {
  readonly input: VideoInput;
  readonly decoder: Decoder;
  readonly facts: TrackFacts;
  /** Fallback decoders, in order of preference. */
  readonly others: readonly Decoder[];
  /** Decoder filters, as part of the video's identity. */
  readonly filters?: string;
}

interface DecoderOptions {
  readonly choice: DecoderChoice;
  /** In order of preference. */
  readonly decoders: readonly Decoder[];
  readonly signal?: AbortSignal;
}

interface Attempt {
  readonly decoder: Decoder;
  readonly availability: DecoderAvailability;
  readonly error?: AnyvmafError;
  readonly hints?: readonly Remedy[];
}

/** @throws {AnyvmafError} `media` without a suitable decoder, `usage` for an unknown one, `io` for unreadable files */
export async function chooseDecoder(encoded: EncodedInput, options: DecoderOptions): Promise<EncodedVideo> {
  const { choice, decoders, signal } = options;
  if (choice === 'none') throw undecoded(encoded);
  const candidates = choice === 'auto' ? decoders : decoders.filter(({ id }) => id === choice);
  if (candidates.length === 0) {
    const choices = ['auto', ...decoders.map(({ id }) => id), 'none'];
    throw usageError(`decoder ${quoted(choice)} is not available here; choose one of ${choices.join(', ')}.`);
  }
  const { input, cutOff, encoderSettings, dolbyVision } = encoded;
  const attempts: Attempt[] = [];
  const chosen = await firstAble(candidates, input, attempts, signal, async (decoder, probed, others) => {
    const facts = dolbyVision ? { dolbyVision, ...probed } : probed;
    return { input, decoder, facts, others, cutOff, encoderSettings };
  });
  if (chosen) return chosen;
  throw noneDecodes(encoded, attempts);
}

/** Calls `work` with the first decoder that can run and supports the file; adds the others to `attempts`. */
async function firstAble<T>(
  decoders: readonly Decoder[],
  input: VideoInput,
  attempts: Attempt[],
  signal: AbortSignal | undefined,
  work: (decoder: Decoder, facts: TrackFacts, others: readonly Decoder[]) => Promise<T>,
): Promise<T | undefined> {
  for (const [i, decoder] of decoders.entries()) {
    const early = decoder.probesAtOnce ? probeEarly(decoder, input, signal) : undefined;
    const found = await available(decoder, attempts, signal);
    const { availability } = found;
    if (!availability.usable || signal?.aborted) await early?.stop();
    signal?.throwIfAborted();
    if (!availability.usable) {
      attempts.push(found);
      continue;
    }
    try {
      const facts = await (early?.facts ?? decoder.probe(input, signal));
      return await work(decoder, facts, decoders.slice(i + 1));
    } catch (error) {
      attempts.push({ decoder, availability, error: refusal(error) });
    }
  }
  return undefined;
}

/** Whether a decoder can run, after fetching what it needs if that may help. */
async function available(
  decoder: Decoder,
  attempts: readonly Attempt[],
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  const availability = await decoder.availability();
  if (availability.usable || !decoder.obtain || ffmpegRefused(attempts)) return { decoder, availability };
  try {
    await decoder.obtain(signal);
    return { decoder, availability: await decoder.availability() };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof AnyvmafError) || error.code === 'usage') throw error;
    const { message: reason, hints = [] } = objectionOf(error);
    return { decoder, availability: { ...availability, reason }, hints };
  }
}

/** No other decoder supports more than ffmpeg. */
function ffmpegRefused(attempts: readonly Attempt[]): boolean {
  return attempts.some(({ decoder, error }) => error !== undefined && decoder.id === 'ffmpeg');
}

function probeEarly(decoder: Decoder, input: VideoInput, signal: AbortSignal | undefined) {
  const stopping = new AbortController();
  const forget = onAbort(signal, (reason) => stopping.abort(reason));
  const facts = decoder.probe(input, stopping.signal);
  const over = facts.then(forget, forget);
  return {
    facts,
    stop() {
      stopping.abort();
      return over;
    },
  };
}

/**
 * Opens a video with its decoder, else with a fallback.
 * @throws {AnyvmafError} of the decoders; `media` if all that can run fail
 */
export async function openDecoded(video: EncodedVideo, request: DecodeRequest): Promise<DecodedSource> {
  const open = ({ decoder, input, facts }: EncodedVideo) => decoder.open(input, facts, request);
  const { found } = await firstOf(video, open, request.signal);
  return found;
}

/**
 * Reads the times of all frames, with a fallback decoder if necessary.
 * @returns also the video, with the decoder that read them, and updated facts
 * @throws {AnyvmafError} as {@link openDecoded}
 */
export async function readTimes(
  encoded: EncodedVideo,
  signal?: AbortSignal,
): Promise<
  Pick<TrackTimes, 'setBacks'> & { readonly video: EncodedVideo; readonly times: Float64Array | null }
> {
  const read = (by: EncodedVideo) => by.decoder.timestamps(by.input, signal, by.facts.track?.index);
  const { found, by } = await firstOf(encoded, read, signal);
  if (!found) return { video: by, times: null };
  const { facts } = by;
  const { times, bytes, setBacks } = found;
  const bitrate = (bytes && packetBitrate(bytes, times)) || facts.bitrate;
  // The declared count of a truncated file tells how many frames are missing.
  const frameCount = by.cutOff === undefined ? times.length : facts.frameCount;
  const frameRate = rateOf({ ...facts, timestamps: times });
  const video = { ...by, facts: { ...facts, frameCount, bitrate, ...(frameRate && { frameRate }) } };
  return { video, times: times.length > 0 ? times : null, ...(setBacks && { setBacks }) };
}

async function firstOf<T>(
  video: EncodedVideo,
  work: (video: EncodedVideo) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<{ readonly found: T; readonly by: EncodedVideo }> {
  const attempts: Attempt[] = [];
  try {
    return { found: await work(video), by: video };
  } catch (error) {
    const { decoder } = video;
    attempts.push({ decoder, availability: { id: decoder.id, usable: true }, error: refusal(error) });
  }
  const { facts, input, cutOff } = video;
  const able = await firstAble(video.others, input, attempts, signal, async (decoder, probed, others) => {
    const by = { ...video, decoder, facts: stillKnown(probed, facts), others };
    return { found: await work(by), by };
  });
  if (able) return able;
  const looksLike = `a video (${facts.codec})`;
  const encoded = { kind: 'encoded', name: facts.name, input, looksLike, ...(cutOff && { cutOff }) } as const;
  throw noneDecodes(encoded, attempts);
}

/** Returns the error if another decoder may succeed; throws it otherwise, for example if the file is missing. */
function refusal(error: unknown): AnyvmafError {
  if (error instanceof AnyvmafError && error.objections?.some(({ about }) => about?.startsWith('track')))
    throw error;
  // `usage`: an unsupported kind of input, such as bytes in memory.
  if (error instanceof AnyvmafError && (error.code === 'media' || error.code === 'usage')) return error;
  throw error;
}

function undecoded(encoded: EncodedInput): AnyvmafError {
  const { looksLike, name } = encoded;
  if (looksLike === undefined) return notY4m(encoded);
  return mediaError(
    `${shown(name)} is not a Y4M file but ${looksLike}, and without a decoder only Y4M and raw YUV can be read`,
    {
      hints: [
        { purpose: 'omit', option: 'decoder', value: 'none' },
        `convert the video first: ${convertCommand(name)}`,
      ],
      file: name,
    },
  );
}

const decoderOf = (hint: Remedy) =>
  typeof hint === 'object' && hint.purpose === 'fix' && hint.option === 'decoder' ? hint.value : undefined;

/** Why no decoder succeeded: errors of those that ran, then why the others could not run. */
function noneDecodes(encoded: EncodedInput, attempts: readonly Attempt[]): AnyvmafError {
  const { name, looksLike } = encoded;
  const tried = attempts.filter(({ error }) => error !== undefined);
  const exhausted = ffmpegRefused(attempts);
  const idle = attempts
    .filter(({ error }) => error === undefined && !exhausted)
    .map(
      ({ decoder, availability }) => `${decoder.id}: ${clause(availability.reason ?? 'not available here')}`,
    );
  const fetchable = attempts
    .flatMap(({ hints = [] }) => hints)
    .filter((hint) => !attempts.some(({ decoder }) => decoder.id === decoderOf(hint)));
  const [first] = tried;
  if (!first?.error) return noDecoder(encoded, idle, fetchable);
  const { error } = first;
  if (looksLike === SEGMENT) {
    const join = `cat init.mp4 ${quotedWord(name)} > whole.mp4`;
    const message = `${shown(name)} is ${SEGMENT} without its initialisation segment`;
    return mediaError(message, { hints: [`prepend that segment: ${join}`], file: name, cause: error });
  }
  const { message, hints = [] } = objectionOf(error);
  const others = tried.slice(1);
  // Name decoders that failed for the same reason together.
  const alike = others
    .filter((attempt) => reasonOf(attempt, name) === reasonOf(first, name))
    .map(({ decoder }) => decoder.id);
  const apart = others
    .filter(({ decoder }) => !alike.includes(decoder.id))
    .map(
      ({ decoder, error }) => `${decoder.id}: ${unnamed(clause(objectionOf(error).message), shown(name))}`,
    );
  const end = encoded.cutOff === undefined ? '' : `the file is cut off: ${encoded.cutOff}`;
  const cutOff = end === '' || message.includes(end) ? '' : `; ${end}`;
  const clauses = [
    alike.length > 0 ? `${alike.join(' and ')} could not decode it either` : '',
    ...apart,
    idle.length > 0 ? `${others.length > 0 ? '' : `tried ${first.decoder.id}; `}${idle.join('; ')}` : '',
  ].filter((clause) => clause !== '' && !message.includes(clause));
  const known =
    looksLike !== undefined ||
    /^https?:/i.test(name) ||
    hints.some((hint) => typeof hint === 'object' && hint.purpose === 'declare');
  const why = clauses.length > 0 ? ` (${clauses.join('; ')})` : '';
  if (cutOff + why === '' && known) return error;
  return mediaError(clause(message) + why + cutOff, {
    hints: [...hints, ...fetchable, ...(known ? [] : [DECLARE_RAW])],
    file: name,
    cause: error,
  });
}

/** @param idle why each decoder could not run */
function noDecoder({ name, looksLike }: EncodedInput, idle: readonly string[], fetchable: readonly Remedy[]) {
  const reasons = `there is no decoder for it (${idle.join('; ')})`;
  const message = looksLike
    ? `${shown(name)} is ${looksLike}, but ${reasons}`
    : `${shown(name)} is not a Y4M file; if it is encoded, ${reasons}`;
  const convert = `convert the video first: ${convertCommand(name)}`;
  const install = fetchable.some(decoderOf)
    ? []
    : [fetchable.length > 0 ? 'install ffmpeg' : 'install one of them'];
  const hints = [...fetchable, ...(looksLike ? [...install, convert] : [DECLARE_RAW])];
  return mediaError(message, { hints, file: name });
}

/** Replaces the file's name, which the sentence has given before. */
function unnamed(text: string, name: string): string {
  const begun = text.startsWith(`${name} `) ? `it${text.slice(name.length)}` : text;
  return begun.replaceAll(` of ${name}`, ' of it').replace(/\bthe (\w+) of it\b/g, 'its $1');
}

function objectionOf(error: AnyvmafError | undefined): Objection {
  return error?.objections?.[0] ?? error ?? { message: '' };
}

/** Why a decoder failed, without its name and the file's. */
function reasonOf({ decoder, error }: Attempt, name: string): string {
  return clause(objectionOf(error).message).replaceAll(shown(name), '').replaceAll(decoder.id, '');
}
