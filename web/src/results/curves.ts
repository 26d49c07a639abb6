/**
 * @module web/results/curves
 * The result of a search, a ladder or a comparison of encoders that was opened: its answer, curves and points.
 */
import './results.css';
import './curves.css';
import type { CurveResult } from 'anyvmaf';
import { resultSections } from 'anyvmaf/result-sections';
import { htmlSections } from 'anyvmaf/view';
import { h } from '../dom.js';
import { text } from '../text.js';
import { html, render, templates } from './templates.js';

/** Shows a result. */
export function showCurves(
  element: HTMLElement,
  { name, result }: { readonly name: string; readonly result: CurveResult },
): void {
  const sections = htmlSections(
    templates,
    resultSections(result),
    (drawing, label) =>
      html`<div class="plot rates curves" role="img" aria-label="${label}"><div class="marks">${drawing}</div></div>`,
  );
  const shown = h('div');
  const close = h(
    'button',
    {
      class: 'tool',
      onclick: () => {
        element.hidden = true;
        element.replaceChildren();
      },
    },
    text.curves.close,
  );
  render(sections, shown);
  element.replaceChildren(h('div', { class: 'bar' }, h('span', { class: 'faint' }, name), close), shown);
  element.hidden = false;
}
