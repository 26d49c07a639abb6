/**
 * @module web/results/distribution
 * Distribution of the chart's metric over the frames: a histogram or the cumulative share.
 */
import { distribution, distributionMarks, labelOf, spreadKind } from 'anyvmaf/view';
import { html, made, render, templates } from '../templates.js';
import { text } from '../text.js';
import { chartMenu } from './chart-menu.js';
import type { Encode, Encodes } from './encodes.js';
import type { Section, View } from './view.js';

const words = text.results.distribution;
const HINTS = { histogram: words.hintHistogram, cumulative: words.hintCumulative };
const NO_VALUES = new Float64Array();
const KINDS = ['histogram', 'cumulative'] as const;

interface Drawn {
  readonly kind: (typeof KINDS)[number];
  readonly metric: string;
  readonly shown: readonly Encode[];
  readonly spread: ReturnType<typeof distribution>;
}

/** Per bin: its share, or the cumulative share. */
function rowsOf({ kind, shown, spread }: Drawn): (string | number)[][] {
  const { shares = [], range = { low: 0, high: 0 } } = spread ?? {};
  const count = shares[0]?.length ?? 0;
  const at = (i: number) => range.low + ((range.high - range.low) * i) / count;
  const sums = shares.map(() => 0);
  const head = [text.results.chartFile.from, text.results.chartFile.to, ...shown.map(({ name }) => name)];
  const rows = Array.from({ length: count }, (_, i) => [
    kind === 'histogram' ? at(i) : range.low,
    at(i + 1),
    ...shares.map((share, n) => {
      const sum = (sums[n] ?? 0) + (share[i] ?? 0);
      if (kind === 'cumulative') sums[n] = sum;
      return sum;
    }),
  ]);
  return [head, ...rows];
}

export function distributionSection(encodes: Encodes, view: View): Section {
  let chosen: (typeof KINDS)[number] | undefined;
  const element = made(html`<section class="card" aria-labelledby="distribution-heading"></section>`);

  let drawn: Drawn | undefined;
  const menu = chartMenu({
    title: () => `${words.heading}, ${labelOf(drawn?.metric ?? '')}`,
    element: () => element.querySelector<HTMLElement>('.hist'),
    names: () => drawn?.shown ?? [],
    rows: () => (drawn ? rowsOf(drawn) : []),
  });

  /** During a run it keeps its place beside the chart. */
  const hasContent = () =>
    encodes.coming || encodes.list.some(({ columns }) => columns.extent(view.metric ?? ''));

  function update(): void {
    const { metric = '' } = view;
    const kind = chosen ?? spreadKind(encodes.list.length);
    const shown = encodes.list.filter(({ index }) => view.shown.value[index]);
    const extents = shown.flatMap(({ columns }) => columns.extent(metric) ?? []);
    element.hidden = !hasContent();
    const valuesOf = ({ columns, index }: Encode) => ({ index, values: columns.values(metric) ?? NO_VALUES });
    const range = extents.length > 0 ? { low: Math.min(...extents), high: Math.max(...extents) } : undefined;
    const spread = distribution(templates, shown.map(valuesOf), kind, range);
    const [only, ...others] = shown;
    const single = only && others.length === 0 && spread;
    const label = labelOf(metric);
    drawn = { kind, metric, shown, spread };
    const buttons = KINDS.map(
      (name) =>
        html`<button type="button" class="tool" aria-pressed="${String(name === kind)}" @click=${() => {
          chosen = name;
          update();
        }}>${words[name]}</button>`,
    );
    render(
      html`<div class="bar"><h2 id="distribution-heading">${words.heading}</h2><span class="tools">${menu}${buttons}</span></div>
<span class="faint small">${metric ? HINTS[kind](label) : '\u00a0'}</span>
<div class="hist" role="img" aria-label="${words.label(label)}">${spread?.drawing}${single ? distributionMarks(templates, encodes, only, metric, single.range) : ''}</div>`,
      element,
    );
  }

  /** Fades the shapes of other encodes. */
  const light = (lit: number | null) =>
    element.querySelectorAll<SVGElement>('.hist path').forEach((path, i) => {
      path.style.opacity = lit === null || drawn?.shown[i]?.index === lit ? '' : '0.2';
    });
  const stops = [view.shown.watch(update), view.chosen.watch(update), view.lit.watch(light)];
  return {
    element,
    update,
    hasContent,
    close() {
      for (const stop of stops) stop();
    },
  };
}
