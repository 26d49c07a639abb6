/**
 * @module web/results/chart
 * The large chart with legend, zoom, map and keys, its summary for screen readers, and its data as a table, one page at
 * a time, built when opened.
 */
import {
  cellText,
  colourOf,
  FrameChart,
  grouped,
  labelOf,
  listen,
  NONE,
  onKey,
  timeText,
} from 'anyvmaf/view';
import { button, h } from '../dom.js';
import { inTurn } from '../schedule.js';
import { html, made, render, type TemplateResult } from '../templates.js';
import { text } from '../text.js';
import { chartMenu, frameFile } from './chart-menu.js';
import type { Encode, Encodes } from './encodes.js';
import { type MomentPictures, MomentStrip } from './pictures.js';
import type { Follower, Section, View } from './view.js';

const words = text.results.chart;

export function chartSection(encodes: Encodes, view: View, pictures: MomentPictures): Section {
  const chart = (kind: 'large' | 'map') =>
    new FrameChart(h('div', { class: `plot ${kind}` }), view, kind, view.metric ?? '', inTurn);
  const [large, map] = [chart('large'), chart('map')];
  map.element.setAttribute('aria-hidden', 'true');
  const summary = h('p', { class: 'unseen', id: 'chart-summary' });
  const slider = made(
    html`<div class="slider" role="slider" tabindex="0" aria-describedby="chart-keys chart-summary" aria-orientation="horizontal" @keydown=${(event: KeyboardEvent) => onKey(event, view)}>${large.element}</div>`,
  );
  const metrics = metricSelect(encodes, view);
  const all = tool(words.all, () => view.zoomTo(...encodes.span));
  const legend = h('div', { class: 'legend' });
  const around = aroundCurve(encodes, view, pictures);
  const table = dataTable(encodes, view);
  const element = made(html`<section class="card" aria-labelledby="chart-heading">
<div class="bar"><h2 id="chart-heading">${words.heading}</h2>
<span class="tools">${chartMenu(frameFile(large, words.heading))}${metrics.element}${tool('+', () => view.zoomBy(0.5), words.zoomIn)}${tool('−', () => view.zoomBy(2), words.zoomOut)}${all}</span></div>
${legend}${around.above}${slider}${around.below}${map.element}
<p class="hint below faint small">${matchMedia('(pointer: coarse)').matches ? words.hintTouch : words.hint}</p><p class="unseen" id="chart-keys">${words.keys}</p>${summary}${table.element}</section>`);
  const tell = () => describePointed(slider, encodes, view, large.metric);

  /** Updates since the map was last drawn. */
  let beats = 0;
  function update(): void {
    metrics.update();
    large.show(view.metric ?? '');
    // While the map shows the same as the chart, it may lag behind.
    beats = encodes.coming && view.zoom.value === null ? beats + 1 : 0;
    if (beats % 4 === 0) map.show(large.metric);
    summary.textContent = inWords(encodes, large.metric);
    tell();
    table.update();
    around.update();
  }

  const stops = [
    listen(large),
    listen(map),
    view.pointed.watch(tell),
    view.lead.watch(tell),
    view.zoom.watch((zoom) => {
      all.disabled = zoom === null;
      map.element.classList.toggle('zoomed', zoom !== null);
    }),
    view.chosen.watch(update),
    view.shown.watch(() => drawLegend(legend, encodes, view)),
  ];
  const charts = [large, map];
  return {
    element,
    update,
    complete() {
      for (const part of [...charts, around]) part.complete();
    },
    close() {
      for (const stop of stops) stop();
      for (const part of [...charts, table, around]) part.close();
    },
  };
}

/** Pictures above the curve and, after the run, lanes below it. */
function aroundCurve(encodes: Encodes, view: View, pictures: MomentPictures) {
  // Reserve room, so that nothing moves later.
  const above = h('div', { class: 'strip', hidden: !view.canOpen(0) });
  const below = h('div', { class: 'lanes' });
  const strip = new MomentStrip(above, encodes, view, pictures);
  let lanes: Follower | undefined;
  let loads = false;
  let closed = false;
  async function load(): Promise<void> {
    loads = true;
    const { chartLanes } = await import('./lanes.js');
    if (closed) return;
    lanes = chartLanes(below, encodes, view);
    lanes.update();
  }
  function update(): void {
    strip.update();
    lanes?.update();
    if (lanes || loads) return;
    const container = encodes.list[0]?.result.found?.distorted.container;
    below.classList.toggle('awaits', view.canOpen(0) && container !== 'y4m' && container !== 'yuv');
    // The curve also shows without lanes.
    if (!encodes.coming) load().catch(() => below.classList.remove('awaits'));
  }
  return {
    above,
    below,
    update,
    complete: () => lanes?.complete(),
    close() {
      closed = true;
      strip.close();
      lanes?.close();
    },
  };
}

function tool(sign: string, act: () => void, label?: string): HTMLButtonElement {
  return button({ 'aria-label': label, onclick: act }, sign);
}

function metricSelect(encodes: Encodes, view: View) {
  const element = h('select', {
    'aria-label': words.metric,
    onchange: () => {
      view.chosen.value = element.value;
    },
  });
  let listed = '';
  return {
    element,
    update() {
      const { metrics } = encodes;
      element.disabled = metrics.length === 0;
      if (metrics.join() !== listed) {
        listed = metrics.join();
        const order = metrics.sort((a, b) => Number(encodes.isScore(b)) - Number(encodes.isScore(a)));
        const { asked } = encodes;
        const group = (label: string, isAsked: boolean) => {
          const names = order.filter((name) => asked.includes(name) === isAsked);
          return names.length > 0
            ? html`<optgroup label="${label}">${names.map((name) => html`<option value="${name}">${labelOf(name)}</option>`)}</optgroup>`
            : '';
        };
        render([group(words.asked, true), group(words.inner, false)], element);
      }
      element.value = view.metric ?? '';
    },
  };
}

/** For screen readers. */
function describePointed(slider: HTMLElement, encodes: Encodes, view: View, metric: string): void {
  const [first, last] = encodes.span;
  const frame = view.pointed.value;
  const lead = view.lead.value;
  const values = (at: number) =>
    view.visible
      .toSorted((a, b) => Number(b.index === lead) - Number(a.index === lead))
      .map(({ columns, name }) =>
        words.value(
          encodes.list.length > 1 ? name : labelOf(metric),
          encodes.valueText(metric, columns.at(metric, at)),
        ),
      );
  const attributes = {
    label: words.slider(labelOf(metric)),
    valuemin: first,
    valuemax: last,
    valuenow: frame ?? first,
    valuetext: frame === null ? words.nothing : [encodes.said(frame), ...values(frame)].join(', '),
  };
  for (const [name, value] of Object.entries(attributes)) slider.setAttribute(`aria-${name}`, String(value));
}

function drawLegend(legend: HTMLElement, encodes: Encodes, view: View): void {
  legend.hidden = encodes.list.length < 2;
  render(
    encodes.list.map(
      ({ index, name }) =>
        html`<button type="button" aria-pressed="${String(view.shown.value[index] ?? true)}" title="${words.legend(name)}" .style=${colourOf(index)} @click=${(event: MouseEvent) => choose(event, index, view)} @pointerenter=${() => view.light(index, true)} @pointerleave=${() => view.light(index, false)} @focus=${() => view.light(index, true)} @blur=${() => view.light(index, false)}><span class="swatch"></span><span>${name}</span></button>`,
    ),
    legend,
  );
}

/** A click shows an encode alone; with Shift, Control or Command it toggles it. */
function choose(event: MouseEvent, index: number, view: View): void {
  if (event.shiftKey || event.ctrlKey || event.metaKey) view.toggle(index);
  else view.isolate(index);
}

/** For screen readers. */
function inWords(encodes: Encodes, metric: string): string {
  const valueText = (value: number) => encodes.valueText(metric, value);
  return encodes.list
    .map((encode) => {
      const pooled = encodes.pooled(encode, metric);
      const values = encode.columns.values(metric);
      if (!pooled || !values) return '';
      const frame = encode.columns.numbers[values.indexOf(encode.columns.extent(metric)?.[0] ?? 0)];
      const at = frame === undefined ? NONE : encodes.said(frame);
      const [mean = '', low = '', high = ''] = [pooled.mean, pooled.min, pooled.max].map(valueText);
      return words.summary(encode.name, mean, low, at, high);
    })
    .join(' ');
}

const dataWords = text.results.data;
const ROWS = 50;

function dataTable(encodes: Encodes, view: View): Section {
  let start = 0;
  let chosen = 0;
  const body = made(
    html`<div class="scroll" tabindex="0" role="region" aria-label="${dataWords.heading}"></div>`,
  );
  const place = made(html`<span class="soft small" aria-live="polite"></span>`);
  const pager = (label: string, by: number) => button({ onclick: () => turn(start + by) }, label);
  const [earlier, later] = [pager(dataWords.previous, -ROWS), pager(dataWords.next, ROWS)];
  const number = h('input', { type: 'number', min: 0, id: 'go-to-frame' });
  const which = h('select', {
    'aria-label': dataWords.encode,
    onchange: () => {
      chosen = Number(which.value);
      draw();
    },
  });
  const element = h('details', { class: 'data', ontoggle: () => draw() });
  render(
    html`<summary>${dataWords.heading}</summary>
<form class="paging" @submit=${(event: Event) => {
      event.preventDefault();
      turn(encodes.list[chosen]?.columns.search(Number(number.value)) ?? 0);
    }}>${which}${earlier}${later}<label for="go-to-frame" class="soft small">${dataWords.goTo}</label>${number}${place}</form>${body}`,
    element,
  );

  function turn(to: number): void {
    const count = encodes.list[chosen]?.columns.length ?? 0;
    start = Math.max(0, Math.min(to, Math.max(0, count - 1)));
    draw();
  }

  function draw(): void {
    if (!element.open) return;
    render(
      encodes.list.map(({ name, index }) => html`<option value="${index}">${name}</option>`),
      which,
    );
    which.value = String(chosen);
    which.hidden = encodes.list.length < 2;
    const encode = encodes.list[chosen];
    if (!encode) return;
    const { length } = encode.columns;
    const end = Math.min(length, start + ROWS);
    render(frameTable(encodes, encode, view.metric, start, end), body);
    place.textContent = dataWords.rows(grouped(Math.min(start + 1, end)), grouped(end), grouped(length));
    earlier.disabled = start === 0;
    later.disabled = end >= length;
  }

  // Keep a full page as it is while it is being read.
  return {
    element,
    update: () => element.open && start + ROWS > (encodes.list[chosen]?.columns.length ?? 0) && draw(),
    close: () => {},
  };
}

/** From `start` to before `end`, in scoring order, the main metric first. */
function frameTable(
  encodes: Encodes,
  { columns, name }: Encode,
  main: string | undefined,
  start: number,
  end: number,
): TemplateResult {
  const metrics = encodes.metrics
    .filter((metric) => columns.values(metric))
    .sort((a, b) => Number(b === main) - Number(a === main));
  const timed = encodes.rate !== undefined;
  const rows = Array.from({ length: Math.max(0, end - start) }, (_, i) => {
    const frame = columns.numbers[start + i] ?? 0;
    const values = metrics.map((metric) => html`<td>${cellText(columns.values(metric)?.[start + i])}</td>`);
    return html`<tr><th scope="row">${frame}</th>${timed ? html`<td>${timeText(encodes.timeOf(frame) ?? 0)}</td>` : ''}${values}</tr>`;
  });
  const heads = [dataWords.frame, ...(timed ? [dataWords.time] : []), ...metrics];
  return html`<table><caption class="unseen">${dataWords.caption(name)}</caption><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
}
