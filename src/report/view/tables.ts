/**
 * @module report/view/tables
 * Statistics of every metric as tables, their distribution over the frames, and how the numbers were made.
 */
import { framesText } from '../facts.js';
import { valuesWithoutGrain } from '../quality-metrics.js';
import { runGroups } from '../run.js';
import { PERCENTS } from '../schema.js';
import { type Encode, type EncodeList, type Pooled, windowOf } from './encodes.js';
import {
  cellText,
  colourOf,
  encodeColour,
  encodeDash,
  labelOf,
  NONE,
  percentOf,
  shortName,
  type Templates,
} from './numbers.js';
import { type Extent, extentOf, fixed, roundStep, ticks } from './scales.js';

const COLUMNS: readonly (readonly [head: string, of: (pooled: Pooled) => number | undefined])[] = [
  ['mean', ({ mean }) => mean],
  ['harmonic', ({ harmonic_mean }) => harmonic_mean],
  ['min', ({ min }) => min],
  ['1 %', ({ percentile }) => percentile(1)],
  ['5 %', ({ percentile }) => percentile(5)],
  ['median', ({ percentile }) => percentile(50)],
  ['max', ({ max }) => max],
  ['deviation', ({ stddev }) => stddev],
];

/** Statistics of all metrics; for several encodes, their means side by side, then each by itself. */
export function pooledTables<T>(templates: Templates<T>, encodes: EncodeList): T[] {
  const { html } = templates;
  const { taken: list, ordered, ranking } = encodes;
  const [only, ...others] = list;
  if (!only) return [];
  if (others.length === 0)
    return [
      pooledTable(templates, encodes, only),
      ...ofWindow(templates, only),
      ...aggregates(templates, only),
    ];
  const heads = list.map(
    ({ name, index }) =>
      html`<th scope="col" class="name" title="${name}" .style=${colourOf(index)}><span class="swatch"></span>${name}</th>`,
  );
  const rows = ordered.map((metric) => {
    const means = list.map((encode) => html`<td>${cellText(encodes.pooled(encode, metric)?.mean)}</td>`);
    return html`<tr class="${metric === ranking?.metric ? 'main' : ''}"><th scope="row">${metric}</th>${means}</tr>`;
  });
  return [
    html`<div class="scroll" tabindex="0" role="region" aria-label="mean"><table><thead><tr><th scope="col">mean</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`,
    ...list.map(
      (encode) =>
        html`<details><summary .style=${colourOf(encode.index)}><span class="swatch"></span><span>${encode.name}</span></summary>${pooledTable(templates, encodes, encode)}${aggregates(templates, encode)}</details>`,
    ),
  ];
}

function pooledTable<T>({ html }: Templates<T>, encodes: EncodeList, encode: Encode): T {
  const label = `Pooled values of ${encode.name}`;
  const rows = encodes.ordered.map((metric) => {
    const pooled = encodes.pooled(encode, metric);
    const values = COLUMNS.map(([, of]) => pooled && of(pooled));
    return html`<tr class="${metric === encodes.ranking?.metric ? 'main' : ''}"><th scope="row">${metric}</th>${values.map((value) => html`<td>${cellText(value)}</td>`)}</tr>`;
  });
  const heads = COLUMNS.map(([name]) => html`<th scope="col">${name}</th>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><caption class="unseen">${label}</caption><thead><tr><th scope="col">metric</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A window keeps the last frames only; means and extremes cover all. */
function ofWindow<T>({ html }: Templates<T>, encode: Encode): T[] {
  const kept = windowOf(encode);
  if (kept === undefined) return [];
  return [html`<p class="small soft whole">Percentiles and deviations: the last ${framesText(kept)}.</p>`];
}

function aggregates<T>({ html }: Templates<T>, { facts }: Encode): T[] {
  const kinds = [
    ['Whole run', Object.entries(facts.aggregate_metrics ?? {})],
    ['Without film grain', valuesWithoutGrain(facts).map(({ metric, value }) => [metric, value] as const)],
  ] as const;
  return kinds.flatMap(([title, entries]) => {
    if (entries.length === 0) return [];
    const values = entries.map(([name, value], i) => html`${i ? ', ' : ''}${name} <b>${cellText(value)}</b>`);
    return html`<p class="small soft whole">${title}: ${values}</p>`;
  });
}

const BINS = 42;
const HEIGHT = 100;

/** Above this many encodes, histograms cover each other. */
const MOST_HISTOGRAMS = 3;

export function spreadKind(encodes: number): 'histogram' | 'cumulative' {
  return encodes > MOST_HISTOGRAMS ? 'cumulative' : 'histogram';
}

export interface Histogram extends Extent {
  /** Width of a bin. */
  readonly step: number;
  readonly counts: readonly number[];
}

/** Counts values in about `bins` bins whose edges are multiples of a round step. `range` has all finite values. */
export function histogram(values: Iterable<number>, range: Extent, bins: number): Histogram {
  const step = roundStep(range.high - range.low || 1, bins);
  const low = Math.floor(range.low / step) * step;
  const count = Math.max(1, Math.ceil(range.high / step - low / step - 1e-9));
  const counts = new Array<number>(count).fill(0);
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(count - 1, Math.max(0, Math.floor(value / step - low / step + 1e-9)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { low, high: low + count * step, step, counts };
}

export interface Spread {
  readonly index: number;
  readonly values: Float64Array;
}

/** `undefined` without finite values. `extent` is the range of all values. */
export function distribution<T>(
  templates: Templates<T>,
  spreads: readonly Spread[],
  kind: 'histogram' | 'cumulative' = 'histogram',
  extent = extentOf(spreads.map(({ values }) => values)),
):
  | {
      readonly drawing: readonly unknown[];
      readonly range: Extent;
      /** Share of frames in each of equal parts of the range, by encode. */
      readonly shares: readonly (readonly number[])[];
    }
  | undefined {
  const { html, svg } = templates;
  const bins = extent && spreads.map(({ values }) => histogram(values, extent, BINS));
  const range = bins?.[0];
  if (!range) return undefined;
  // Encodes may differ in length, so compare shares, not counts.
  const shares = bins.map(({ counts }) => {
    const all = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count) => count / Math.max(1, all));
  });
  const tallest = Math.max(Number.MIN_VALUE, ...shares.flat());
  const draw = kind === 'cumulative' ? curve : shares.length === 1 ? bars : outline;
  const shapes = shares.map((share, i) => draw(svg, share, spreads[i]?.index ?? 0, tallest));
  const axis = ticks(range.low, range.high, 6).map((value) => {
    const at = percentOf(value, range.low, range.high);
    const side = at < 3 ? ' first' : at > 96 ? ' last' : '';
    return html`<span class="x${side}" .style=${`left:${at}%`}>${String(value)}</span>`;
  });
  return {
    drawing: [
      html`<svg viewBox="0 0 ${range.counts.length} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${shapes}</svg>`,
      axis,
    ],
    range,
    shares,
  };
}

type Draw = <T>(svg: Templates<T>['svg'], shares: readonly number[], index: number, tallest: number) => T;

/** Keeps the smallest bars visible. */
function top(share: number, tallest: number): string {
  return fixed(share > 0 ? Math.min(HEIGHT - 1.2, HEIGHT - (share / tallest) * HEIGHT * 0.94) : HEIGHT);
}

const bars: Draw = (svg, shares, index, tallest) => {
  const path = shares.map((share, i) =>
    share > 0 ? `M${i + 0.06} ${HEIGHT}V${top(share, tallest)}H${i + 0.94}V${HEIGHT}Z` : '',
  );
  return svg`<path d="${path.join('')}" fill="${encodeColour(index)}" opacity="0.85"></path>`;
};

const outline: Draw = (svg, shares, index, tallest) => {
  const steps = shares.map((share, i) => `V${top(share, tallest)}H${i + 1}`).join('');
  return svg`<path d="M0 ${HEIGHT}${steps}V${HEIGHT}Z" fill="${encodeColour(index)}" fill-opacity="0.14" stroke="${encodeColour(index)}" stroke-dasharray="${encodeDash(index)}" stroke-width="1.5" vector-effect="non-scaling-stroke"></path>`;
};

const curve: Draw = (svg, shares, index) => {
  let sum = 0;
  const points = shares.map((share, i) => {
    sum += share;
    return `L${i + 1} ${fixed(HEIGHT - sum * HEIGHT * 0.96)}`;
  });
  return svg`<path d="M0 ${HEIGHT}${points.join('')}" fill="none" stroke="${encodeColour(index)}" stroke-dasharray="${encodeDash(index)}" stroke-width="2" stroke-linejoin="round" vector-effect="non-scaling-stroke"></path>`;
};

export function distributionMarks<T>(
  { html }: Templates<T>,
  encodes: EncodeList,
  encode: Encode,
  metric: string,
  { low, high }: Extent,
): T[] {
  const pooled = encodes.pooled(encode, metric);
  const tail = pooled?.percentile(encodes.ranking?.worse === 'high' ? 99 : 1);
  const median = pooled?.percentile(50);
  const mark = (name: string, value: number | undefined, left: boolean) => {
    if (value === undefined || !Number.isFinite(value)) return [];
    const at = percentOf(value, low, high);
    const side = (left && at > 18) || at > 84 ? ' left' : '';
    return [html`<span class="mark${side}" .style=${`left:${at}%`}><span>${name}</span></span>`];
  };
  return [...mark('worst 1 %', tail, (tail ?? 0) <= (median ?? 0)), ...mark('median', median, false)];
}

export function percentileTable<T>({ html }: Templates<T>, encodes: EncodeList, metric: string): T {
  const several = encodes.list.length > 1;
  const rows = encodes.taken.map((encode) => {
    const pooled = encodes.pooled(encode, metric);
    const values = PERCENTS.map(
      (percent) => html`<td>${pooled ? encodes.valueText(metric, pooled.percentile(percent)) : NONE}</td>`,
    );
    const name = several ? html`<span class="swatch"></span>${shortName(encode.name, 18)}` : labelOf(metric);
    return html`<tr><th scope="row" title="${encode.name}" .style=${colourOf(encode.index)}>${name}</th>${values}</tr>`;
  });
  const heads = PERCENTS.map((percent) => html`<th scope="col">${percent} %</th>`);
  return html`<table class="tight"><thead><tr><th scope="col">percentile</th>${heads}</tr></thead><tbody>${rows}</tbody></table>`;
}

/** Everything needed to reproduce the numbers, as lists of names and values. */
export function runTables<T>({ html }: Templates<T>, { list, apart }: EncodeList): T[] {
  const facts = list.map((encode) => encode.facts);
  return runGroups(facts, apart).map(
    ([title, rows]) =>
      html`<div><h3>${title}</h3><dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></div>`,
  );
}
