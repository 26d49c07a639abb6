/**
 * @module report/view/sections
 * Renders sections of a result as HTML, for self-contained pages and the web page: tables, commands, and charts
 * of quality over a logarithmic bit rate, with the hull of measured points and chosen points.
 */
import type { Cell, CurvePoint, CurveSet, Section, Table } from '../sections.js';
import { colourOf, joined, percentOf, type Templates } from './numbers.js';
import { fittedRange, fixed, logTicks, ticks } from './scales.js';

/** @param plot puts a chart into an element of its size; `label` says what it shows */
export function htmlSections<T>(
  templates: Templates<T>,
  sections: readonly Section[],
  plot: (drawing: readonly T[], label: string) => T,
): readonly T[] {
  const { html } = templates;
  return sections.map(({ headline, about, title, table, curves, command }) => {
    const chart = curves && curveChart(templates, curves);
    const label = `${title}, ${curves?.curves.length} curves; every point is in the tables below`;
    const head =
      headline === undefined
        ? html`<div class="bar"><h2>${title}</h2></div>`
        : html`<h1 class="title">${headline}</h1><p class="files">${about}</p>`;
    return html`<section class="card">${head}${chart ? html`<div class="key small soft">${chart.key}</div>${plot(chart.drawing, label)}` : ''}${command === undefined ? '' : html`<pre><code>${command}</code></pre>`}${table ? htmlTable(templates, table, title ?? '') : ''}</section>`;
  });
}

function htmlTable<T>(
  { html }: Templates<T>,
  { heads, rows, texts = [], tones = [] }: Table,
  title: string,
): T {
  const content = (cell: Cell) =>
    typeof cell === 'string' ? cell : html`<code>${cell.code}</code>${cell.text ?? ''}`;
  const cells = (row: readonly Cell[]) =>
    row.map((cell, i) => {
      if (i === 0) return html`<th scope="row">${content(cell)}</th>`;
      return texts.includes(i)
        ? html`<td class="text">${content(cell)}</td>`
        : html`<td>${content(cell)}</td>`;
    });
  const top = heads.map((head, i) =>
    texts.includes(i)
      ? html`<th scope="col" class="text">${content(head)}</th>`
      : html`<th scope="col">${content(head)}</th>`,
  );
  const lines = rows.map((row, i) =>
    tones[i] ? html`<tr class="${tones[i]}">${cells(row)}</tr>` : html`<tr>${cells(row)}</tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr>${top}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

/** For an element with the class `plot`. */
interface CurveChart<T> {
  readonly drawing: readonly T[];
  readonly key: readonly T[];
}

/** Needs at least one point. */
function curveChart<T>({ html, svg }: Templates<T>, set: CurveSet): CurveChart<T> {
  const { curves, hull, chosen, target } = set;
  const points = [...curves.flatMap((curve) => curve.points), ...chosen];
  const across = rateRange(points);
  const up = fittedRange(
    [...points.map(({ quality }) => quality), ...(target === undefined ? [] : [target])],
    set.limits,
  );
  const x = (kbps: number) => percentOf(Math.log(kbps), Math.log(across[0]), Math.log(across[1]));
  const y = (quality: number) => Number(fixed(100 - percentOf(quality, ...up)));
  const path = (line: readonly CurvePoint[]) =>
    line.map(({ kbps, quality }, i) => `${i === 0 ? 'M' : 'L'}${x(kbps)} ${y(quality)}`).join('');
  const place = ({ kbps, quality }: CurvePoint) => `left:${x(kbps)}%;top:${y(quality)}%`;
  const scale = across[1] >= 1e4 ? 1000 : 1;
  const gridY = ticks(...up, 6).map(
    (value) =>
      html`<i class="gy" .style=${`top:${y(value)}%`}></i><span class="y" .style=${`top:${y(value)}%`}>${numberText(value)}</span>`,
  );
  const gridX = logTicks(...across, 8).map(
    (value) =>
      html`<i class="gx" .style=${`left:${x(value)}%`}></i><span class="x" .style=${`left:${x(value)}%`}>${numberText(value / scale)}</span>`,
  );
  const lines = curves.map(
    (curve, i) =>
      svg`<path d="${path(curve.points)}" fill="none" stroke="var(--s${i % 8})" stroke-width="1.5" stroke-linejoin="round" vector-effect="non-scaling-stroke"></path>`,
  );
  const band = svg`<path d="${path(hull)}" fill="none" stroke="var(--line)" stroke-width="9" stroke-linecap="round" stroke-linejoin="round" vector-effect="non-scaling-stroke"></path>`;
  const wanted =
    target === undefined
      ? ''
      : svg`<path d="${`M0 ${y(target)}H100`}" fill="none" stroke="var(--faint)" stroke-width="1" stroke-dasharray="4 4" vector-effect="non-scaling-stroke"></path>`;
  const dots = curves.flatMap((curve, i) =>
    curve.points.map(
      (point) =>
        html`<i class="dot small" .style=${joined([colourOf(i), place(point)], ';')} title="${joined([curve.name, point.label], ', ')}"></i>`,
    ),
  );
  const rings = chosen.map(
    (point) =>
      html`<i class="ring" .style=${place(point)} title="${point.label}"></i><span class="tag${x(point.kbps) > 70 ? ' left' : ''}" .style=${place(point)}>${point.label}</span>`,
  );
  return {
    drawing: [
      ...gridY,
      ...gridX,
      html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${[hull.length > 1 ? band : '', wanted, ...lines]}</svg>`,
      ...dots,
      ...rings,
      html`<span class="axis">bit rate in ${scale === 1 ? 'kb/s' : 'Mb/s'}, each step as many times</span>`,
    ],
    key: curves.map(
      ({ name }, i) =>
        html`<span><span class="swatch" .style=${colourOf(i)}></span><span>${name}</span></span>`,
    ),
  };
}

/** All rates, with a margin of the same factor on both sides. */
function rateRange(points: readonly CurvePoint[]): readonly [number, number] {
  const rates = points.map(({ kbps }) => kbps);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const air = Math.max(1.05, (high / low) ** 0.05);
  return [low / air, high * air];
}

function numberText(value: number): string {
  return String(Number(value.toPrecision(6)));
}
