/**
 * @module web/results/rates
 * Quality over bit rate: a point for every encode, the encodes of a codec joined, and the same as a table. There once two
 * encodes have a bit rate.
 */
import {
  bitrateText,
  codecKey,
  codecsOf,
  colourOf,
  dashOf,
  labelOf,
  NONE,
  type RatePoint,
  rateAxes,
  ratePoints,
  shortName,
  ticks,
} from 'anyvmaf/view';
import uPlot from 'uplot';
import { fill, h } from '../dom.js';
import { text } from '../text.js';
import { onTheme } from '../theme.js';
import type { Encodes } from './encodes.js';
import { colour } from './plot.js';
import type { Section } from './section.js';
import { html, made, render, type TemplateResult, templates } from './templates.js';
import type { View } from './view.js';

const words = text.results.rates;

/** Pixels from which a point counts as pointed at. */
const REACH = 60;
/** Pixels between a point and its name. */
const GAP = 9;
export function ratesSection(encodes: Encodes, view: View): Section {
  const heading = h('h2', { id: 'rates-heading' });
  const hint = h('span', { class: 'hint faint small' });
  const marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
  const tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  const plot = h('div', { class: 'plot rates', role: 'img' }, tip);
  const key = h('div', { class: 'key small soft', 'aria-hidden': 'true' });
  const table = made(
    html`<div class="scroll" tabindex="0" role="region" aria-labelledby="rates-heading"></div>`,
  );
  const element = made(
    html`<section class="card" aria-labelledby="rates-heading" hidden><div class="bar">${heading}${hint}</div>${key}${plot}<details><summary>${words.asTable}</summary>${table}</details></section>`,
  );
  let chart: uPlot | undefined;
  let points: readonly RatePoint[] = [];
  let drawn = '';

  function all(): RatePoint[] {
    const metric = encodes.ranking?.metric;
    return metric === undefined ? [] : ratePoints(encodes, metric);
  }

  function update(): void {
    const metric = encodes.ranking?.metric;
    const rated = all();
    element.hidden = rated.length < 2;
    if (metric === undefined || element.hidden) return;
    const { clientWidth: width, clientHeight: height } = plot;
    points = rated.filter(({ index }) => view.shown.value[index]);
    const now = JSON.stringify([rated, points, width, height, colour('--bg')]);
    if (now === drawn || width === 0) return;
    drawn = now;
    const label = labelOf(metric);
    const better = encodes.ranking?.worse === 'high' ? words.lowerBetter : words.higherBetter;
    heading.textContent = words.heading(label);
    hint.textContent = better;
    plot.setAttribute('aria-label', words.label(label, rated.length));
    draw(metric, width, height);
    render(
      tableOf(rated, label, (value) => encodes.valueText(metric, value)),
      table,
    );
  }

  function draw(metric: string, width: number, height: number): void {
    chart?.destroy();
    chart = undefined;
    tip.hidden = true;
    if (points.length === 0) return;
    const limits = encodes.isScore(metric) ? encodes.rangeOf(metric) : undefined;
    const { across, up, unit } = rateAxes(points, limits);
    const groups = codecsOf(points);
    key.hidden = groups.length < 2;
    render(codecKey(templates, groups), key);
    const font = '12px ui-sans-serif, system-ui, sans-serif';
    const axis = { font, labelFont: font, stroke: colour('--faint'), labelSize: 20, labelGap: 0 };
    const options: uPlot.Options = {
      width,
      height,
      legend: { show: false },
      padding: [12, 18, 0, 0],
      cursor: { show: false },
      scales: { x: { time: false, range: () => [...across] }, y: { range: () => [...up] } },
      axes: [
        {
          ...axis,
          size: 28,
          gap: 6,
          label: words.rateAxis(unit[1]),
          grid: { stroke: colour('--grid'), width: 1 },
          ticks: { stroke: colour('--line'), size: 4, width: 1 },
          splits: () => ticks(across[0], across[1], Math.max(2, width / 110)),
          values: (_, splits) => splits.map((value) => String(Number((value / unit[0]).toPrecision(6)))),
        },
        {
          ...axis,
          size: 42,
          gap: 6,
          label: labelOf(metric),
          grid: { stroke: colour('--grid'), width: 1 },
          ticks: { show: false },
          splits: () => ticks(up[0], up[1], Math.max(2, height / 45)),
          values: (_, splits) => splits.map(String),
        },
      ],
      series: [
        {},
        ...groups.map(
          (_, i): uPlot.Series => ({
            stroke: colour('--faint'),
            width: 1.5,
            dash: [...dashOf(i)],
            spanGaps: true,
            points: { show: false },
          }),
        ),
      ],
    };
    const data: uPlot.AlignedData = [
      points.map(({ rate }) => rate),
      ...groups.map((group) => points.map(({ codec, quality }) => (codec === group ? quality : null))),
    ];
    // Where its points lie is known once it was drawn.
    chart = new uPlot({ ...options, hooks: { ready: [mark] } }, data, plot);
  }

  /** The points and their names, as far as there is room for names. */
  function mark({ valToPos, over }: uPlot): void {
    const [width, height] = [over.clientWidth, over.clientHeight];
    const places = points.map(({ rate, quality }) => ({ x: valToPos(rate, 'x'), y: valToPos(quality, 'y') }));
    const dots = points.map(({ index }, i) => {
      const { x = 0, y = 0 } = places[i] ?? {};
      return h('i', { class: 'dot', style: `left:${x}px;top:${y}px;${colourOf(index)}` });
    });
    fill(marks, ...dots);
    over.append(marks);
    const taken = places.map(({ x, y }) => ({ left: x - 8, top: y - 8, right: x + 8, bottom: y + 8 }));
    points.forEach(({ name }, i) => {
      const { x = 0, y = 0 } = places[i] ?? {};
      const tag = h('span', { class: 'tag' }, shortName(name, width < 480 ? 14 : 28));
      marks.append(tag);
      const [wide, tall] = [tag.offsetWidth, tag.offsetHeight];
      // Lines go up and right: above and left of a point or below and right of it is none. Else wherever there is room.
      const tries = [
        [x + GAP / 2 - wide, y - GAP - tall],
        [x - GAP / 2, y + GAP],
        [x + GAP, y - tall / 2],
        [x - GAP - wide, y - tall / 2],
        [x - wide / 2, y - GAP - tall],
      ] as const;
      const free = tries.find(
        ([left, top]) =>
          left >= 0 &&
          left + wide <= width + 14 &&
          top >= -10 &&
          top + tall <= height &&
          taken.every(
            (box) => left > box.right || left + wide < box.left || top > box.bottom || top + tall < box.top,
          ),
      );
      if (!free) {
        tag.remove();
        return;
      }
      const [left, top] = free;
      taken.push({ left, top, right: left + wide, bottom: top + tall });
      tag.style.left = `${left}px`;
      tag.style.top = `${top}px`;
    });
  }

  /** Says all about the point that is nearest to the pointer. */
  function point(event: PointerEvent): void {
    const metric = encodes.ranking?.metric;
    if (!chart || metric === undefined) return;
    const { left, top } = chart.over.getBoundingClientRect();
    const away = ({ rate, quality }: RatePoint) =>
      Math.hypot(
        (chart?.valToPos(rate, 'x') ?? 0) - (event.clientX - left),
        (chart?.valToPos(quality, 'y') ?? 0) - (event.clientY - top),
      );
    const [nearest] = points.toSorted((a, b) => away(a) - away(b));
    tip.hidden = !nearest || away(nearest) > REACH;
    if (!nearest || tip.hidden) return;
    const rows = [
      [labelOf(metric), encodes.valueText(metric, nearest.quality)],
      [words.rate, bitrateText(nearest.rate)],
      ...(nearest.codec === undefined ? [] : [[words.codec, nearest.codec]]),
    ];
    render(
      html`<div><span class="swatch" .style=${colourOf(nearest.index)}></span><span>${nearest.name}</span></div>${rows.map(([name, value]) => html`<div><span class="soft">${name}</span><b>${value}</b></div>`)}`,
      tip,
    );
    const box = plot.getBoundingClientRect();
    const x = chart.valToPos(nearest.rate, 'x') + left - box.left;
    const y = chart.valToPos(nearest.quality, 'y') + top - box.top;
    const beyond = x + 18 + tip.offsetWidth > plot.clientWidth;
    tip.style.left = `${Math.max(0, beyond ? x - 14 - tip.offsetWidth : x + 14)}px`;
    tip.style.top = `${Math.max(0, Math.min(plot.clientHeight - tip.offsetHeight, y + 12))}px`;
  }

  plot.addEventListener('pointermove', point);
  plot.addEventListener('pointerdown', point);
  plot.addEventListener('pointerleave', () => {
    tip.hidden = true;
  });
  const resize = new ResizeObserver(() => update());
  resize.observe(plot);
  const stops = [view.shown.watch(() => update()), onTheme(() => update())];
  return {
    element,
    update,
    hasContent: () => all().length > 1,
    close() {
      resize.disconnect();
      for (const stop of stops) stop();
      chart?.destroy();
    },
  };
}

function tableOf(
  points: readonly RatePoint[],
  label: string,
  valueText: (value: number) => string,
): TemplateResult {
  const codecs = points.some(({ codec }) => codec !== undefined);
  const heads = [words.rate, label, ...(codecs ? [words.codec] : [])];
  const rows = points.map(
    ({ index, name, rate, quality, codec }) =>
      html`<tr .style=${colourOf(index)}><th scope="row"><span class="swatch"></span>${name}</th><td>${bitrateText(rate) ?? NONE}</td><td>${valueText(quality)}</td>${codecs ? html`<td>${codec ?? NONE}</td>` : ''}</tr>`,
  );
  return html`<table><caption class="unseen">${words.caption(label)}</caption><thead><tr><th scope="col">${words.encode}</th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
}
