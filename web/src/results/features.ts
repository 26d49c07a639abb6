/**
 * @module web/results/features
 * Small charts of all metrics but the main one: requested ones, and on demand the features behind the scores.
 */
import { FrameChart, featureMeaning, labelOf, shortText } from 'anyvmaf/view';
import { h } from '../dom.js';
import { inTurn } from '../schedule.js';
import { html, made, render, type TemplateResult } from '../templates.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { Section, View } from './view.js';

const words = text.results.features;

interface Feature {
  readonly chart: FrameChart;
  readonly now: HTMLElement;
}

/** `grid` has the requested metrics; `inner` the rest, unfolded by `more`. */
function card() {
  const grid = h('div', { class: 'features asked' });
  const inner = h('div', { class: 'features' });
  const more = made<HTMLDetailsElement>(
    html`<details class="inner"><summary>${words.all}<span class="hint faint small">${words.allHint}</span></summary>${inner}</details>`,
  );
  const element = made(
    html`<section class="card" aria-labelledby="features-heading"><div class="bar"><h2 id="features-heading">${words.heading}</h2><span class="hint faint small">${words.hint}</span></div>${grid}${more}</section>`,
  );
  return { grid, inner, more, element };
}

/** Unfolds `more` while printing. @returns call it before and after printing */
function unfoldedOnPaper(more: HTMLDetailsElement): () => void {
  /** State on screen while it is open for printing. */
  let folded: boolean | undefined;
  return () => {
    if (document.documentElement.classList.contains('paper')) {
      folded ??= !more.open;
      more.open = true;
    } else if (folded !== undefined) {
      more.open = !folded;
      folded = undefined;
    }
  };
}

export function featureSection(encodes: Encodes, view: View): Section {
  const { grid, inner, more, element } = card();
  let features: Feature[] = [];
  let listed = '';

  function build(metrics: readonly string[]): void {
    for (const { chart } of features) chart.close();
    features = metrics.map((metric) => ({
      chart: new FrameChart(h('div', { class: 'plot small' }), view, 'small', metric, inTurn),
      now: h('span', { class: 'now' }),
    }));
    const { asked } = encodes;
    const buttons = (isAsked: boolean) =>
      features
        .filter(({ chart }) => asked.includes(chart.metric) === isAsked)
        .map((feature) => button(feature, view));
    render(buttons(true), grid);
    render(buttons(false), inner);
    grid.hidden = grid.childElementCount === 0;
    // If none was requested, the card shrinks to the fold.
    element.classList.toggle('only-inner', grid.hidden);
    more.hidden = inner.childElementCount === 0;
  }

  function tell(): void {
    for (const { chart, now } of features) now.textContent = nowText(encodes, view, chart.metric);
  }

  function shown(): string[] {
    const main = encodes.ranking?.metric;
    return encodes.metrics.filter((name) => name !== main);
  }

  function update(): void {
    const metrics = shown();
    element.hidden = metrics.length === 0;
    if (metrics.join() !== listed) {
      listed = metrics.join();
      build(metrics);
    }
    for (const { chart } of features) chart.update();
    tell();
  }

  const stop = view.pointed.watch(() => tell());
  const unfold = unfoldedOnPaper(more);
  return {
    element,
    update,
    hasContent: () => shown().length > 0,
    complete() {
      unfold();
      for (const { chart } of features) chart.complete();
    },
    close() {
      stop();
      for (const { chart } of features) chart.close();
    },
  };
}

function button({ chart: { metric, element }, now }: Feature, view: View): TemplateResult {
  const meaning = featureMeaning(metric);
  return html`<button type="button" class="feature" title="${words.enlarge(labelOf(metric))}" @click=${() => enlarge(metric, view)}><span class="label"><span>${labelOf(metric)}</span>${now}</span>${meaning === undefined ? '' : html`<span class="meaning faint small">${meaning}</span>`}${element}</button>`;
}

/** Values of the frame pointed at, else the mean of a single encode. */
function nowText(encodes: Encodes, { pointed, visible }: View, metric: string): string {
  const frame = pointed.value;
  if (frame !== null) {
    const values = visible.map(({ columns }) => columns.at(metric, frame));
    return values.slice(0, 3).map(shortText).join('  ');
  }
  const [only, ...others] = visible;
  const pooled = only && others.length === 0 ? encodes.pooled(only, metric) : undefined;
  return pooled ? words.mean(shortText(pooled.mean)) : '';
}

function enlarge(metric: string, view: View): void {
  view.chosen.value = metric;
  document.getElementById('chart-heading')?.scrollIntoView({ block: 'start', behavior: 'smooth' });
}
