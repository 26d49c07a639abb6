/**
 * @module pictures/words
 * Describes the facts about a frame in one or two sentences.
 */
import type { FrameFactName, FrameFacts } from './facts.js';

/** Facts without the summary. */
export type WordlessFacts = Omit<FrameFacts, 'summary'>;

/** Smallest visible change of mean luma in levels. */
const BRIGHTER = 2;
/** Smallest loss of noise to mention, as standard deviation in levels. */
const DENOISED = 0.5;
/** Smallest gain of detail to mention. */
const SHARPENED = 0.25;
/** Smallest share of the squared error for naming a ninth of the picture; 0.11 would be even. */
const GATHERED = 0.2;

/** The text of each fact. */
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
export function summarizeFacts(facts: WordlessFacts): string {
  const { difference } = facts;
  if (difference.part === null) return 'Luma is the same in both frames.';
  const found = NAMES.filter((name) => facts[name].level !== 'none')
    .sort((a, b) => WEIGHT[facts[b].level] - WEIGHT[facts[a].level])
    .map((name) => `${facts[name].level} ${TEXTS[name](facts)}`);
  const clauses = [...found, ...asides(facts)];
  const what =
    clauses.length === 0 ? 'None of the measured defects stands out' : capitalized(clauses.join('; '));
  const where = difference.share >= GATHERED ? `, most of all in the ${difference.part} of the picture` : '';
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
