/**
 * @module report/inspection
 * Renders the inspection and the alignment of two videos, for a terminal and as JSON.
 */
import type { Fraction } from '../core/numbers.js';
import { counted, printable } from '../core/printable.js';
import type { AlignResult } from '../media/pairing/types.js';
import type { Finding, SideFacts } from '../media/preflight/findings.js';
import { bitrateText, chromaText, joined, rateText, sizeText } from './facts.js';
import { snakeCase } from './kinds.js';
import {
  clock,
  columns,
  cut,
  type Layout,
  layoutOf,
  type Paint,
  pad,
  type Section,
  sectionsText,
  type TerminalOptions,
  widest,
} from './sections.js';
import { remarkLines, remarks, TRUST_OUTLOOK, TRUST_SIGNS, trustOf } from './trust.js';

export interface InspectionView {
  readonly reference: SideFacts;
  readonly distorted: SideFacts;
  readonly findings: readonly Finding[];
  readonly alignment?: AlignResult;
}

const FACTS: readonly (readonly [name: string, textOf: (side: SideFacts) => string | undefined])[] = [
  ['codec', ({ codec, profile }) => known([codec, profile && `(${profile})`], ' ')],
  ['container', ({ container }) => container],
  ['track', ({ track }) => track && `${track.index} of ${track.tracks.length}`],
  ['size', ({ width, height }) => `${width}x${height}`],
  ['sample aspect', ({ sampleAspect }) => sampleAspect && `${sampleAspect.num}:${sampleAspect.den}`],
  ['rotation', ({ rotation }) => (rotation ? `${rotation} degrees` : undefined)],
  ['samples', ({ bitDepth, chroma }) => `${bitDepth} bit ${chromaText(chroma)}`],
  ['range', ({ colorRange }) => colorRange],
  ['colour', ({ primaries, transfer, matrix }) => known([primaries, transfer, matrix], ' / ')],
  ['scan', ({ fieldOrder }) => (fieldOrder === 'unknown' ? undefined : fieldOrder)],
  ['frame rate', rateText],
  ['frames', ({ frameCount }) => (frameCount === null ? undefined : String(frameCount))],
  ['duration', ({ duration }) => (typeof duration === 'number' ? clock(duration, 2) : undefined)],
  ['bit rate', ({ bitrate }) => bitrateText(bitrate ?? undefined)],
  ['file size', ({ fileSize }) => sizeText(fileSize ?? undefined)],
];

/** Facts that differ between any two encodes, so a difference is not marked. */
const ALWAYS_DIFFERENT: readonly string[] = ['codec', 'container', 'bit rate', 'file size'];

export function inspectionText(found: InspectionView, options: TerminalOptions = {}): string {
  const layout = layoutOf(options);
  const { style } = layout;
  const { alignment, findings } = found;
  const { verdict } = trustOf({ preflight: findings });
  const outlook = `${TRUST_OUTLOOK[verdict]}.`;
  return sectionsText(
    [
      { lines: factTable(found, layout) },
      { lines: alignment ? [`${style.dim('alignment')}  ${alignmentPhrase(alignment)}`] : [] },
      { title: 'Preflight', lines: remarkLines(remarks([{ preflight: findings, warnings: [] }])) },
      {
        lines: [verdict === 'fine' ? style.good(outlook) : style.warn(`${TRUST_SIGNS[verdict]} ${outlook}`)],
      },
    ],
    layout,
  );
}

function factTable({ reference, distorted }: InspectionView, { width, style }: Layout): string[] {
  const rows = FACTS.flatMap(([name, textOf]) => {
    const [a, b] = [textOf(reference), textOf(distorted)];
    if (a === undefined && b === undefined) return [];
    const differs = a !== b && !ALWAYS_DIFFERENT.includes(name);
    return [{ name, a: printable(a ?? '-'), b: printable(b ?? '-'), differs }];
  });
  const label = widest(rows.map(({ name }) => columns(name)));
  const room = Math.floor((width - label - 6) / 2);
  const column = Math.min(room, Math.max(20, ...rows.map(({ a }) => columns(a))));
  const left = (text: string, keep: 'both' | 'end') => pad(cut(text, column, keep), column);
  const right = width - label - column - 6;
  const head = pad(style.bold('reference'), column + style.bold('').length);
  // Keep the end of file names.
  const file = `${left(printable(reference.name), 'end')}    ${cut(printable(distorted.name), right, 'end')}`;
  return [
    `${pad('', label)}  ${head}    ${style.bold('distorted')}`,
    `${pad('file', label)}  ${file}`,
    ...rows.map(({ name, a, b, differs }) => {
      const mark = differs ? style.warn(' ≠  ') : '    ';
      const value = cut(b, right, 'both');
      return `${style.dim(pad(name, label))}  ${left(a, 'both')}${mark}${differs ? style.warn(value) : value}`;
    }),
  ];
}

function alignmentPhrase({ offset, confidence, ambiguous, reason }: AlignResult): string {
  if (reason === 'unrelated') return 'the videos do not resemble each other';
  if (ambiguous) return `uncertain (${reason})`;
  const where = offset === 0 ? 'the videos start together' : `offset ${counted(offset, 'frame')}`;
  return `${where}, confidence ${confidence.toFixed(2)}`;
}

/** JSON data with snake_case keys. */
export function inspectionData(found: InspectionView): unknown {
  return {
    reference: sideData(found.reference),
    distorted: sideData(found.distorted),
    preflight: found.findings,
    trust: trustOf({ preflight: found.findings }),
    ...(found.alignment && { alignment: found.alignment }),
  };
}

/** In this order; `track` is followed by the number of tracks. */
const DATA = (
  'name container codec track profile pixelFormat width height bitDepth chroma sampleAspect rotation crop colorRange ' +
  'primaries transfer matrix fieldOrder frameRate frameCount duration startTime bitrate fileSize'
).split(' ') as readonly (keyof SideFacts)[];

function sideData({ track, sampleAspect, frameRate, ...side }: SideFacts): unknown {
  const ratio = (value: Fraction | undefined) => value && `${value.num}/${value.den}`;
  const facts = {
    ...side,
    track: track?.index,
    sampleAspect: ratio(sampleAspect),
    frameRate: ratio(frameRate),
  };
  const entries = DATA.map((name) => [snakeCase(name), facts[name]] as const);
  return Object.fromEntries(
    entries.flatMap((entry) => (entry[0] === 'track' ? [entry, ['tracks', track?.tracks.length]] : [entry])),
  );
}

function known(parts: readonly (string | undefined)[], separator: string): string | undefined {
  return joined(parts, separator) || undefined;
}

export interface AlignmentOptions extends TerminalOptions {
  /** Frames per second of the reference, for times. */
  readonly rate?: number;
  /** Last line: the caller's advice on what to do with the result. */
  readonly advice?: string;
}

const CANDIDATES = 6;

/** Columns of the longer bar. */
const BAR = 48;

export function alignmentText(result: AlignResult, options: AlignmentOptions = {}): string {
  const { advice } = options;
  const layout = layoutOf(options);
  const { style } = layout;
  const { offset, confidence, ambiguous, reason, explanation, compared, candidates } = result;
  const time = options.rate === undefined || offset === 0 ? '' : ` (${seconds(offset / options.rate)})`;
  const certainty = `confidence ${confidence.toFixed(2)}`;
  const value = `offset ${counted(offset, 'frame')}${time}`;
  const heading = ambiguous
    ? `${style.warn(value)}  ${style.warn('uncertain')}  ${style.dim(`${certainty}, ${reason}`)}`
    : `${style.bold(style.good(value))}  ${style.dim(certainty)}`;
  return sectionsText(
    [
      { lines: [heading, { text: explanation }] },
      { lines: reason === 'unrelated' ? [] : drawing(offset, compared, style) },
      ambiguous && candidates.length > 1 ? candidateTable(candidates) : {},
      { lines: advice === undefined ? [] : [style.dim(advice)] },
    ],
    layout,
  );
}

function drawing(offset: number, compared: number, style: Paint): string[] {
  const lead = Math.abs(offset);
  const total = lead + Math.max(1, compared);
  const before = lead === 0 ? 0 : Math.max(1, Math.round((lead / total) * BAR));
  const common = '█'.repeat(Math.max(1, BAR - before));
  const early = '░'.repeat(before);
  const late = ' '.repeat(before);
  return [
    `${style.dim('reference')}  ${offset > 0 ? style.dim(early) : late}${common}`,
    `${style.dim('distorted')}  ${offset < 0 ? style.dim(early) : late}${style.good(common)}`,
  ];
}

function candidateTable(candidates: AlignResult['candidates']): Section {
  const rows = candidates
    .slice(0, CANDIDATES)
    .map(({ offset, similarity }) => [String(offset), similarity.toFixed(4)]);
  const rest = candidates.length - rows.length;
  return {
    title: 'Offsets that fit equally well',
    table: { heads: ['offset', 'similarity'], rows },
    lines: rest > 0 ? [{ lead: '  ', text: `and ${rest} more`, tone: 'dim' }] : [],
  };
}

function seconds(value: number): string {
  return `${value < 0 ? '-' : ''}${Math.abs(value).toFixed(3)} s`;
}

const ALIGNED = [
  'offset',
  'confidence',
  'ambiguous',
  'reason',
  'explanation',
  'similarity',
  'compared',
  'candidates',
  'levels',
  'repeated',
] as const satisfies readonly (keyof AlignResult)[];

export function alignmentData(result: AlignResult): unknown {
  return Object.fromEntries(ALIGNED.map((key) => [key, result[key]]));
}
