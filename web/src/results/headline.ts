/**
 * @module web/results/headline
 * The answer: one encode's score and what it means, or several encodes in a table.
 */
import { type Trust, trustOf, viewerOpinion } from 'anyvmaf';
import { h, patch } from '../dom.js';
import { text } from '../text.js';
import { bitrateOf, type Encode, type Encodes, fileSizeOf, type Pooled } from './encodes.js';
import {
  baseName,
  bitrateText,
  inputFacts,
  labelOf,
  NONE,
  percentOf,
  scoreText,
  shortText,
  sizeText,
  ticks,
  timeText,
  whole,
} from './format.js';
import type { Section } from './section.js';

const words = text.results;
/** Votes lie 20 apart on the scale: the words' widths are the scores nearest to each. */
const WIDTHS = [30, 20, 20, 20, 10] as const;
const TONES = { bad: 'bad', poor: 'bad', fair: 'warn', good: 'good', excellent: 'good' } as const;

export function headlineSection(encodes: Encodes): Section {
  const element = h('section', { class: 'card headline', 'aria-labelledby': 'result-heading' });
  const update = () => {
    const [only, ...others] = encodes.list;
    if (!only) return;
    patch(element, ...(others.length === 0 ? single(encodes, only) : several(encodes)));
  };
  return { element, update, close: () => {} };
}

function valueText(encodes: Encodes, metric: string | undefined, value: number | undefined): string {
  return encodes.isScore(metric) ? scoreText(value) : shortText(value);
}

/** Frames in words. */
function framesText({ columns }: Encode): string {
  return words.frames(whole(columns.length));
}

/** What values stand for before there is a report, or where none will come. */
function soFar({ running }: Encodes, frames: string): string {
  return running ? words.soFarFrames(frames) : words.stopped(frames);
}

// --- one encode ---

function single(encodes: Encodes, encode: Encode): (HTMLElement | undefined)[] {
  const { facts } = encode;
  const metric = encodes.ranking?.metric;
  const pooled = encodes.pooled(encode, metric);
  const model = facts.models?.find(({ name }) => name === metric);
  const trust = trustOf(facts);
  // What viewers would say of a wrong pair is not known.
  const opinion =
    model && facts.reference && facts.pooled_metrics && trust.verdict !== 'untrusted'
      ? viewerOpinion({ reference: facts.reference, pooled_metrics: facts.pooled_metrics }, model)
      : undefined;
  const reference = facts.reference ?? undefined;
  const against = reference?.name ?? encode.result.source?.reference.name;
  return [
    h('h2', { id: 'result-heading', class: 'title' }, encode.name),
    h(
      'p',
      { class: 'files' },
      [against && words.against(baseName(against)), ...(reference ? inputFacts(reference) : [])]
        .filter((part) => part)
        .join(' · '),
    ),
    h(
      'div',
      { class: 'answer' },
      h(
        'div',
        {},
        h(
          'div',
          { class: 'score' },
          valueText(encodes, metric, pooled?.mean),
          flawSign(trust),
          h(
            'sup',
            {},
            metric === undefined ? '' : labelOf(metric),
            pooled?.origin === 'so far' && encodes.running && ` ${words.soFar}`,
          ),
        ),
        opinion && h('span', { class: 'pill', style: `--tone:var(--${TONES[opinion.word]})` }, opinion.word),
      ),
      h(
        'div',
        {},
        pooled && encodes.isScore(metric) && scale(encodes, metric, pooled, opinion?.word),
        h('p', { class: 'soft small' }, meaning(encodes, encode, metric, pooled, opinion?.means)),
      ),
    ),
    flawNote(trust),
    tiles(encodes, encode, metric, pooled),
    origin(encode, pooled),
  ];
}

const FLAWS = { doubtful: ['warn', '!'], untrusted: ['bad', '×'] } as const;

/** What stands beside a score that has a flaw. */
function flawSign({ verdict }: Trust): HTMLElement | undefined {
  if (verdict === 'fine') return undefined;
  const [tone, sign] = FLAWS[verdict];
  const said = words.trust.verdicts[verdict];
  return h(
    'span',
    { class: 'flaw', style: `--tone:var(--${tone})`, role: 'img', 'aria-label': said, title: said },
    sign,
  );
}

/** Why a score has a flaw, below it. */
function flawNote({ verdict, codes, cause = '' }: Trust, name?: string): HTMLElement | undefined {
  if (verdict === 'fine') return undefined;
  const named = codes.length > 0 ? ` [${codes.join(', ')}] ` : ' ';
  return h(
    'p',
    { class: 'flaw-note', style: `--tone:var(--${FLAWS[verdict][0]})` },
    name !== undefined && `${name}: `,
    h('b', {}, words.trust.notes[verdict]),
    `${named}${cause}`,
  );
}

function meaning(
  encodes: Encodes,
  encode: Encode,
  metric: string | undefined,
  pooled: Pooled | undefined,
  opinion: string | undefined,
): string {
  const frames = framesText(encode);
  if (pooled?.origin === 'so far') return soFar(encodes, frames);
  if (metric === undefined) return frames;
  if (!encodes.isScore(metric)) return words.meanOf(metric, frames);
  const model = encode.facts.models?.find(({ name }) => name === metric);
  if (trustOf(encode.facts).verdict === 'untrusted')
    return words.meanOver(frames, model?.source, encodes.rangeOf(metric));
  return `${words.meanOver(frames, model?.source, encodes.rangeOf(metric))} ${opinion ?? (model ? words.noOpinion : words.modelUnknown)}`;
}

/** Where the score lies from bad to excellent, with the range of 98 % of the frames. */
function scale(
  encodes: Encodes,
  metric: string | undefined,
  { mean, min, max, percentile }: Pooled,
  word: string | undefined,
): HTMLElement {
  const [low, high] = [percentile(1), percentile(99)];
  const known = low !== undefined && high !== undefined && Number.isFinite(low) && Number.isFinite(high);
  const label = words.scaleLabel(
    valueText(encodes, metric, mean),
    known ? scoreText(low) : undefined,
    known ? scoreText(high) : undefined,
  );
  const [least, greatest] = encodes.rangeOf(metric) ?? [Math.min(0, min), Math.max(100, max)];
  const marks = ticks(least, greatest, 6);
  const at = (value: number) => percentOf(value, least, greatest);
  return h(
    'div',
    {
      class: word === undefined ? 'scale' : 'scale worded',
      style: '--c:var(--s0)',
      role: 'img',
      'aria-label': label,
      title: label,
    },
    h(
      'div',
      { class: 'bands' },
      ...(word === undefined
        ? marks.map((mark, i) => (marks[i + 1] ?? greatest) - mark).filter((wide) => wide > 0)
        : WIDTHS
      ).map((wide) => h('i', { style: `flex:${wide}` })),
    ),
    known &&
      h('span', { class: 'range', style: `left:${at(low)}%;width:${Math.max(0.4, at(high) - at(low))}%` }),
    h('span', { class: 'dot', style: `left:${at(mean)}%` }),
    ...(word === undefined
      ? marks.map((value) =>
          h(
            'span',
            { class: value === greatest ? 'tick last' : 'tick', style: `left:${at(value)}%` },
            String(value),
          ),
        )
      : [
          h(
            'div',
            { class: 'words' },
            ...words.words.map((name, i) =>
              h('span', { style: `flex:${WIDTHS[i] ?? 20}` }, name === word ? h('b', {}, name) : name),
            ),
          ),
        ]),
  );
}

function tiles(
  encodes: Encodes,
  encode: Encode,
  metric: string | undefined,
  pooled: Pooled | undefined,
): HTMLElement {
  const { facts, columns } = encode;
  const low = encodes.ranking?.worse !== 'high';
  const { rate } = encodes;
  const value = (number: number | undefined) =>
    number === undefined ? undefined : valueText(encodes, metric, number);
  const subsampled = (facts.subsample ?? 1) > 1 && facts.frameCount !== undefined;
  const entries: [string, string | undefined][] = [
    [words.tiles.worstPercent, value(pooled?.percentile(low ? 1 : 99))],
    [words.tiles.worst, value(low ? pooled?.min : pooled?.max)],
    [words.tiles.harmonic, value(pooled?.harmonic_mean)],
    [words.tiles.deviation, value(pooled?.stddev)],
    [
      subsampled ? words.tiles.framesOf(whole(facts.frameCount ?? 0)) : words.tiles.frames,
      whole(columns.length),
    ],
    [
      words.tiles.length,
      rate && facts.frameCount !== undefined ? timeText(facts.frameCount / rate, 1) : undefined,
    ],
    [words.tiles.bitrate, bitrateText(bitrateOf(encode))],
    [words.tiles.size, sizeText(fileSizeOf(encode))],
  ];
  return h(
    'dl',
    { class: 'tiles' },
    ...entries
      .filter(([, shown]) => shown !== undefined)
      .map(([name, shown]) => h('div', {}, h('dt', {}, name), h('dd', {}, shown))),
  );
}

/** Where a saved report's numbers come from, and what its file does not say. */
function origin({ result }: Encode, pooled: Pooled | undefined): HTMLElement | undefined {
  const { saved } = result;
  if (!saved) return undefined;
  const missing = (['reference', 'models', 'version'] as const).filter((key) => saved[key] === undefined);
  const sentences = [
    words.saved.from(saved.format.toUpperCase()),
    pooled?.origin === 'computed'
      ? words.saved.computed
      : saved.computed.includes('distribution') && words.saved.percentiles,
    missing.length > 0 && words.saved.lacks(missing.map((key) => words.saved.lacking[key]).join(', ')),
    ...saved.notes,
    words.saved.noFrames,
  ];
  return h('p', { class: 'origin small soft' }, sentences.filter((sentence) => sentence).join(' '));
}

// --- several encodes ---

/** A column whose best is marked. */
interface Compared {
  readonly values: readonly (number | undefined)[];
  readonly shown: readonly (string | undefined)[];
  readonly better: 'low' | 'high';
  /** Rows whose values are not to be believed, and are not the best. */
  readonly excluded: readonly number[];
}

function several(encodes: Encodes): (HTMLElement | undefined)[] {
  const { list, ranking } = encodes;
  const metric = ranking?.metric;
  const low = ranking?.worse !== 'high';
  const pooled = list.map((encode) => encodes.pooled(encode, metric));
  const references = [
    ...new Set(list.map(({ facts, result }) => facts.reference?.name ?? result.source?.reference.name)),
  ];
  const [reference] = references;
  const input = list.find(({ facts }) => facts.reference)?.facts.reference;
  // Of one that failed before its first frame nothing is to come.
  const scored = encodes.running ? list : list.filter(({ columns }) => columns.length > 0);
  const growing = scored.some(({ growing: is }) => is);
  const why = growing ? undefined : incomparable(scored, references);
  const show = (values: readonly (number | undefined)[]) =>
    values.map((value) => (value === undefined ? undefined : valueText(encodes, metric, value)));
  const means = pooled.map((values) => values?.mean);
  const tails = pooled.map((values) => values?.percentile(low ? 1 : 99));
  const tops = pooled.map((values) => values?.percentile(low ? 99 : 1));
  const rates = list.map(bitrateOf);
  const sizes = list.map(fileSizeOf);
  const trusts = list.map(({ facts }) => trustOf(facts));
  const excluded = trusts.flatMap(({ verdict }, i) => (verdict === 'untrusted' ? [i] : []));
  const compared: Compared[] = [
    { values: means, shown: show(means), better: low ? 'high' : 'low', excluded },
    { values: tails, shown: show(tails), better: low ? 'high' : 'low', excluded },
    { values: rates, shown: rates.map(bitrateText), better: 'low', excluded: [] },
    { values: sizes, shown: sizes.map(sizeText), better: 'low', excluded: [] },
  ];
  const marks = compared.map((column) =>
    growing || why !== undefined || scored.length < 2 ? [] : bestOf(column),
  );
  const all = [...means, ...tails, ...tops].filter((value) => value !== undefined && Number.isFinite(value));
  const [from, to] = (encodes.isScore(metric) ? encodes.rangeOf(metric) : undefined) ?? [
    Math.min(...all.map(Number)),
    Math.max(...all.map(Number)),
  ];
  const heads = [words.table.worst, words.table.bitrate, words.table.size];
  const cell = (column: number, row: number, label: string, strong = false) => {
    const best = marks[column]?.includes(row) ?? false;
    return h(
      'td',
      {
        'data-label': label,
        class: [strong ? 'main' : '', best ? 'best' : ''].join(' ').trim() || undefined,
      },
      compared[column]?.shown[row] ?? NONE,
      strong && trusts[row] && flawSign(trusts[row]),
      best && h('span', { class: 'unseen' }, ` (${words.table.best})`),
    );
  };
  const rows = list.map((encode, i) => {
    const [mean, tail, top] = [means[i], tails[i], tops[i]];
    const at = (value: number) => percentOf(value, from, to);
    const [left, right] =
      tail === undefined || top === undefined ? [0, 0] : [at(Math.min(tail, top)), at(Math.max(tail, top))];
    return h(
      'tr',
      { style: `--c:var(--s${i % 8})` },
      h(
        'th',
        { scope: 'row', title: encode.result.name },
        h('span', { class: 'swatch' }),
        h('span', {}, encode.name),
        encodes.apart &&
          encode.facts.reference &&
          h(
            'span',
            { class: 'skipped soft small' },
            words.table.skipped(
              words.table.skippedFrames(encode.facts.reference.skipped, encode.facts.distorted?.skipped ?? 0),
            ),
          ),
      ),
      cell(0, i, labelOf(metric ?? ''), true),
      h(
        'td',
        { class: 'track-cell', 'aria-hidden': 'true' },
        h(
          'div',
          { class: 'track' },
          right > left && h('span', { class: 'range', style: `left:${left}%;width:${right - left}%` }),
          mean !== undefined && h('span', { class: 'dot', style: `left:${at(mean)}%` }),
        ),
      ),
      ...heads.map((head, column) => cell(column + 1, i, head)),
    );
  });
  const frames = Math.min(...scored.map(({ columns }) => columns.length));
  const note = growing
    ? soFar(encodes, words.frames(whole(frames)))
    : why === undefined
      ? marks.some(({ length }) => length > 0)
        ? words.table.bestNote
        : ''
      : words.table.incomparable(why);
  return [
    h(
      'h2',
      { id: 'result-heading', class: 'title' },
      words.severalOf(list.length, references.length === 1 && reference ? baseName(reference) : undefined),
    ),
    h(
      'p',
      { class: 'files' },
      [...(input ? inputFacts(input) : []), modelText(list, metric)].filter((part) => part).join(' · '),
    ),
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'encodes' },
        h('caption', { class: 'unseen' }, words.table.caption),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, words.table.encode),
            h('th', { scope: 'col' }, labelOf(metric ?? '')),
            h('th', { class: 'track-cell', 'aria-hidden': 'true' }, words.table.spread),
            ...heads.map((head) => h('th', { scope: 'col' }, head)),
          ),
        ),
        h('tbody', {}, ...rows),
      ),
    ),
    ...trusts.map((trust, i) => flawNote(trust, list[i]?.name)),
    h('p', { class: 'soft small note' }, note),
    ...list
      .slice(0, 1)
      .flatMap(({ result }) => (result.saved ? [h('p', { class: 'small soft' }, words.saved.noFrames)] : [])),
  ];
}

function modelText(list: readonly Encode[], metric: string | undefined): string {
  const sources = list.flatMap(
    ({ facts }) => facts.models?.find(({ name }) => name === metric)?.source ?? [],
  );
  return [...new Set(sources)].join(', ');
}

/** Why no encode is better than another, where numbers do not compare. */
function incomparable(
  list: readonly Encode[],
  references: readonly (string | undefined)[],
): string | undefined {
  const differ = (key: (encode: Encode) => unknown) => new Set(list.map(key)).size > 1;
  if (references.length > 1) return words.table.references;
  if (
    differ(({ facts }) =>
      JSON.stringify(facts.models?.map(({ name, source, options }) => [name, source, options])),
    )
  )
    return words.table.models;
  if (
    differ(
      ({ facts: { pairing, reference } }) =>
        `${(pairing ?? reference)?.width} ${(pairing ?? reference)?.height}`,
    )
  )
    return words.table.sizes;
  if (differ(({ columns }) => columns.length)) return words.table.counts;
  return undefined;
}

/** Rows that are best as far as can be read: equal texts are equally good. None where all are. */
function bestOf({ values: all, shown, better, excluded }: Compared): number[] {
  const values = all.map((value, i) => (excluded.includes(i) ? undefined : value));
  const known = values.filter((value) => value !== undefined && Number.isFinite(value)).map(Number);
  if (known.length < 2) return [];
  const best = better === 'high' ? Math.max(...known) : Math.min(...known);
  const word = shown[values.indexOf(best)];
  const rows = shown.flatMap((own, i) => (own === word && !excluded.includes(i) ? [i] : []));
  return rows.length === known.length ? [] : rows;
}
