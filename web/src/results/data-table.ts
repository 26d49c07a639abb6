/**
 * @module web/results/data-table
 * The frames as a table, a page at a time, built when it is opened.
 */
import { fill, h } from '../dom.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import { cellText, timeText, whole } from './format.js';
import type { Section } from './section.js';
import type { View } from './view.js';

const words = text.results.data;
const ROWS = 50;

export function dataTable(encodes: Encodes, view: View): Section {
  let start = 0;
  let chosen = 0;
  const body = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.heading });
  const place = h('span', { class: 'soft small', 'aria-live': 'polite' });
  const earlier = h(
    'button',
    { type: 'button', class: 'tool', onclick: () => turn(start - ROWS) },
    words.previous,
  );
  const later = h('button', { type: 'button', class: 'tool', onclick: () => turn(start + ROWS) }, words.next);
  const number = h('input', { type: 'number', min: 0, id: 'go-to-frame' });
  const which = h('select', {
    'aria-label': words.encode,
    onchange: () => {
      chosen = Number(which.value);
      draw();
    },
  });
  const form = h(
    'form',
    {
      class: 'paging',
      onsubmit: (event) => {
        event.preventDefault();
        turn(encodes.list[chosen]?.columns.search(Number(number.value)) ?? 0);
      },
    },
    which,
    earlier,
    later,
    h('label', { for: 'go-to-frame', class: 'soft small' }, words.goTo),
    number,
    place,
  );
  const element = h(
    'details',
    { class: 'data', ontoggle: () => draw() },
    h('summary', {}, words.heading),
    form,
    body,
  );

  function turn(to: number): void {
    const count = encodes.list[chosen]?.columns.length ?? 0;
    start = Math.max(0, Math.min(to, Math.max(0, count - 1)));
    draw();
  }

  function draw(): void {
    if (!element.open) return;
    fill(which, ...encodes.list.map(({ name, index }) => h('option', { value: index }, name)));
    which.value = String(chosen);
    which.hidden = encodes.list.length < 2;
    const encode = encodes.list[chosen];
    if (!encode) return;
    const { columns, name } = encode;
    const metrics = encodes.metrics
      .filter((metric) => columns.values(metric))
      .sort((a, b) => Number(b === view.metric) - Number(a === view.metric));
    const end = Math.min(columns.length, start + ROWS);
    const timed = encodes.rate !== undefined;
    const rows = Array.from({ length: Math.max(0, end - start) }, (_, i) => {
      const frame = columns.numbers[start + i] ?? 0;
      return h(
        'tr',
        {},
        h('th', { scope: 'row' }, String(frame)),
        timed && h('td', {}, timeText(encodes.timeOf(frame) ?? 0)),
        ...metrics.map((metric) => h('td', {}, cellText(columns.values(metric)?.[start + i]))),
      );
    });
    fill(
      body,
      h(
        'table',
        {},
        h('caption', { class: 'unseen' }, words.caption(name)),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, words.frame),
            timed && h('th', { scope: 'col' }, words.time),
            ...metrics.map((metric) => h('th', { scope: 'col' }, metric)),
          ),
        ),
        h('tbody', {}, ...rows),
      ),
    );
    place.textContent = words.rows(whole(Math.min(start + 1, end)), whole(end), whole(columns.length));
    earlier.disabled = start === 0;
    later.disabled = end >= columns.length;
  }

  // A table that someone reads does not move under their eyes, but for its length.
  return {
    element,
    update: () => element.open && start + ROWS > (encodes.list[chosen]?.columns.length ?? 0) && draw(),
    close: () => {},
  };
}
