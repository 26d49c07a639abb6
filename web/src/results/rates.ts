/**
 * @module web/results/rates
 * Quality over bit rate as a chart with curves and as a table, once two encodes have different bit rates.
 */
import {
  bdTable,
  bitrateText,
  type CurveChoice,
  colourOf,
  comparableCurves,
  comparedCurves,
  labelOf,
  leftOutText,
  NONE,
  type RateChart,
  type RatePoint,
  rateChart,
  ratePoints,
  ratesOf,
} from 'anyvmaf/view';
import { keyed } from 'lit-html/directives/keyed.js';
import { h } from '../dom.js';
import type { Session } from '../session.js';
import { html, made, render, type TemplateResult, templates } from '../templates.js';
import { text } from '../text.js';
import { chartMenu } from './chart-menu.js';
import type { Encodes } from './encodes.js';
import type { SeriesEditor } from './series.js';
import type { Section, View } from './view.js';

const words = text.results.rates;

/** Pixels within which a point counts as pointed at. */
const REACH = 60;

type Places = RateChart<unknown>['places'];

function card() {
  const heading = h('h2', { id: 'rates-heading' });
  const hint = h('span', { class: 'hint faint small' });
  const tools = h('span', { class: 'tools' });
  const area = h('div', { class: 'marks' });
  const tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  const plot = h('div', { class: 'plot rates', role: 'img' }, area, tip);
  const key = h('div', { class: 'key small soft', 'aria-hidden': 'true' });
  const differences = h('div', {});
  const choices = h('div', { class: 'choices small soft' });
  const leftOut = h('p', { class: 'soft small' });
  const table = made(
    html`<div class="scroll" tabindex="0" role="region" aria-label="${words.asTable}"></div>`,
  );
  const series = h('div', {});
  const fold = h('details', {}, h('summary', {}, text.results.series.heading), series);
  const element = made(
    html`<section class="card" aria-labelledby="rates-heading" hidden><div class="bar">${heading}${hint}${tools}</div><div class="beside"><div>${key}${plot}${leftOut}</div><div>${choices}${differences}</div></div><details><summary>${words.asTable}</summary>${table}</details>${fold}</section>`,
  );
  return {
    ...{ heading, hint, tools, area, tip, plot, key, choices, differences, leftOut, table, series, fold },
    element,
  };
}

export function ratesSection(encodes: Encodes, view: View, session: Session): Section {
  const parts = card();
  const { area, tip, plot, element } = parts;
  let places: Places = [];
  let shown: readonly RatePoint[] = [];
  const compare = comparer(parts, encodes, session);
  const metricNow = () => metricOf(encodes, session);
  parts.tools.append(
    chartMenu({
      title: () => parts.heading.textContent ?? '',
      element: () => plot,
      names: () => shown,
      rows: () => rowsOf(shown, metricNow()),
    }),
  );
  const editor = openedEditor(parts, encodes, session);

  function update(): void {
    element.hidden = !differs(encodes);
    if (element.hidden) return;
    const metric = metricNow();
    shown = ratePoints(encodes, metric).filter(({ index }) => view.shown.value[index]);
    const label = labelOf(metric);
    parts.heading.textContent = words.heading(label);
    parts.hint.textContent = encodes.isWorseHigh(metric) ? words.lowerBetter : words.higherBetter;
    plot.setAttribute('aria-label', words.label(label, shown.length));
    const { curves } = comparableCurves(encodes, shown, metric);
    const choice = { ...choiceOf(session, curves), metric };
    const room = { width: area.clientWidth, height: area.clientHeight };
    const compared = encodes.running ? [] : comparedCurves(curves, choice);
    const coming = encodes.running ? ratesOf(encodes) : [];
    const chart = shown.length > 0 && rateChart(templates, encodes, metric, shown, room, compared, coming);
    places = chart ? chart.places : [];
    tip.hidden = true;
    draw(area, chart || undefined, view.lit.value);
    render(chart ? chart.key : '', parts.key);
    parts.leftOut.textContent = leftOutText(encodes);
    render(tableOf(shown, encodes, metric), parts.table);
    compare(shown, curves, choice);
    editor()?.update();
  }

  readOut(parts, encodes, view, metricNow, () => places);
  const resize = new ResizeObserver(() => update());
  resize.observe(plot);
  const stops = [
    view.shown.watch(() => update()),
    view.lit.watch((lit) => light(area, places, lit)),
    session.comparison.watch(() => update()),
  ];
  return {
    element,
    update,
    hasContent: () => differs(encodes),
    close() {
      resize.disconnect();
      for (const stop of stops) stop();
    },
  };
}

/** Shows BD-rates after the run; redraws only for other points and choices. */
function comparer(
  parts: Readonly<Record<'choices' | 'differences', HTMLElement>>,
  encodes: Encodes,
  session: Session,
) {
  let drawn = '';
  return (
    rated: readonly RatePoint[],
    curves: readonly { readonly name: string }[],
    choice: CurveChoice & { readonly metric: string },
  ): void => {
    const { running } = encodes;
    const now = JSON.stringify([running, rated, choice]);
    if (now === drawn) return;
    drawn = now;
    const names = curves.map(({ name }) => name);
    render(running ? '' : choices(encodes, session, names, choice), parts.choices);
    render((!running && bdTable(templates, encodes, rated, choice.metric, choice)) || '', parts.differences);
  };
}

/** Sessions with an open series editor, which stays open for other encodes. */
const open = new WeakSet<Session>();

/** Returns the editor once it was opened. */
function openedEditor(
  { fold, series }: { readonly fold: HTMLDetailsElement; readonly series: HTMLElement },
  encodes: Encodes,
  session: Session,
): () => SeriesEditor | undefined {
  let editor: SeriesEditor | undefined;
  fold.addEventListener('toggle', async () => {
    // Removal from the page fires `toggle` too.
    if (fold.isConnected) open[fold.open ? 'add' : 'delete'](session);
    if (!fold.open || editor) return;
    const { SeriesEditor } = await import('./series.js');
    editor ??= new SeriesEditor(series, encodes, session);
    editor.update();
  });
  fold.open = open.has(session);
  return () => editor;
}

/** The chosen metric if it exists, else the ranking's. */
function metricOf(encodes: Encodes, { comparison }: Session): string {
  const { metric } = comparison.value;
  return metric !== undefined && encodes.asked.includes(metric) ? metric : (encodes.ranking?.metric ?? '');
}

/** The first curve is the anchor unless an existing one was chosen. */
function choiceOf({ comparison }: Session, curves: readonly { readonly name: string }[]): CurveChoice {
  const { anchor, rates } = comparison.value;
  const known = anchor === '' || curves.some(({ name }) => name === anchor);
  return { rates, anchor: known ? anchor : curves[0]?.name };
}

/** The page's comparison of curves, for a report that repeats it. */
export function comparisonOf(encodes: Encodes, session: Session): CurveChoice {
  const metric = metricOf(encodes, session);
  const { curves } = comparableCurves(encodes, ratePoints(encodes, metric), metric);
  return { metric, ...choiceOf(session, curves) };
}

function choices(
  encodes: Encodes,
  { comparison }: Session,
  curves: readonly string[],
  { metric, anchor, rates }: CurveChoice,
): TemplateResult[] {
  const choose = (change: Partial<CurveChoice>) => {
    comparison.value = { ...comparison.value, ...change };
  };
  const select = (label: string, given: readonly (readonly [string, string])[], key: 'metric' | 'anchor') =>
    html`<label>${label} <select @change=${({ target }: Event) => choose({ [key]: (target as HTMLSelectElement).value })}>${given.map(([value, name]) => html`<option value=${value} ?selected=${value === (key === 'metric' ? metric : anchor)}>${name}</option>`)}</select></label>`;
  const limit = (label: string, key: 'min' | 'max') => {
    const value = rates?.[key];
    const set = ({ target }: Event) => {
      const typed = (target as HTMLInputElement).valueAsNumber;
      const given = { min: 0, max: Number.MAX_VALUE, ...rates };
      const next = { ...given, [key]: typed >= 0 ? typed : key === 'min' ? 0 : Number.MAX_VALUE };
      const ordered = { min: Math.min(next.min, next.max), max: Math.max(next.min, next.max) };
      const all = ordered.min === 0 && ordered.max === Number.MAX_VALUE;
      choose({ rates: all ? undefined : ordered });
    };
    const shown = value === undefined || value === 0 || value === Number.MAX_VALUE ? '' : String(value);
    return html`<label>${label} <input type="number" min="0" step="any" placeholder=${words.all} .value=${shown} @change=${set}></label>`;
  };
  const asked = encodes.asked.map((name) => [name, labelOf(name)] as const);
  const anchors = [...curves, ''].map((name) => [name, name || words.each] as const);
  return [
    ...(asked.length > 1 ? [select(words.metric, asked, 'metric')] : []),
    ...(curves.length > 1
      ? [select(words.anchor, anchors, 'anchor'), limit(words.from, 'min'), limit(words.to, 'max')]
      : []),
  ];
}

/** True for several bit rates. A run shows the chart before it has points, so that nothing below moves later. */
function differs(encodes: Encodes): boolean {
  const points = () => ratePoints(encodes, encodes.ranking?.metric).map(({ rate }) => rate);
  return new Set(encodes.running ? ratesOf(encodes) : points()).size > 1;
}

function readOut(
  { plot, area, tip }: Readonly<Record<'plot' | 'area' | 'tip', HTMLElement>>,
  encodes: Encodes,
  view: View,
  metric: () => string,
  places: () => Places,
): void {
  const point = (event: PointerEvent) => {
    const nearest = nearestPlace(places(), area, event);
    tip.hidden = nearest === undefined;
    view.lit.value = nearest?.point.index ?? null;
    if (!nearest) return;
    render(pointText(nearest.point, encodes, metric()), tip);
    placeBeside(tip, plot, area, nearest);
  };
  for (const name of ['pointermove', 'pointerdown'] as const) plot.addEventListener(name, point);
  plot.addEventListener('pointerleave', () => {
    tip.hidden = true;
    view.lit.value = null;
  });
}

function nearestPlace(places: Places, area: HTMLElement, event: PointerEvent): Places[number] | undefined {
  const { left, top, width, height } = area.getBoundingClientRect();
  const away = ({ x, y }: Places[number]) =>
    Math.hypot((x / 100) * width - (event.clientX - left), (y / 100) * height - (event.clientY - top));
  const [nearest] = places.toSorted((a, b) => away(a) - away(b));
  return nearest && away(nearest) <= REACH ? nearest : undefined;
}

/** Keeps the readout within the chart. */
function placeBeside(tip: HTMLElement, plot: HTMLElement, area: HTMLElement, place: Places[number]): void {
  const x = area.offsetLeft + (place.x / 100) * area.clientWidth;
  const y = area.offsetTop + (place.y / 100) * area.clientHeight;
  const beyond = x + 18 + tip.offsetWidth > plot.clientWidth;
  tip.style.left = `${Math.max(0, beyond ? x - 14 - tip.offsetWidth : x + 14)}px`;
  tip.style.top = `${Math.max(0, Math.min(plot.clientHeight - tip.offsetHeight, y + 12))}px`;
}

function pointText(
  { index, name, quality, rate, curve }: RatePoint,
  encodes: Encodes,
  metric: string,
): TemplateResult {
  const rows = [
    [labelOf(metric), encodes.valueText(metric, quality)],
    [words.rate, bitrateText(rate)],
    ...(curve === undefined ? [] : [[words.curve, curve]]),
  ];
  return html`<div><span class="swatch" .style=${colourOf(index)}></span><span>${name}</span></div>${rows.map(([label, value]) => html`<div><span class="soft">${label}</span><b>${value}</b></div>`)}`;
}

/** Redraws moved points, as moving labels would count as layout shifts. */
function draw(area: HTMLElement, chart: RateChart<TemplateResult> | undefined, lit: number | null): void {
  const { places = [], drawing = [] } = chart ?? {};
  render(keyed(places.map(({ x, y, point }) => `${point.index} ${x} ${y}`).join(), drawing), area);
  light(area, places, lit);
}

function light(area: HTMLElement, places: Places, lit: number | null): void {
  for (const [i, dot] of area.querySelectorAll('.dot').entries())
    dot.classList.toggle('unlit', lit !== null && places[i]?.point.index !== lit);
}

function rowsOf(points: readonly RatePoint[], metric: string): (string | number)[][] {
  return [
    [words.encode, words.curve, text.results.chartFile.rate, metric],
    ...points.map(({ name, curve, rate, quality }) => [name, curve ?? '', rate, quality]),
  ];
}

function tableOf(points: readonly RatePoint[], encodes: Encodes, metric: string): TemplateResult {
  const label = labelOf(metric);
  const curves = points.some(({ curve }) => curve !== undefined);
  const heads = [words.rate, label, ...(curves ? [words.curve] : [])];
  const rows = points.map(
    ({ index, name, rate, quality, curve }) =>
      html`<tr .style=${colourOf(index)}><th scope="row"><span class="swatch"></span>${name}</th><td>${bitrateText(rate) ?? NONE}</td><td>${encodes.valueText(metric, quality)}</td>${curves ? html`<td>${curve ?? NONE}</td>` : ''}</tr>`,
  );
  return html`<table><caption class="unseen">${words.caption(label)}</caption><thead><tr><th scope="col">${words.encode}</th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
}
