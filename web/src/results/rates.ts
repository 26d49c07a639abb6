/**
 * @module web/results/rates
 * Quality over bit rate: a point for every encode, the encodes of a codec joined, and the same as a table. There once two
 * encodes have a bit rate.
 */
import uPlot from 'uplot';
import { fill, h, svg } from '../dom.js';
import { text } from '../text.js';
import { onTheme } from '../theme.js';
import { bitrateOf, type Encode, type Encodes } from './encodes.js';
import { bitrateText, labelOf, NONE, roundStep, scoreText, shortName, shortText, ticks } from './format.js';
import { colour } from './plot.js';
import type { Section } from './section.js';
import type { View } from './view.js';

const words = text.results.rates;

/** An encode that has both. */
interface Point {
  readonly index: number;
  readonly name: string;
  /** Bits per second. */
  readonly rate: number;
  readonly quality: number;
  readonly codec: string | undefined;
}

/** Pixels from which a point counts as pointed at. */
const REACH = 60;
/** Pixels between a point and its name. */
const GAP = 9;
/** What tells the lines of codecs apart: pixels drawn and left out in turn. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

function dashOf(group: number): readonly number[] {
  return DASHES[group % DASHES.length] ?? [];
}

/** A piece of a line. */
function sample(group: number): SVGElement {
  const line = svg('line', {
    x2: 28,
    y1: 4,
    y2: 4,
    stroke: 'var(--faint)',
    'stroke-width': 1.5,
    'stroke-dasharray': dashOf(group).join(' '),
  });
  const picture = svg('svg', { width: 28, height: 8 });
  picture.append(line);
  return picture;
}

export function ratesSection(encodes: Encodes, view: View): Section {
  const heading = h('h2', { id: 'rates-heading' });
  const hint = h('span', { class: 'hint faint small' });
  const marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
  const tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  const plot = h('div', { class: 'plot rates', role: 'img' }, tip);
  const key = h('div', { class: 'key small soft', 'aria-hidden': 'true' });
  const table = h('div', {
    class: 'scroll',
    tabindex: 0,
    role: 'region',
    'aria-labelledby': 'rates-heading',
  });
  const element = h(
    'section',
    { class: 'card', 'aria-labelledby': 'rates-heading', hidden: true },
    h('div', { class: 'bar' }, heading, hint),
    key,
    plot,
    h('details', {}, h('summary', {}, words.asTable), table),
  );
  let chart: uPlot | undefined;
  let points: readonly Point[] = [];
  let drawn = '';

  function all(): Point[] {
    const metric = encodes.ranking?.metric;
    return metric === undefined ? [] : pointsOf(encodes, metric);
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
    fill(
      table,
      tableOf(rated, label, (value) => valueText(metric, value)),
    );
  }

  function valueText(metric: string, value: number): string {
    return encodes.isScore(metric) ? scoreText(value) : shortText(value);
  }

  function draw(metric: string, width: number, height: number): void {
    chart?.destroy();
    chart = undefined;
    tip.hidden = true;
    if (points.length === 0) return;
    const across = rateRange(points);
    const up = qualityRange(points, encodes.isScore(metric) ? encodes.rangeOf(metric) : undefined);
    const mega = across[1] >= 1e7;
    const groups = [...new Set(points.map(({ codec }) => codec))];
    key.hidden = groups.length < 2;
    fill(key, ...groups.map((codec, i) => h('span', {}, sample(i), codec ?? words.noCodec)));
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
          label: words.rateAxis(mega),
          grid: { stroke: colour('--grid'), width: 1 },
          ticks: { stroke: colour('--line'), size: 4, width: 1 },
          splits: () => ticks(across[0], across[1], Math.max(2, width / 110)),
          values: (_, splits) =>
            splits.map((value) => String(Number((value / (mega ? 1e6 : 1e3)).toPrecision(6)))),
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
      return h('i', { class: 'dot', style: `left:${x}px;top:${y}px;--c:var(--s${index % 8})` });
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
    const away = ({ rate, quality }: Point) =>
      Math.hypot(
        (chart?.valToPos(rate, 'x') ?? 0) - (event.clientX - left),
        (chart?.valToPos(quality, 'y') ?? 0) - (event.clientY - top),
      );
    const [nearest] = points.toSorted((a, b) => away(a) - away(b));
    tip.hidden = !nearest || away(nearest) > REACH;
    if (!nearest || tip.hidden) return;
    const row = (name: string, value: string) =>
      h('div', {}, h('span', { class: 'soft' }, name), h('b', {}, value));
    fill(
      tip,
      h(
        'div',
        {},
        h('span', { class: 'swatch', style: `--c:var(--s${nearest.index % 8})` }),
        h('span', {}, nearest.name),
      ),
      row(labelOf(metric), valueText(metric, nearest.quality)),
      row(words.rate, bitrateText(nearest.rate) ?? NONE),
      ...(nearest.codec === undefined ? [] : [row(words.codec, nearest.codec)]),
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

/** Encodes with a score and a bit rate, by bit rate. */
function pointsOf(encodes: Encodes, metric: string): Point[] {
  return encodes.list
    .flatMap((encode: Encode): Point[] => {
      const [rate, quality] = [bitrateOf(encode), encodes.pooled(encode, metric)?.mean];
      if (rate === undefined || !(rate > 0) || quality === undefined || !Number.isFinite(quality)) return [];
      const { index, name, facts } = encode;
      return [{ index, name, rate, quality, codec: facts.pairing?.distorted.codec }];
    })
    .sort((a, b) => a.rate - b.rate);
}

/** From nothing on, unless that would leave most of the chart empty. */
function rateRange(points: readonly Point[]): readonly [number, number] {
  const rates = points.map(({ rate }) => rate);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const span = high - low || high;
  const from = low < 0.5 * high ? 0 : Math.max(0, low - 0.15 * span);
  return [from, high + 0.1 * (high - from)];
}

/** All points with some air; not beyond what scores can be, but for half of a point. */
function qualityRange(
  points: readonly Point[],
  limits: readonly [number, number] | undefined,
): readonly [number, number] {
  const values = points.map(({ quality }) => quality);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = Math.max((high - low) * 0.15, Math.abs(high) / 100, 1e-6);
  const step = roundStep(high - low + 2 * air, 6);
  const [from, to] = [Math.floor((low - air) / step) * step, Math.ceil((high + air) / step) * step];
  return limits ? [Math.max(limits[0], from), Math.min(limits[1], to)] : [from, to];
}

function tableOf(points: readonly Point[], label: string, valueText: (value: number) => string): HTMLElement {
  const codecs = points.some(({ codec }) => codec !== undefined);
  const heads = [words.rate, label, ...(codecs ? [words.codec] : [])];
  return h(
    'table',
    {},
    h('caption', { class: 'unseen' }, words.caption(label)),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, words.encode),
        ...heads.map((head) => h('th', { scope: 'col' }, head)),
      ),
    ),
    h(
      'tbody',
      {},
      ...points.map(({ index, name, rate, quality, codec }) =>
        h(
          'tr',
          { style: `--c:var(--s${index % 8})` },
          h('th', { scope: 'row' }, h('span', { class: 'swatch' }), name),
          h('td', {}, bitrateText(rate) ?? NONE),
          h('td', {}, valueText(quality)),
          codecs && h('td', {}, codec ?? NONE),
        ),
      ),
    ),
  );
}
