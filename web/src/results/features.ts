/**
 * @module web/results/features
 * Every metric but the main one as a small chart on the same frames.
 */
import { fill, h } from '../dom.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import { labelOf, NONE, shortText } from './format.js';
import { Plot } from './plot.js';
import type { Section } from './section.js';
import type { View } from './view.js';

const words = text.results.features;

interface Feature {
  readonly plot: Plot;
  readonly now: HTMLElement;
}

export function featureSection(encodes: Encodes, view: View): Section {
  const grid = h('div', { class: 'features' });
  const element = h(
    'section',
    { class: 'card', 'aria-labelledby': 'features-heading' },
    h(
      'div',
      { class: 'bar' },
      h('h2', { id: 'features-heading' }, words.heading),
      h('span', { class: 'hint faint small' }, words.hint),
    ),
    grid,
  );
  let features: Feature[] = [];
  let listed = '';

  function build(metrics: readonly string[]): void {
    for (const { plot } of features) plot.close();
    features = metrics.map((metric) => ({
      plot: new Plot(encodes, view, metric, 'small'),
      now: h('span', { class: 'now' }),
    }));
    fill(
      grid,
      ...features.map(({ plot, now }) =>
        h(
          'button',
          {
            type: 'button',
            class: 'feature',
            title: words.enlarge(labelOf(plot.metric)),
            onclick: () => {
              view.chosen.value = plot.metric;
              const chart = document.getElementById('chart-heading');
              chart?.scrollIntoView({ block: 'start', behavior: 'smooth' });
            },
          },
          h('span', { class: 'label' }, h('span', {}, labelOf(plot.metric)), now),
          plot.element,
        ),
      ),
    );
  }

  function tell(): void {
    const frame = view.pointed.value;
    for (const { plot, now } of features) {
      const shown = encodes.list.filter(({ index }) => view.shown.value[index]);
      if (frame !== null) {
        const values = shown.map(({ columns }) => columns.at(plot.metric, frame));
        now.textContent = values
          .slice(0, 3)
          .map((value) => (Number.isFinite(value) ? shortText(value) : NONE))
          .join('  ');
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
