/**
 * @module web/results/chart-menu
 * The menu that saves a chart as SVG, PNG or CSV. The code that makes files loads on use.
 */

import { type FrameChart, labelOf } from 'anyvmaf/view';
import { announce } from '../dom.js';
import { messageOf } from '../engine/calls.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';

const words = text.results.chartFile;

export const CHART_FORMATS = ['svg', 'png', 'csv'] as const;
export type ChartFormat = (typeof CHART_FORMATS)[number];

/** A chart that can be saved; read when the user saves it. */
export interface ChartFile {
  title(): string;
  element(): HTMLElement | null;
  readonly chart?: FrameChart;
  names(): readonly { readonly index: number; readonly name: string }[];
  /** Values on show, below a row of headings. */
  rows(): readonly (readonly (string | number)[])[];
}

/** Resets itself after each choice. */
export function chartMenu(file: ChartFile): HTMLElement {
  const save = async (format: ChartFormat) => {
    try {
      const { saveChart } = await import('./chart-file.js');
      announce(words.saved(await saveChart(file, format)));
    } catch (error) {
      announce(words.failed(messageOf(error)));
    }
  };
  const choose = () => {
    const format = CHART_FORMATS.find((name) => name === menu.value);
    menu.selectedIndex = 0;
    if (format) save(format);
  };
  const name = () => menu.setAttribute('aria-label', words.of(file.title()));
  const menu = made<HTMLSelectElement>(
    html`<select class="chart-menu" aria-label=${words.open} @change=${choose} @focus=${name}><option value="">${words.open}</option>${CHART_FORMATS.map((format) => html`<option value=${format}>${words.kinds[format]}</option>`)}</select>`,
  );
  return menu;
}

export function frameFile(chart: FrameChart, name: string): ChartFile {
  const { state } = chart;
  return {
    title: () => (name === labelOf(chart.metric) ? name : `${labelOf(chart.metric)}, ${name}`),
    element: () => chart.element,
    chart,
    names: () => state.visible,
    rows() {
      const { rate } = state.encodes;
      const [from, to] = state.span;
      const shown = state.visible;
      const numbers = new Set(shown.flatMap(({ columns }) => [...columns.numbers]));
      const frames = [...numbers].filter((n) => n >= from && n <= to).sort((a, b) => a - b);
      const values = shown.map(({ columns }) => {
        const all = columns.values(chart.metric);
        return new Map(Array.from(columns.numbers, (frame, i) => [frame, all?.[i] ?? Number.NaN]));
      });
      return [
        [words.frame, ...(rate === undefined ? [] : [words.time]), ...shown.map((encode) => encode.name)],
        ...frames.map((frame) => [
          frame,
          ...(rate === undefined ? [] : [(frame + state.encodes.origin) / rate]),
          ...values.map((of) => of.get(frame) ?? Number.NaN),
        ]),
      ];
    },
  };
}
