/**
 * @module engine/inputs/open
 * Opens two inputs of any kind as two sources whose n-th frames form pairs.
 */
import { ofInput, usageError } from '../../core/errors.js';
import { changed } from '../../core/options.js';
import { checkPair, closeInput, openInputs } from '../../media/pair.js';
import type { OpenDecoder, OpenPair, Side } from '../../media/pairing/prepare.js';
import type { Finding } from '../../media/preflight/types.js';
import type { FrameSource } from '../../media/types.js';
import type { InputOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import type { ScoreRequest } from '../contract/types.js';
import { closePair, type Pair, storedPair } from '../pair/pair.js';
import type { InputContext } from './context.js';

/**
 * Identifies the videos of a request and plans their pairing.
 * @throws {AnyvmafError} as the public `score`; the signal's reason
 */
export async function identifyPair(request: ScoreRequest, context: InputContext): Promise<Pair> {
  const known = await identify(request, context);
  const { checked, colour } = context;
  if (checked.colours === 'no') return known;
  const { coloursOf } = await import('./colours.js');
  return { ...known, colours: coloursOf(known.sides, known.plan, colour, checked.pairing.colourAs) };
}

async function identify(request: ScoreRequest, context: InputContext): Promise<Pair> {
  const { platform, checked, signal } = context;
  const { pairing } = checked;
  if (checked.single) {
    const { identifyDistorted } = await import('./pairing.js');
    return ofInput('distorted', () => identifyDistorted(request, context));
  }
  if (request.reference === undefined) throw new Error('a pair needs a reference');
  const inputs = await openInputs(request.reference, request.distorted, {
    raw: request.raw,
    platform: platform.files,
    decoding: {
      urls: pairing.urls,
      streams: pairing.decoder === 'auto' || pairing.decoder === 'ffmpeg',
    },
    partialFrame: pairing.damage === 'accept' ? 'drop' : 'refuse',
    signal,
  });
  try {
    const [reference, distorted] = inputs;
    if (pairing.rate !== undefined && !inputs.some((input) => 'kind' in input && input.sequence)) {
      throw usageError(
        `is ${pairing.rate}, but neither video is a sequence of pictures, and others have a rate of their own; leave it out.`,
        { about: 'rate' },
      );
    }
    const { tracks } = pairing;
    const ofBytes = await byteFindings(platform, inputs, checked);
    const uniting = changed(pairing, ({ unites }) => unites !== undefined);
    const asked = uniting.length > 0 || pairing.range !== undefined || pairing.offset !== 0;
    const encoded = 'kind' in reference || 'kind' in distorted;
    const filtered = pairing.filters !== undefined;
    if (
      encoded ||
      Object.keys(tracks).length > 0 ||
      asked ||
      filtered ||
      (pairing.colourAs === 'libjxl' && checked.colours !== 'no') ||
      (pairing.commonBitDepth && reference.info.bitDepth !== distorted.info.bitDepth)
    ) {
      const { pairVideos } = await import('./pairing.js');
      return { ...(await pairVideos(context, inputs)), ofBytes };
    }
    const warnings = checkPair(reference.info, distorted.info, checked);
    const side = (source: FrameSource): Side => ({ kind: 'frames', source, times: null });
    const { skip, frameCount } = checked;
    return {
      sides: { reference: side(reference), distorted: side(distorted) },
      ...{ skip, frameCount, warnings, ofBytes },
    };
  } catch (error) {
    await Promise.all(inputs.map(closeInput));
    throw error;
  }
}

/** Findings from the bytes of both, where they are asked for. */
async function byteFindings(
  { files }: Platform,
  inputs: Awaited<ReturnType<typeof openInputs>>,
  { pairing: { preflight, tracks } }: InputOptions,
): Promise<readonly Finding[]> {
  // One file may be compared with another track of itself.
  if (!preflight || tracks.reference?.index !== tracks.distorted?.index) return [];
  const { findingsOfBytes } = await import('./byte-findings.js');
  return findingsOfBytes(inputs, files);
}

/**
 * Opens decoders, if needed.
 * @param open replaces the default way to open them
 */
export async function openPair(known: Pair, open?: OpenDecoder): Promise<OpenPair> {
  if (known.plan) {
    const { openPlanned } = await import('../../media/pairing/prepare.js');
    return openPlanned(known.plan, open);
  }
  const stored = storedPair(known);
  if (!stored) throw new Error('a plan is needed to decode');
  return stored;
}

/** The inputs of one run, which can be closed in any state. */
export class RunInputs {
  readonly known: Promise<Pair>;
  #known: Pair | undefined;
  #ready: Promise<OpenPair> | undefined;

  /** @param known from {@link identifyPair} */
  constructor(known: Promise<Pair>) {
    this.known = known.then((inputs) => {
      this.#known = inputs;
      return inputs;
    });
    this.known.catch(() => {});
  }

  /** Opens them once they are identified; see {@link openPair}. */
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
