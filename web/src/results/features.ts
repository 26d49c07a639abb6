/**
 * @module web/results/features
 * Every metric but the main one as a small chart on the same frames.
 */
import { FrameChart, labelOf, shortText } from 'anyvmaf/view';
import { h } from '../dom.js';
import { inTurn } from '../schedule.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { Section } from './section.js';
import { html, made, render } from './templates.js';
import type { View } from './view.js';

const words = text.results.features;

interface Feature {
  readonly chart: FrameChart;
  readonly now: HTMLElement;
}

export function featureSection(encodes: Encodes, view: View): Section {
  const grid = h('div', { class: 'features' });
  const element = made(
    html`<section class="card" aria-labelledby="features-heading"><div class="bar"><h2 id="features-heading">${words.heading}</h2><span class="hint faint small">${words.hint}</span></div>${grid}</section>`,
  );
  let features: Feature[] = [];
  let listed = '';

  function build(metrics: readonly string[]): void {
    for (const { chart } of features) chart.close();
    features = metrics.map((metric) => ({
      chart: new FrameChart(h('div', { class: 'plot small' }), view, 'small', metric, inTurn),
      now: h('span', { class: 'now' }),
    }));
    render(
      features.map(
        ({ chart: { metric, element: drawing }, now }) =>
          html`<button type="button" class="feature" title="${words.enlarge(labelOf(metric))}" @click=${() => enlarge(metric, view)}><span class="label"><span>${labelOf(metric)}</span>${now}</span>${drawing}</button>`,
      ),
      grid,
    );
  }

  function tell(): void {
    for (const { chart, now } of features) now.textContent = nowText(encodes, view, chart.metric);
  }

  /** All metrics but the main one. */
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
  return {
    element,
    update,
    hasContent: () => shown().length > 0,
    complete() {
      for (const { chart } of features) chart.complete();
    },
    close() {
      stop();
      for (const { chart } of features) chart.close();
    },
  };
}

/** The values in the frame pointed at, else the mean of an encode by itself. */
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
