/**
 * @module report/view/sections
 * Renders sections of a result as HTML, for self-contained pages and the web page: tables, commands, and charts
 * of quality over a logarithmic bit rate, with the hull of measured points and chosen points.
 */
import type { Cell, CurvePoint, CurveSet, Section, Table } from '../sections.js';
import { colourOf, encodeColour, joined, type Templates } from './numbers.js';
import { ratePlot } from './scales.js';

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

/** Size that the number of ticks suits; pages differ in width. */
const ROOM = { width: 720, height: 240 } as const;

/** Needs at least one point. @returns `drawing` for an element with the class `plot` */
function curveChart<T>(templates: Templates<T>, set: CurveSet) {
  const { html, svg } = templates;
  const { curves, hull, chosen, target, limits } = set;
  const points = [...curves.flatMap((curve) => curve.points), ...chosen];
  const rates = points.map(({ kbps }) => 1000 * kbps);
  const qualities = [...points.map(({ quality }) => quality), ...(target === undefined ? [] : [target])];
  const plot = ratePlot({ rates, qualities, limits }, ROOM);
  const path = (line: readonly CurvePoint[]) =>
    plot.path(line.map(({ kbps, quality }) => [1000 * kbps, quality]));
  const place = ({ kbps, quality }: CurvePoint) => `left:${plot.x(1000 * kbps)}%;top:${plot.y(quality)}%`;
  const lines = curves.map(
    (curve, i) =>
      svg`<path d="${path(curve.points)}" fill="none" stroke="${encodeColour(i)}" stroke-width="1.5" stroke-linejoin="round" vector-effect="non-scaling-stroke"></path>`,
  );
  const band = svg`<path d="${path(hull)}" fill="none" stroke="var(--line)" stroke-width="9" stroke-linecap="round" stroke-linejoin="round" vector-effect="non-scaling-stroke"></path>`;
  const targetLine =
    target === undefined
      ? ''
      : svg`<path d="${`M0 ${plot.y(target)}H100`}" fill="none" stroke="var(--faint)" stroke-width="1" stroke-dasharray="4 4" vector-effect="non-scaling-stroke"></path>`;
  const dots = curves.flatMap((curve, i) =>
    curve.points.map(
      (point) =>
        html`<i class="dot small" .style=${joined([colourOf(i), place(point)], ';')} title="${joined([curve.name, point.label], ', ')}"></i>`,
    ),
  );
  const rings = chosen.map(
    (point) =>
      html`<i class="ring" .style=${place(point)} title="${point.label}"></i><span class="tag${plot.x(1000 * point.kbps) > 70 ? ' left' : ''}" .style=${place(point)}>${point.label}</span>`,
  );
  return {
    drawing: plot.drawing(
      templates,
      [hull.length > 1 ? band : '', targetLine, ...lines],
      [...dots, ...rings],
    ),
    key: curves.map(
      ({ name }, i) =>
        html`<span><span class="swatch" .style=${colourOf(i)}></span><span>${name}</span></span>`,
    ),
  };
}
