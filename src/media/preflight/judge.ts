/**
 * @module media/preflight/judge
 * Relates the findings of a pair: which cause explains which others.
 */
import type { AlignResult } from '../pairing/types.js';
import type { Finding, FindingCode, PairFacts, Severity } from './findings.js';

interface Rule {
  readonly cause: FindingCode;
  readonly explains: readonly FindingCode[];
  /** Conditions on some of them. */
  readonly given?: Partial<Record<FindingCode, Condition>>;
}

type Condition = (pair: Weighed) => boolean;

interface Weighed {
  readonly cause: Finding;
  readonly symptom: Finding;
  readonly all: readonly Finding[];
  readonly alignment: AlignResult | undefined;
}

/** Least correlation of pictures whose timing can be compared. */
const ALIKE = 0.9;
/** Largest relative change of contrast that a wrong matrix causes, in saturated colours. */
const MATRIX_GAIN = 0.5;
/** Pairs from the start in which the offset search may include a slip. */
const SEARCHED = 300;
/** Findings about pairs that show different moments. */
const OF_MOMENTS = ['duplicate-frames', 'swapped'] as const;
const OF_LENGTH = ['frame-count', 'duration'] as const;
const OF_GAPS = ['missing-frames', 'variable-frame-rate'] as const;
/** Findings that assume that both pictures show the same thing. */
const OF_PICTURES = [...OF_MOMENTS, 'unrelated', 'offset-unclear', 'levels', 'chroma'] as const;
/** Findings about the moments that pictures show. */
const OF_TIMING = ['offset', 'slip', 'freeze'] as const;
/** Symptoms of samples that mean different light. */
const OF_LIGHT = ['transfer', 'primaries', 'matrix', 'color-range', 'hdr'] as const;
/** Symptoms of different parts of the picture. */
const OF_SHAPE = ['display-aspect', 'sample-aspect', 'size'] as const;

/** The times of unlike pictures match only by chance. */
const unlike: Condition = ({ alignment, all }) =>
  alignment ? alignment.similarity < ALIKE : all.some(({ code }) => code === 'unrelated');

const UNLIKE = { offset: unlike, slip: unlike, freeze: unlike };

/** True if the slip explains the offset: both are equal, or the search included the slip. */
const slipped: Condition = ({ cause: { places = [] }, symptom: { reference, distorted } }) => {
  let ahead = 0;
  const reached = places.map(({ frames }) => (ahead += frames));
  const offset = Number(reference) - Number(distorted);
  const early = places.some(({ frame }) => frame < SEARCHED);
  return early && (reference === null || reached.includes(offset));
};

/** Fields and telecine change the rate only by these ratios. */
const byFields = ({ symptom: { reference, distorted } }: Pick<Weighed, 'symptom'>) => {
  const ratio = rate(reference) / rate(distorted);
  return [2, 1 / 2, 5 / 4, 4 / 5].some((change) => Math.abs(ratio / change - 1) < 0.01);
};

/** Woven fields of two frames show either of them. */
const byOneField: Condition = ({ symptom: { reference, distorted }, all }) =>
  Number(reference) + Number(distorted) === 1 &&
  all.some((symptom) => symptom.code === 'frame-rate' && byFields({ symptom }));

const byMatrix: Condition = ({ alignment }) =>
  alignment !== undefined && Math.abs(alignment.levels.gain - 1) <= MATRIX_GAIN;

/** What pictures of another part, place or light show wrongly. */
const SEEN = [...OF_PICTURES, ...OF_TIMING];

/** In order of precedence: causes that select the compared pictures come before what these show. */
const RULES: readonly Rule[] = [
  {
    cause: 'tracks',
    explains: [...SEEN, ...OF_LENGTH, 'size', 'frame-rate'],
    given: { ...UNLIKE, swapped: unlike, levels: unlike, chroma: unlike },
  },
  { cause: 'raw-geometry', explains: [...SEEN, ...OF_LENGTH, 'framing', 'black-borders', 'lost-frames'] },
  { cause: 'dynamic-range', explains: [...SEEN, ...OF_LIGHT], given: UNLIKE },
  { cause: 'dolby-vision', explains: [...SEEN, ...OF_LIGHT], given: UNLIKE },
  { cause: 'framing', explains: [...SEEN, ...OF_SHAPE, 'black-borders'], given: UNLIKE },
  { cause: 'black-borders', explains: [...SEEN, ...OF_SHAPE], given: UNLIKE },
  {
    cause: 'display-aspect',
    explains: [...SEEN, 'sample-aspect', 'size'],
    // Without a fix, the shape may be that of another video.
    given: { ...UNLIKE, unrelated: ({ cause }) => cause.fix !== undefined },
  },
  {
    cause: 'lost-frames',
    explains: [...OF_LENGTH, ...OF_MOMENTS, ...OF_GAPS, 'frame-rate', 'offset-unclear', 'slip', 'freeze'],
  },
  {
    cause: 'slip',
    explains: [...OF_LENGTH, ...OF_MOMENTS, 'offset', 'offset-unclear', 'freeze'],
    given: { offset: slipped },
  },
  { cause: 'unrelated', explains: SEEN },
  { cause: 'offset', explains: [...OF_LENGTH, ...OF_MOMENTS, 'freeze'] },
  {
    cause: 'interlaced',
    explains: [...OF_MOMENTS, 'frame-rate', 'freeze', 'offset'],
    given: { 'frame-rate': byFields, offset: byOneField },
  },
  { cause: 'swapped', explains: ['size'] },
  { cause: 'frame-rate', explains: [...OF_LENGTH, ...OF_GAPS, 'duplicate-frames', 'freeze'] },
  { cause: 'clock-set-back', explains: [...OF_LENGTH, ...OF_GAPS] },
  { cause: 'missing-frames', explains: ['frame-count', 'variable-frame-rate', 'duplicate-frames'] },
  { cause: 'freeze', explains: [...OF_LENGTH, 'duplicate-frames'] },
  { cause: 'duplicate-frames', explains: ['frame-count'] },
  { cause: 'transfer', explains: ['levels', 'hdr'] },
  { cause: 'color-range', explains: ['levels'] },
  { cause: 'matrix', explains: ['levels', 'chroma'], given: { levels: byMatrix } },
];

/** Position among the causes, in order of precedence. */
export function causeRank(code: string): number {
  const rank = RULES.findIndex(({ cause }) => cause === code);
  return rank < 0 ? RULES.length : rank;
}

/**
 * Turns findings that a graver one explains into infos, since its fix solves both. May run again with more findings.
 * @returns the gravest first, then by {@link causeRank}, each followed by what it explains
 */
export function judge(findings: readonly Finding[], { alignment }: Pick<PairFacts, 'alignment'> = {}) {
  let judged = [...findings];
  for (const { cause: code, explains, given = {} } of RULES) {
    const cause = judged.find((finding) => finding.code === code && finding.severity !== 'info');
    if (!cause) continue;
    const all = judged;
    judged = judged.map((symptom) =>
      symptom.code !== code &&
      explains.includes(symptom.code) &&
      explainable(symptom) &&
      (given[symptom.code]?.({ cause, symptom, all, alignment }) ?? true)
        ? follower(symptom, code)
        : symptom,
    );
  }
  const causes = judged.filter(({ follows }) => follows === undefined);
  causes.sort((a, b) => weight(a) - weight(b) || causeRank(a.code) - causeRank(b.code));
  return causes.flatMap((cause, i) => {
    const first = causes.findIndex(({ code }) => code === cause.code) === i;
    return [cause, ...(first ? followersOf(cause.code, judged) : [])];
  });
}

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];

function weight({ severity }: Finding): number {
  return ORDER.indexOf(severity);
}

/** Warnings, and errors that are measured rather than about options. */
function explainable({ code, severity }: Finding): boolean {
  return severity === 'warning' || (severity === 'error' && code === 'slip');
}

function follower({ fix: _fix, hint: _hint, ...symptom }: Finding, follows: FindingCode): Finding {
  return { ...symptom, severity: 'info', follows };
}

function followersOf(code: FindingCode, judged: readonly Finding[]): Finding[] {
  return judged
    .filter(({ follows }) => follows === code)
    .flatMap((finding) => [finding, ...followersOf(finding.code, judged)]);
}

/** Parses a finding's rate: `25` or `30000/1001`. */
function rate(value: Finding['reference']): number {
  const [num, den = 1] = String(value).split('/').map(Number);
  return (num ?? Number.NaN) / den;
}
