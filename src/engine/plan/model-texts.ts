/**
 * @module engine/plan/model-texts
 * Settles model strings: `auto` becomes the model for HD or 4K screens, by the scored size. VMAF v1 models are told
 * the format of encodes that are scaled up: CAMBI's banding is that of the encode's samples.
 */

import type { VideoFormat } from '../../core/frame.js';
import type { PictureSize } from '../../core/size.js';
import { factsOf } from '../../media/pairing/prepare.js';
import type { ExtractorInstance } from '../../metrics/metric.js';
import type { LoadedModel } from '../../models/types.js';
import { formatOf, type Pair } from '../pair/pair.js';

export interface EncodedPictures {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

/** The scored size, and the encoded pictures if they are scaled up. */
export interface ScoredSize extends PictureSize {
  readonly encode?: EncodedPictures;
}

export function scoredSize(known: Pair): VideoFormat & ScoredSize {
  return { ...formatOf(known), encode: scaledEncode(known) };
}

/** Distorted pictures before they are scaled up; `undefined` if they are not, or if only ffmpeg reshapes them. */
function scaledEncode({ plan, sides: { distorted } }: Pair): EncodedPictures | undefined {
  if (!plan || distorted.reshaped) return undefined;
  const { width, height, bitDepth } = factsOf(distorted);
  const { format } = plan;
  const isScaledUp =
    width <= format.width && height <= format.height && (width < format.width || height < format.height);
  return isScaledUp ? { width, height, bitDepth: distorted.storedDepth ?? bitDepth } : undefined;
}

/** CAMBI's options about the encode, and where their values come from. */
const OPTIONS = { enc_width: 'width', enc_height: 'height', enc_bitdepth: 'bitDepth' } as const;
const NAMES = Object.keys(OPTIONS) as readonly (keyof typeof OPTIONS)[];

/** Whether a model has CAMBI and sets none of its options about the encode. */
export function isOpenToEncode({ extractors }: LoadedModel): boolean {
  const cambi = cambiOf(extractors);
  return cambi !== undefined && !NAMES.some((name) => cambi.given.has(name));
}

/** Adds the encode to CAMBI's options in a model string, unless a value is out of their ranges. */
export function withEncode(text: string, { extractors }: LoadedModel, encode: EncodedPictures): string {
  const values = NAMES.map((name) => [name, encode[OPTIONS[name]]] as const);
  const fits = values.every(([name, value]) => {
    const { min = 0, max = 0 } = cambiOf(extractors)?.spec.options.find((one) => one.name === name) ?? {};
    return value >= min && value <= max;
  });
  return fits ? [text, ...values.map(([name, value]) => `cambi.${name}=${value}`)].join(':') : text;
}

/** The encode options given to a model's CAMBI, as a full sentence; `undefined` if there are none. */
export function encodeSettings({ extractors }: LoadedModel): string | undefined {
  const cambi = cambiOf(extractors);
  const told = NAMES.filter((name) => cambi?.given.has(name));
  if (told.length === 0) return undefined;
  return `CAMBI was given the encode's format: ${told.map((name) => `${name}=${cambi?.options[name]}`).join(', ')}.`;
}

function cambiOf(extractors: readonly ExtractorInstance[]): ExtractorInstance | undefined {
  return extractors.find(({ spec }) => spec.name === 'cambi');
}

export interface ModelChoice {
  readonly version: string;
  /** A full sentence. */
  readonly reason: string;
}

/** Largest long and short side of pictures that are nearer to 1920x1080 than to 3840x2160. */
const HD_LIMIT = { long: 2560, short: 1440 };

/** Whether a model string is `auto`, alone or followed by flags and overloads. */
export function isOpen(text: string): boolean {
  return text === 'auto' || text.startsWith('auto:');
}

/** Resolves `auto` in a model string; returns others unchanged. */
export function settle(text: string, { version }: ModelChoice): string {
  return isOpen(text) ? `version=${version}${text.slice('auto'.length)}` : text;
}

/** Chooses the model trained for screens of about this size. */
export function chooseModel({ width, height }: PictureSize): ModelChoice {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const size = `${width}x${height}`;
  if (long > HD_LIMIT.long || short > HD_LIMIT.short) {
    return {
      version: 'vmaf_4k_v0.6.1',
      reason: `${size} is nearer to 4K than to HD: vmaf_4k_v0.6.1, for a 4K screen at 1.5 screen heights.`,
    };
  }
  return {
    version: 'vmaf_v0.6.1',
    reason: `${size} is at most ${HD_LIMIT.long}x${HD_LIMIT.short}: vmaf_v0.6.1, for an HD screen at 3 screen heights.`,
  };
}
