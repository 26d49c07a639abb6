/**
 * @module media/pair
 * Two videos: checked for what cannot be converted, and as identified for pairing.
 */
import { mediaError, mismatchError } from '../core/errors.js';
import { type BothOf, formatProblem, MIN_SIDE, type VideoFormat } from '../core/frame.js';
import { areEqual, fractionText } from '../core/numbers.js';
import { shown } from '../core/printable.js';
import { formatSize } from '../core/size.js';
import type { TrackFacts } from './decoder.js';
import type { EncodedVideo } from './decoders.js';
import { pixelFormatName } from './delivery.js';
import { convertCommand } from './errors.js';
import type { FrameSource, VideoInfo } from './types.js';

/** Up to this side, libvmaf's ADM is undefined at its smallest scale. */
const UNDEFINED_IN_LIBVMAF = 32;
/** Shortest side for colour metrics: one sample of subsampled chroma. */
const LEAST_OF_COLOUR = 2;

/**
 * Checks for equal size, chroma format and bit depth, and for a measurable size. Frame counts may differ.
 * @param anyDepth accepts different bit depths
 * @returns warnings of the containers and about differences, as full sentences
 * @throws {AnyvmafError} `mismatch` with every difference in one message; `media` for a size out of range
 */
export function checkPair(
  reference: VideoInfo,
  distorted: VideoInfo,
  { anyDepth, colours = 'no' }: { readonly anyDepth?: boolean; readonly colours?: ColoursAsked } = {},
): string[] {
  refuseDifferences(reference, distorted, anyDepth);
  checkMeasurable(reference, colours);
  const shortest = Math.min(reference.width, reference.height);
  const warnings = new Set([...reference.warnings, ...distorted.warnings]);
  if (shortest <= UNDEFINED_IN_LIBVMAF && colours !== 'only')
    warnings.add(
      `The pictures are only ${formatSize(reference)}; if a side is ${UNDEFINED_IN_LIBVMAF} or less, libvmaf's own ADM is ` +
        "undefined, so scores may differ from libvmaf's.",
    );
  const { sampleAspect, colorRange } = distorted;
  const byNumber = byNumberWarning(reference, distorted);
  if (byNumber !== undefined) warnings.add(byNumber);
  if (sampleAspect && reference.sampleAspect && !areEqual(sampleAspect, reference.sampleAspect))
    warnings.add(
      `Distorted has the sample aspect ratio ${fractionText(sampleAspect)} but reference has ` +
        `${fractionText(reference.sampleAspect)}; samples are compared as stored.`,
    );
  if (colorRange && reference.colorRange && colorRange !== reference.colorRange)
    warnings.add(
      `Distorted has ${colorRange} colour range but reference has ${reference.colorRange}; sample values ` +
        'are compared as stored; if they were converted too, not only labelled, the score is too ' +
        `${colorRange === 'full' ? 'high' : 'low'}.`,
    );
  return [...warnings];
}

type Timed = Pick<VideoInfo, 'frameRate'>;

/** `undefined` for equal or unknown rates. */
export function byNumberWarning(reference: Timed, distorted: Timed): string | undefined {
  const [rate, other] = [reference.frameRate, distorted.frameRate];
  if (!rate || !other || areEqual(other, rate)) return undefined;
  return (
    `Distorted has ${fractionText(other)} frames per second but reference has ${fractionText(rate)}; ` +
    'frames are compared by number, not by time.'
  );
}

function refuseDifferences(reference: VideoInfo, distorted: VideoInfo, anyDepth = false): void {
  const differences: string[] = [];
  const remedies: string[] = [];
  const size = formatSize(reference);
  if (formatSize(distorted) !== size) {
    differences.push(`distorted is ${formatSize(distorted)} but reference is ${size}`);
    remedies.push(`-vf scale=${reference.width}:${reference.height}:flags=bicubic`);
  }
  if (distorted.chroma !== reference.chroma)
    differences.push(
      `distorted is ${[...distorted.chroma].join(':')} but reference is ${[...reference.chroma].join(':')}`,
    );
  if (!anyDepth && distorted.bitDepth !== reference.bitDepth)
    differences.push(`distorted is ${distorted.bitDepth} bit but reference is ${reference.bitDepth} bit`);
  if (differences.length > 0) {
    if (distorted.chroma !== reference.chroma || distorted.bitDepth !== reference.bitDepth)
      remedies.push(`-pix_fmt ${pixelFormatName(reference)}`);
    throw mismatchError(
      `${differences.join('; ')} (${shown(distorted.name)} against ${shown(reference.name)}); ` +
        "convert the distorted video to the reference's format first: " +
        convertCommand(distorted.name, remedies.join(' ')),
    );
  }
}

/** Whether colour metrics run, alone or with others. */
export type ColoursAsked = 'no' | 'also' | 'only';

/** @throws {AnyvmafError} `media` if pictures of this format cannot be measured */
export function checkMeasurable(format: VideoFormat, colours: ColoursAsked = 'no'): void {
  const problem = formatProblem(format);
  if (problem) throw mediaError(`the videos cannot be measured: ${problem}.`);
  const least = colours === 'only' ? LEAST_OF_COLOUR : MIN_SIDE;
  if (Math.min(format.width, format.height) >= least) return;
  const others = `; ssimulacra2, butteraugli and cvvdp without a VMAF model accept sides of at least ${LEAST_OF_COLOUR}`;
  throw mediaError(
    `the videos are ${formatSize(format)}, too small to be measured; width and height must be at least ${least}` +
      `${colours === 'only' ? '' : others}.`,
  );
}

export type Side = SidePictures &
  (
    | { readonly kind: 'frames'; readonly source: FrameSource }
    | {
        readonly kind: 'encoded';
        readonly video: EncodedVideo;
        /** Seconds at which the file's clock jumps back; `times` continue regardless. */
        readonly setBacks?: readonly number[];
      }
  );

interface SidePictures {
  readonly times: Float64Array | null;
  /** Applied filters, a phrase each. */
  readonly applied?: readonly string[];
  /** Bit depth before filters. */
  readonly storedDepth?: number;
  /** Set if the user's filter chain changed the pictures. */
  readonly reshaped?: true;
}

export type Sides = BothOf<Side>;

export function factsOf(side: Side): VideoInfo | TrackFacts {
  return side.kind === 'frames' ? side.source.info : side.video.facts;
}

export function nameOf(side: Side): string {
  return side.kind === 'frames' ? side.source.info.name : side.video.facts.name;
}

/** From packets if possible, since headers are less reliable. */
export function frameCountOf(side: Side): number | null {
  return side.times?.length ?? factsOf(side).frameCount;
}
