/**
 * @module web/results/data-table
 * The frames as a table, one page at a time, built when opened.
 */
import { cellText, grouped, timeText } from 'anyvmaf/view';
import { h } from '../dom.js';
import { text } from '../text.js';
import type { Encode, Encodes } from './encodes.js';
import type { Section } from './section.js';
import { html, made, render, type TemplateResult } from './templates.js';
import type { View } from './view.js';

const words = text.results.data;
const ROWS = 50;

export function dataTable(encodes: Encodes, view: View): Section {
  let start = 0;
  let chosen = 0;
  const body = made(
    html`<div class="scroll" tabindex="0" role="region" aria-label="${words.heading}"></div>`,
  );
  const place = made(html`<span class="soft small" aria-live="polite"></span>`);
  const pager = (label: string, by: number) =>
    h('button', { type: 'button', class: 'tool', onclick: () => turn(start + by) }, label);
  const [earlier, later] = [pager(words.previous, -ROWS), pager(words.next, ROWS)];
  const number = h('input', { type: 'number', min: 0, id: 'go-to-frame' });
  const which = h('select', {
    'aria-label': words.encode,
    onchange: () => {
      chosen = Number(which.value);
      draw();
    },
  });
  const element = h('details', { class: 'data', ontoggle: () => draw() });
  render(
    html`<summary>${words.heading}</summary>
<form class="paging" @submit=${(event: Event) => {
      event.preventDefault();
      turn(encodes.list[chosen]?.columns.search(Number(number.value)) ?? 0);
    }}>${which}${earlier}${later}<label for="go-to-frame" class="soft small">${words.goTo}</label>${number}${place}</form>${body}`,
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
    place.textContent = words.rows(grouped(Math.min(start + 1, end)), grouped(end), grouped(length));
    earlier.disabled = start === 0;
    later.disabled = end >= length;
  }

  // A full page stays as it is, so that it does not change while being read.
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
  const heads = [words.frame, ...(timed ? [words.time] : []), ...metrics];
  return html`<table><caption class="unseen">${words.caption(name)}</caption><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
}
