/**
 * @module web/results/rates
 * Quality over bit rate: a point for every encode, the encodes of a curve joined, and the same as a table. There once two
 * encodes have different bit rates.
 */
import {
  bdTable,
  bitrateText,
  colourOf,
  labelOf,
  leftOutText,
  NONE,
  type RateChart,
  type RatePoint,
  rateChart,
  ratePoints,
  ratesOf,
} from 'anyvmaf/view';
import { h } from '../dom.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { Section } from './section.js';
import { html, made, render, type TemplateResult, templates } from './templates.js';
import type { View } from './view.js';

const words = text.results.rates;

/** Pixels from which a point counts as pointed at. */
const REACH = 60;

type Places = RateChart<unknown>['places'];

/** The card: its parts that are filled in, and all of it. */
function card() {
  const heading = h('h2', { id: 'rates-heading' });
  const hint = h('span', { class: 'hint faint small' });
  const area = h('div', { class: 'marks' });
  const tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  const plot = h('div', { class: 'plot rates', role: 'img' }, area, tip);
  const key = h('div', { class: 'key small soft', 'aria-hidden': 'true' });
  const differences = h('div', {});
  const leftOut = h('p', { class: 'soft small' });
  const table = made(
    html`<div class="scroll" tabindex="0" role="region" aria-label="${words.asTable}"></div>`,
  );
  const element = made(
    html`<section class="card" aria-labelledby="rates-heading" hidden><div class="bar">${heading}${hint}</div><div class="beside"><div>${key}${plot}${leftOut}</div>${differences}</div><details><summary>${words.asTable}</summary>${table}</details></section>`,
  );
  return { heading, hint, area, tip, plot, key, differences, leftOut, table, element };
}

export function ratesSection(encodes: Encodes, view: View): Section {
  const parts = card();
  const { area, tip, plot, element } = parts;
  let places: Places = [];
  let told = '';

  function update(): void {
    const { metric = '', worse } = encodes.ranking ?? {};
    element.hidden = !differs(encodes);
    if (element.hidden) return;
    const points = ratePoints(encodes, metric).filter(({ index }) => view.shown.value[index]);
    const label = labelOf(metric);
    parts.heading.textContent = words.heading(label);
    parts.hint.textContent = worse === 'high' ? words.lowerBetter : words.higherBetter;
    plot.setAttribute('aria-label', words.label(label, points.length));
    const room = { width: area.clientWidth, height: area.clientHeight };
    const chart = points.length > 0 ? rateChart(templates, encodes, metric, points, room) : undefined;
    places = chart?.places ?? [];
    tip.hidden = true;
    render(chart?.drawing ?? '', area);
    render(chart?.key ?? '', parts.key);
    parts.leftOut.textContent = leftOutText(encodes);
    render(tableOf(points, encodes, metric), parts.table);
    compareCodecs(points, label);
  }

  /** BD-rate, once all has come; made anew for other points only. */
  function compareCodecs(rated: readonly RatePoint[], label: string): void {
    const { running } = encodes;
    const now = JSON.stringify([running, rated]);
    if (now === told) return;
    told = now;
    render((!running && bdTable(templates, encodes, rated, label)) || '', parts.differences);
  }

  readOut(parts, encodes, view, () => places);
  const resize = new ResizeObserver(() => update());
  resize.observe(plot);
  const light = (lit: number | null) => {
    area.querySelectorAll<HTMLElement>('.dot').forEach((dot, i) => {
      dot.classList.toggle('unlit', lit !== null && places[i]?.point.index !== lit);
    });
  };
  const stops = [view.shown.watch(() => update()), view.lit.watch(light)];
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

/**
 * Whether there are several bit rates; uncompressed videos all have one. A run shows the chart before there are points: later it
 * would push away what is below.
 */
function differs(encodes: Encodes): boolean {
  const points = () => ratePoints(encodes, encodes.ranking?.metric).map(({ rate }) => rate);
  return new Set(encodes.running ? ratesOf(encodes) : points()).size > 1;
}

/** Reads out the point under the pointer beside it, and lights up its encode. */
function readOut(
  { plot, area, tip }: Readonly<Record<'plot' | 'area' | 'tip', HTMLElement>>,
  encodes: Encodes,
  view: View,
  places: () => Places,
): void {
  const point = (event: PointerEvent) => {
    const nearest = nearestPlace(places(), area, event);
    tip.hidden = nearest === undefined;
    view.lit.value = nearest?.point.index ?? null;
    if (!nearest) return;
    render(pointText(nearest.point, encodes), tip);
    placeBeside(tip, plot, area, nearest);
  };
  for (const name of ['pointermove', 'pointerdown'] as const) plot.addEventListener(name, point);
  plot.addEventListener('pointerleave', () => {
    tip.hidden = true;
    view.lit.value = null;
  });
}

/** The point under the pointer, or near it. */
function nearestPlace(places: Places, area: HTMLElement, event: PointerEvent): Places[number] | undefined {
  const { left, top, width, height } = area.getBoundingClientRect();
  const away = ({ x, y }: Places[number]) =>
    Math.hypot((x / 100) * width - (event.clientX - left), (y / 100) * height - (event.clientY - top));
  const [nearest] = places.toSorted((a, b) => away(a) - away(b));
  return nearest && away(nearest) <= REACH ? nearest : undefined;
}

/** Puts the readout beside a place of the drawing, where it does not leave the chart. */
function placeBeside(tip: HTMLElement, plot: HTMLElement, area: HTMLElement, place: Places[number]): void {
  const x = area.offsetLeft + (place.x / 100) * area.clientWidth;
  const y = area.offsetTop + (place.y / 100) * area.clientHeight;
  const beyond = x + 18 + tip.offsetWidth > plot.clientWidth;
  tip.style.left = `${Math.max(0, beyond ? x - 14 - tip.offsetWidth : x + 14)}px`;
  tip.style.top = `${Math.max(0, Math.min(plot.clientHeight - tip.offsetHeight, y + 12))}px`;
}

/** All about a point. */
function pointText({ index, name, quality, rate, curve }: RatePoint, encodes: Encodes): TemplateResult {
  const { metric = '' } = encodes.ranking ?? {};
  const rows = [
    [labelOf(metric), encodes.valueText(metric, quality)],
    [words.rate, bitrateText(rate)],
    ...(curve === undefined ? [] : [[words.curve, curve]]),
  ];
  return html`<div><span class="swatch" .style=${colourOf(index)}></span><span>${name}</span></div>${rows.map(([label, value]) => html`<div><span class="soft">${label}</span><b>${value}</b></div>`)}`;
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
