/**
 * @module web/results/features
 * Every metric but the main one as a small chart on the same frames.
 */
import { labelOf, shortText } from 'anyvmaf/view';
import { h } from '../dom.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import { Plot } from './plot.js';
import type { Section } from './section.js';
import { html, made, render } from './templates.js';
import type { View } from './view.js';

const words = text.results.features;

interface Feature {
  readonly plot: Plot;
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
    for (const { plot } of features) plot.close();
    features = metrics.map((metric) => ({
      plot: new Plot(encodes, view, metric, 'small'),
      now: h('span', { class: 'now' }),
    }));
    const enlarge = (metric: string) => {
      view.chosen.value = metric;
      document.getElementById('chart-heading')?.scrollIntoView({ block: 'start', behavior: 'smooth' });
    };
    render(
      features.map(
        ({ plot: { metric, element: drawing }, now }) =>
          html`<button type="button" class="feature" title="${words.enlarge(labelOf(metric))}" @click=${() => enlarge(metric)}><span class="label"><span>${labelOf(metric)}</span>${now}</span>${drawing}</button>`,
      ),
      grid,
    );
  }

  function tell(): void {
    const frame = view.pointed.value;
    for (const { plot, now } of features) {
      const shown = encodes.list.filter(({ index }) => view.shown.value[index]);
      if (frame !== null) {
        const values = shown.map(({ columns }) => columns.at(plot.metric, frame));
        now.textContent = values.slice(0, 3).map(shortText).join('  ');
        continue;
      }
      const [only, ...others] = shown;
      const pooled = only && others.length === 0 ? encodes.pooled(only, plot.metric) : undefined;
      now.textContent = pooled ? words.mean(shortText(pooled.mean)) : '';
    }
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
    for (const { plot } of features) plot.update();
    tell();
  }

  const stop = view.pointed.watch(() => tell());
  return {
    element,
    update,
    hasContent: () => shown().length > 0,
    complete() {
      for (const { plot } of features) plot.complete();
    },
    close() {
      stop();
      for (const { plot } of features) plot.close();
    },
  };
}
