/**
 * @module web/results/distribution
 * How the main metric is spread over the frames: a histogram or the cumulative share, and the percentiles.
 */
import { fill, h, svg } from '../dom.js';
import { text } from '../text.js';
import { type Encodes, PERCENTS } from './encodes.js';
import { labelOf, NONE, percentOf, roundStep, scoreText, shortName, shortText, ticks } from './format.js';
import type { Section } from './section.js';
import type { View } from './view.js';

const words = text.results.distribution;
const BINS = 42;
const HEIGHT = 100;

interface Shares {
  readonly index: number;
  /** Share of the frames per bin. */
  readonly shares: readonly number[];
}

export function distributionSection(encodes: Encodes, view: View): Section {
  let kind: 'histogram' | 'cumulative' = 'histogram';
  const hint = h('span', { class: 'faint small' });
  const drawing = h('div', { class: 'hist', role: 'img', 'aria-label': words.heading });
  const table = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.percentile });
  const buttons = (['histogram', 'cumulative'] as const).map((name) => {
    const button = h(
      'button',
      {
        type: 'button',
        class: 'tool',
        'aria-pressed': String(name === kind),
        onclick: () => {
          kind = name;
          for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
          update();
        },
      },
      words[name],
    );
    return button;
  });
  const element = h(
    'section',
    { class: 'card', 'aria-labelledby': 'distribution-heading' },
    h(
      'div',
      { class: 'bar' },
      h('h2', { id: 'distribution-heading' }, words.heading),
      h('span', { class: 'tools' }, ...buttons),
    ),
    hint,
    drawing,
    table,
  );

  function update(): void {
    const { metric } = view;
    if (metric === undefined) return;
    const shown = encodes.list.filter(({ index }) => view.shown.value[index]);
    const extents = shown.flatMap(({ columns }) => {
      const extent = columns.extent(metric);
      return extent ? [extent] : [];
    });
    element.hidden = extents.length === 0 && encodes.list.every(({ columns }) => !columns.extent(metric));
    const label = labelOf(metric);
    hint.textContent = kind === 'histogram' ? words.hintHistogram(label) : words.hintCumulative(label);
    drawing.setAttribute('aria-label', words.label(label));
    const least = Math.min(...extents.map(([low]) => low));
    const greatest = Math.max(...extents.map(([, high]) => high));
    if (extents.length === 0) {
      fill(drawing);
      return;
    }
    const step = roundStep(greatest - least || 1, BINS);
    const low = Math.floor(least / step) * step;
    const bins = Math.max(1, Math.ceil((greatest - low) / step - 1e-9));
    const high = low + bins * step;
    const all = shown.map(({ columns, index }) => ({
      index,
      shares: sharesOf(columns.values(metric) ?? new Float64Array(), low, step, bins),
    }));
    const tallest = Math.max(Number.MIN_VALUE, ...all.flatMap(({ shares }) => shares));
    const picture = svg('svg', {
      viewBox: `0 0 ${bins} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
    });
    for (const each of all)
      picture.append(
        kind === 'cumulative' ? curve(each) : all.length === 1 ? bars(each, tallest) : outline(each, tallest),
      );
    fill(drawing, picture, ...axis(low, high), ...(shown.length === 1 ? marks(low, high, metric) : []));
    percentiles(metric);
  }

  function valueText(metric: string, value: number | undefined): string {
    return encodes.isScore(metric) ? scoreText(value) : shortText(value);
  }

  /** Where the worst percent and the median lie. */
  function marks(low: number, high: number, metric: string): HTMLElement[] {
    const encode = encodes.list.find(({ index }) => view.shown.value[index]);
    const pooled = encode && encodes.pooled(encode, metric);
    const tail = pooled?.percentile(encodes.ranking?.worse === 'high' ? 99 : 1);
    const median = pooled?.percentile(50);
    const mark = (name: string, value: number | undefined, left: boolean) => {
      if (value === undefined || !Number.isFinite(value)) return [];
      const at = percentOf(value, low, high);
      const side = left && at > 18 ? 'mark left' : at > 84 ? 'mark left' : 'mark';
      return [h('span', { class: side, style: `left:${at}%` }, h('span', {}, name))];
    };
    return [...mark(words.worst, tail, (tail ?? 0) <= (median ?? 0)), ...mark(words.median, median, false)];
  }

  function percentiles(metric: string): void {
    const several = encodes.list.length > 1;
    const rows = encodes.list.map((encode) => {
      const pooled = encodes.pooled(encode, metric);
      return h(
        'tr',
        {},
        h(
          'th',
          { scope: 'row', title: encode.name, style: `--c:var(--s${encode.index % 8})` },
          several && h('span', { class: 'swatch' }),
          several ? shortName(encode.name, 18) : labelOf(metric),
        ),
        ...PERCENTS.map((percent) =>
          h('td', {}, pooled ? valueText(metric, pooled.percentile(percent)) : NONE),
        ),
      );
    });
    fill(
      table,
      h(
        'table',
        { class: 'tight' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, words.percentile),
            ...PERCENTS.map((percent) => h('th', { scope: 'col' }, `${percent} %`)),
          ),
        ),
        h('tbody', {}, ...rows),
      ),
    );
  }

  const stop = view.shown.watch(() => update());
  const stopMetric = view.chosen.watch(() => update());
  return {
    element,
    update,
    hasContent: () => encodes.list.some(({ columns }) => columns.extent(view.metric ?? '')),
    close() {
      stop();
      stopMetric();
    },
  };
}

function sharesOf(values: Float64Array, low: number, step: number, bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  let all = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(bins - 1, Math.max(0, Math.floor((value - low) / step + 1e-9)));
    counts[bin] = (counts[bin] ?? 0) + 1;
    all++;
  }
  return counts.map((count) => count / Math.max(1, all));
}

/** The least bars are still to be seen. */
function top(share: number, tallest: number): string {
  return (share > 0 ? Math.min(HEIGHT - 1.2, HEIGHT - (share / tallest) * HEIGHT * 0.94) : HEIGHT).toFixed(2);
}

function bars({ shares, index }: Shares, tallest: number): SVGElement {
  const path = shares.map((share, i) =>
    share > 0 ? `M${i + 0.06} ${HEIGHT}V${top(share, tallest)}H${i + 0.94}V${HEIGHT}Z` : '',
  );
  return svg('path', { d: path.join(''), fill: `var(--s${index % 8})`, opacity: 0.85 });
}

function outline({ shares, index }: Shares, tallest: number): SVGElement {
  const steps = shares.map((share, i) => `V${top(share, tallest)}H${i + 1}`).join('');
  const fillColour = `var(--s${index % 8})`;
  return svg('path', {
    d: `M0 ${HEIGHT}${steps}V${HEIGHT}Z`,
    fill: fillColour,
    'fill-opacity': 0.14,
    stroke: fillColour,
    'stroke-width': 1.5,
    'vector-effect': 'non-scaling-stroke',
  });
}

function curve({ shares, index }: Shares): SVGElement {
  let sum = 0;
  const points = shares.map((share, i) => {
    sum += share;
    return `L${i + 1} ${(HEIGHT - sum * HEIGHT * 0.96).toFixed(2)}`;
  });
  return svg('path', {
    d: `M0 ${HEIGHT}${points.join('')}`,
    fill: 'none',
    stroke: `var(--s${index % 8})`,
    'stroke-width': 2,
    'stroke-linejoin': 'round',
    'vector-effect': 'non-scaling-stroke',
  });
}

function axis(low: number, high: number): HTMLElement[] {
  return ticks(low, high, 6).map((value) => {
    const at = percentOf(value, low, high);
    return h(
      'span',
      { class: at < 3 ? 'x first' : at > 96 ? 'x last' : 'x', style: `left:${at}%` },
      String(value),
    );
  });
}
