/**
 * @module web/results/chart
 * The large chart with its legend, zoom, map and keys, what it says in words, and its data as a table on demand.
 */
import { colourOf, labelOf, NONE } from 'anyvmaf/view';
import { h } from '../dom.js';
import { text } from '../text.js';
import { dataTable } from './data-table.js';
import type { Encodes } from './encodes.js';
import { Plot } from './plot.js';
import type { Section } from './section.js';
import { html, made, render } from './templates.js';
import type { View } from './view.js';

const words = text.results.chart;

export function chartSection(encodes: Encodes, view: View): Section {
  const metric = view.metric ?? '';
  const large = new Plot(encodes, view, metric, 'large');
  const map = new Plot(encodes, view, metric, 'map');
  map.element.setAttribute('aria-hidden', 'true');
  const summary = h('p', { class: 'unseen', id: 'chart-summary' });
  const slider = made(
    html`<div class="slider" role="slider" tabindex="0" aria-describedby="chart-keys chart-summary" aria-orientation="horizontal" @keydown=${key}>${large.element}</div>`,
  );
  const select = h('select', {
    'aria-label': words.metric,
    onchange: () => {
      view.chosen.value = select.value;
    },
  });
  const tool = (sign: string, act: () => void, label?: string) =>
    h('button', { type: 'button', class: 'tool', 'aria-label': label, onclick: act }, sign);
  const all = tool(words.all, () => {
    view.zoom.value = null;
  });
  const legend = h('div', { class: 'legend' });
  const table = dataTable(encodes, view);
  const hint = matchMedia('(pointer: coarse)').matches ? words.hintTouch : words.hint;
  const element = made(html`<section class="card" aria-labelledby="chart-heading">
<div class="bar"><h2 id="chart-heading">${words.heading}</h2><span class="hint faint small">${hint}</span>
<span class="tools">${select}${tool('+', () => view.zoomBy(0.5), words.zoomIn)}${tool('−', () => view.zoomBy(2), words.zoomOut)}${all}</span></div>
${legend}${slider}${map.element}
<p class="unseen" id="chart-keys">${words.keys}</p>${summary}${table.element}</section>`);

  function key(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const step = event.shiftKey ? 10 : 1;
    const [from, to] = encodes.span;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowRight: () => view.step(step),
      ArrowLeft: () => view.step(-step),
      ArrowUp: () => lead(-1),
      ArrowDown: () => lead(1),
      PageUp: () => view.step(-100),
      PageDown: () => view.step(100),
      Home: () => view.pointAt(view.nearest(from) ?? null),
      End: () => view.pointAt(view.nearest(to) ?? null),
      '+': () => view.zoomBy(0.5),
      '=': () => view.zoomBy(0.5),
      '-': () => view.zoomBy(2),
      '0': () => (view.zoom.value = null),
      Enter: () => {
        if (view.pointed.value !== null) view.open(view.lead.value, view.pointed.value);
      },
    };
    const action = actions[event.key];
    if (!action) return;
    action();
    event.preventDefault();
  }

  /** The next encode that is shown. */
  function lead(by: number): void {
    const count = encodes.list.length;
    for (let n = 1; n <= count; n++) {
      const index = (view.lead.value + by * n + count * n) % count;
      if (!view.shown.value[index]) continue;
      view.lead.value = index;
      break;
    }
    view.step(0);
    tell();
  }

  /** What a screen reader says of the frame pointed at. */
  function tell(): void {
    const [first, last] = encodes.span;
    const frame = view.pointed.value;
    slider.setAttribute('aria-label', words.slider(labelOf(large.metric)));
    slider.setAttribute('aria-valuemin', String(first));
    slider.setAttribute('aria-valuemax', String(last));
    slider.setAttribute('aria-valuenow', String(frame ?? first));
    slider.setAttribute('aria-valuetext', frame === null ? words.nothing : pointedText(frame));
  }

  function pointedText(frame: number): string {
    const several = encodes.list.length > 1;
    const order = [...encodes.list].sort(
      (a, b) => Number(b.index === view.lead.value) - Number(a.index === view.lead.value),
    );
    const values = order
      .filter(({ index }) => view.shown.value[index])
      .map(({ columns, name }) =>
        words.value(
          several ? name : labelOf(large.metric),
          encodes.valueText(large.metric, columns.at(large.metric, frame)),
        ),
      );
    return [encodes.said(frame), ...values].join(', ');
  }

  function drawLegend(): void {
    legend.hidden = encodes.list.length < 2;
    const toggle = (index: number) => {
      const shown = view.shown.value.map((is, i) => (i === index ? !is : is));
      // The last one shown stays.
      if (shown.includes(true)) view.shown.value = shown;
    };
    render(
      encodes.list.map(
        ({ index, name }) =>
          html`<button type="button" aria-pressed="${String(view.shown.value[index] ?? true)}" title="${name}" .style=${colourOf(index)} @click=${() => toggle(index)}><span class="swatch"></span><span>${name}</span></button>`,
      ),
      legend,
    );
  }

  /** The chart in words: for those who do not see it. */
  function describe(): void {
    summary.textContent = encodes.list
      .map((encode) => {
        const pooled = encodes.pooled(encode, large.metric);
        const values = encode.columns.values(large.metric);
        if (!pooled || !values) return '';
        const frame = encode.columns.numbers[values.indexOf(encode.columns.extent(large.metric)?.[0] ?? 0)];
        const at = frame === undefined ? NONE : encodes.said(frame);
        const valueText = (value: number) => encodes.valueText(large.metric, value);
        return words.summary(
          encode.name,
          valueText(pooled.mean),
          valueText(pooled.min),
          at,
          valueText(pooled.max),
        );
      })
      .join(' ');
  }

  let listed = '';
  /** Of the map: how often it was left as it is. */
  let beats = 0;
  function update(): void {
    const { metrics } = encodes;
    const metric = view.metric ?? metrics[0] ?? '';
    if (metrics.join() !== listed) {
      listed = metrics.join();
      const scores = metrics.filter((name) => encodes.isScore(name));
      const rest = metrics.filter((name) => !encodes.isScore(name));
      render(
        [...scores, ...rest].map((name) => html`<option value="${name}">${labelOf(name)}</option>`),
        select,
      );
    }
    select.value = metric;
    large.show(metric);
    // Where it shows no more than the large chart it need not keep pace with it.
    beats = encodes.coming && view.zoom.value === null ? beats + 1 : 0;
    if (beats % 4 === 0) map.show(metric);
    describe();
    tell();
    table.update();
  }

  const stops = [
    view.pointed.watch(tell),
    view.zoom.watch((zoom) => {
      all.disabled = zoom === null;
      map.element.classList.toggle('zoomed', zoom !== null);
    }),
    view.chosen.watch(update),
    view.shown.watch(drawLegend),
  ];
  return {
    element,
    update,
    complete() {
      for (const plot of [large, map]) plot.complete();
    },
    close() {
      for (const stop of stops) stop();
      large.close();
      map.close();
      table.close();
    },
  };
}
