/**
 * @module pictures/facts
 * Measures defects of a frame from its luma and the reference's; docs/worst-frames.md explains each fact.
 */
import type { VideoFormat } from '../core/frame.js';
import {
  banding,
  blockiness,
  brightness,
  flatBlocks,
  type Luma,
  lumaOf,
  noiseIn,
  type Place,
  place,
  sharpness,
} from './measures.js';

/** How visible a defect is. */
export type FactLevel = 'none' | 'slight' | 'clear' | 'strong';

/** One fact about a frame. */
export interface FrameFact {
  /** Change from the reference to the distorted frame, in `unit`; larger is worse. */
  readonly value: number;
  readonly unit: string;
  /** Range of harmless values, in words. */
  readonly normal: string;
  readonly level: FactLevel;
  /** Measurement of each frame. */
  readonly reference: number;
  readonly distorted: number;
}

/** Names of the facts. */
export type FrameFactName = 'blockiness' | 'blur' | 'noise' | 'banding' | 'contrast_loss';

/** All measurements of a pair of frames. */
export interface FrameFacts extends Readonly<Record<FrameFactName, FrameFact>> {
  /** Mean luma in 8-bit levels, 0..255. */
  readonly brightness: { readonly reference: number; readonly distorted: number };
  /** Location and size of the difference. */
  readonly difference: Place;
  /** One or two sentences about all facts. */
  readonly summary: string;
}

interface FrameFactSpec {
  readonly unit: string;
  readonly normal: string;
  /** Smallest values that count as slight, clear, strong. */
  readonly from: readonly [slight: number, clear: number, strong: number];
}

/** In order. docs/worst-frames.md shows the encodes from which the levels were chosen. */
const SPECS: Readonly<Record<FrameFactName, FrameFactSpec>> = {
  // Mean step across the borders of 8x8 blocks over that inside, minus the same of the reference: about -1 to 15.
  blockiness: { unit: 'ratio', normal: 'below 0.05', from: [0.05, 0.2, 0.5] },
  // Lost share of the reference's fine detail, relative to contrast: at most 1, negative with added detail.
  blur: { unit: 'share', normal: '-0.1 to 0.1', from: [0.1, 0.35, 0.6] },
  // Standard deviation of noise in parts that are flat in the reference, minus the reference's.
  noise: { unit: '8-bit levels', normal: '-0.5 to 0.5', from: [0.5, 1.5, 4] },
  // Share of the picture in runs of equal samples, weighted by the step to the next, minus the reference's: -1 to 1.
  banding: { unit: 'share', normal: 'below 0.05', from: [0.05, 0.2, 0.5] },
  // Lost share of luma's standard deviation: at most 1, negative if contrast increased.
  contrast_loss: { unit: 'share', normal: '-0.03 to 0.03', from: [0.03, 0.1, 0.25] },
};

/** @param reference packed luma, as in media/types */
export function measureFacts(reference: Uint8Array, distorted: Uint8Array, format: VideoFormat): FrameFacts {
  const [ref, dis] = [lumaOf(reference, format), lumaOf(distorted, format)];
  const flat = flatBlocks(ref);
  const light = [brightness(ref), brightness(dis)] as const;
  const of = (measure: (luma: Luma) => number) => [measure(ref), measure(dis)] as const;
  const facts: WordlessFacts = {
    blockiness: fact('blockiness', of(blockiness), growth),
    blur: fact('blur', of(sharpness), loss),
    noise: fact(
      'noise',
      of((luma) => noiseIn(luma, flat)),
      growth,
    ),
    banding: fact('banding', of(banding), growth),
    contrast_loss: fact('contrast_loss', [light[0].deviation, light[1].deviation], loss),
    brightness: { reference: light[0].mean, distorted: light[1].mean },
    difference: place(ref, dis),
  };
  return { ...facts, summary: summarizeFacts(facts) };
}

type Both = readonly [reference: number, distorted: number];

const growth = ([reference, distorted]: Both) => distorted - reference;
const loss = ([reference, distorted]: Both) =>
  reference === 0 ? 0 : Math.max(-LARGEST_GAIN, 1 - distorted / reference);

/** Limits negative losses, which a nearly flat reference would make meaninglessly large. */
const LARGEST_GAIN = 10;

function fact(name: FrameFactName, both: Both, combine: (both: Both) => number): FrameFact {
  const value = combine(both);
  const { unit, normal, from } = SPECS[name];
  return { value, unit, normal, level: levelOf(from, value), reference: both[0], distorted: both[1] };
}

function levelOf([slight, clear, strong]: FrameFactSpec['from'], value: number): FactLevel {
  if (value >= strong) return 'strong';
  if (value >= clear) return 'clear';
  return value >= slight ? 'slight' : 'none';
}

type WordlessFacts = Omit<FrameFacts, 'summary'>;

/** Smallest visible change of mean luma in levels. */
const BRIGHTER = 2;
/** Smallest loss of noise to mention, as standard deviation in levels. */
const DENOISED = 0.5;
/** Smallest gain of detail to mention. */
const SHARPENED = 0.25;
/** Smallest share of the squared error for naming a ninth of the picture; 0.11 would be even. */
const GATHERED = 0.2;

const TEXTS: Readonly<Record<FrameFactName, (facts: WordlessFacts) => string>> = {
  blockiness: ({ blockiness }) =>
    `blockiness (steps at the 8x8 grid are ${blockiness.distorted.toFixed(2)} times those inside, in the ` +
    `reference ${blockiness.reference.toFixed(2)})`,
  blur: ({ blur }) => `blur (${percent(blur.value)} of the fine detail is gone)`,
  noise: ({ noise }) => `noise (${noise.value.toFixed(1)} levels added in flat parts)`,
  banding: ({ banding }) => `banding (${percent(banding.value)} more of the picture is drawn in flat steps)`,
  contrast_loss: ({ contrast_loss }) => `contrast loss (${percent(contrast_loss.value)} less)`,
};

const NAMES = ['blockiness', 'blur', 'noise', 'banding', 'contrast_loss'] as const;
const WEIGHT = { none: 0, slight: 1, clear: 2, strong: 3 } as const;

/** Names the visible defects, the strongest first, and where the frames differ. */
function summarizeFacts(facts: WordlessFacts): string {
  const { difference } = facts;
  if (difference.part === null) return 'Luma is the same in both frames.';
  const found = NAMES.filter((name) => facts[name].level !== 'none')
    .sort((a, b) => WEIGHT[facts[b].level] - WEIGHT[facts[a].level])
    .map((name) => `${facts[name].level} ${TEXTS[name](facts)}`);
  const clauses = [...found, ...asides(facts)];
  const what = clauses.length === 0 ? 'No measured defect stands out' : capitalized(clauses.join('; '));
  const where = difference.share >= GATHERED ? `, mostly in the ${difference.part} of the picture` : '';
  return `${what}. Luma differs by ${difference.mean.toFixed(1)} of 255 levels on average${where}.`;
}

/** Changes that are not defects. */
function asides({ blur, noise, brightness }: WordlessFacts): string[] {
  const lighter = brightness.distorted - brightness.reference;
  return [
    ...(noise.value <= -DENOISED
      ? [`noise or grain of the reference is smoothed away (${(-noise.value).toFixed(1)} levels)`]
      : []),
    ...(blur.value <= -SHARPENED && noise.level === 'none'
      ? ['there is more fine detail than in the reference, as after sharpening']
      : []),
    ...(Math.abs(lighter) >= BRIGHTER
      ? [`the picture is ${Math.abs(lighter).toFixed(0)} levels ${lighter > 0 ? 'brighter' : 'darker'}`]
      : []),
  ];
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
