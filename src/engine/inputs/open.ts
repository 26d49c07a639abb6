/**
 * @module engine/inputs/open
 * Opens two inputs of any kind as two sources whose n-th frames form pairs.
 */
import { ofInput, usageError } from '../../core/errors.js';
import { changed } from '../../core/options.js';
import { checkPair, closeInput, type OpenedInput, type OpenedInputs, openInputs } from '../../media/pair.js';
import type { OpenDecoder, OpenPair, Side } from '../../media/pairing/prepare.js';
import type { Finding } from '../../media/preflight/types.js';
import type { FrameSource } from '../../media/types.js';
import type { ScoreRequest } from '../contract/types.js';
import { closePair, type Pair, storedPair } from '../pair/pair.js';
import type { InputContext } from './context.js';

/** Identifies the videos and plans their pairing. @throws {AnyvmafError} as the public `score`; the signal's reason */
export async function identifyPair(request: ScoreRequest, context: InputContext): Promise<Pair> {
  const { platform, checked, signal, colour } = context;
  const { pairing, single } = checked;
  const inputs = await openInputs(single ? { distorted: request.distorted } : request, {
    raw: request.raw,
    platform: platform.files,
    decoding: {
      urls: pairing.urls,
      streams: !single && (pairing.decoder === 'auto' || pairing.decoder === 'ffmpeg'),
    },
    partialFrame: single ? undefined : pairing.damage === 'accept' ? 'drop' : 'refuse',
    signal,
  });
  const { reference, distorted } = inputs;
  try {
    const known = reference
      ? await identify(context, { reference, distorted })
      : await ofInput('distorted', async () => (await import('./pairing.js')).pairAlone(context, distorted));
    if (checked.colours === 'no') return known;
    const { coloursOf } = await import('./pictures.js');
    return { ...known, colours: coloursOf(known.sides, known.plan, colour, pairing.colourAs) };
  } catch (error) {
    await Promise.all([reference && closeInput(reference), closeInput(distorted)]);
    throw error;
  }
}

async function identify(context: InputContext, inputs: Required<OpenedInputs>): Promise<Pair> {
  const { checked } = context;
  const { pairing, skip, frameCount } = checked;
  const { reference, distorted } = inputs;
  const isSequence = (input: OpenedInput) => 'kind' in input && input.sequence;
  if (pairing.rate !== undefined && !isSequence(reference) && !isSequence(distorted)) {
    throw usageError(
      `is ${pairing.rate}, but neither video is an image sequence, and other videos have their own rate; leave it out.`,
      { about: 'rate' },
    );
  }
  const ofBytes = await byteFindings(context, inputs);
  const uniting = changed(pairing, ({ unites }) => unites !== undefined);
  if (
    'kind' in reference ||
    'kind' in distorted ||
    uniting.length > 0 ||
    pairing.range !== undefined ||
    pairing.offset !== 0 ||
    pairing.filters !== undefined ||
    Object.keys(pairing.tracks).length > 0 ||
    (pairing.colourAs === 'libjxl' && checked.colours !== 'no') ||
    (pairing.commonBitDepth && reference.info.bitDepth !== distorted.info.bitDepth)
  ) {
    const { pairVideos } = await import('./pairing.js');
    return { ...(await pairVideos(context, inputs)), ofBytes };
  }
  const warnings = checkPair(reference.info, distorted.info, checked);
  const side = (source: FrameSource): Side => ({ kind: 'frames', source, times: null });
  const sides = { reference: side(reference), distorted: side(distorted) };
  return { sides, skip, frameCount, warnings, ofBytes };
}

async function byteFindings(
  { platform, checked }: InputContext,
  { reference, distorted }: Required<OpenedInputs>,
): Promise<readonly Finding[]> {
  const { preflight, tracks } = checked.pairing;
  // One file may be compared with another track of itself.
  if (!preflight || tracks.reference?.index !== tracks.distorted?.index) return [];
  const { findingsOfBytes } = await import('./byte-findings.js');
  return findingsOfBytes([reference, distorted], platform.files);
}

/** Opens decoders, if needed. @param open replaces the default way to open them */
export async function openPair(known: Pair, open?: OpenDecoder): Promise<OpenPair> {
  if (known.plan) {
    const { openPlanned } = await import('../../media/pairing/prepare.js');
    return openPlanned(known.plan, open);
  }
  const stored = storedPair(known);
  if (!stored) throw new Error('a plan is needed to decode');
  return stored;
}

/** Inputs of one run; can be closed in any state. */
export class RunInputs {
  readonly known: Promise<Pair>;
  #known: Pair | undefined;
  #ready: Promise<OpenPair> | undefined;

  constructor(known: Promise<Pair>) {
    this.known = known.then((inputs) => {
      this.#known = inputs;
      return inputs;
    });
    this.known.catch(() => {});
  }

  open(openDecoder?: OpenDecoder): Promise<OpenPair> {
    this.#ready = this.known.then((known) => openPair(known, openDecoder));
    return this.#ready;
  }

  /** Waits for inputs being opened, except those whose first byte has not arrived. */
  async close(): Promise<void> {
    if (this.#ready) {
      const pair = await this.#ready.catch(() => undefined);
      await Promise.all([pair?.reference.close(), pair?.distorted.close()]);
    } else if (this.#known) await closePair(this.#known);
    else this.known.then(closePair).catch(() => {});
  }
}
