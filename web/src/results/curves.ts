/**
 * @module web/results/curves
 * Shows an opened result of a search, a ladder or a comparison of encoders: its answer, curves and points.
 */
import './results.css';
import './curves.css';
import type { CurveResult } from 'anyvmaf';
import { resultSections } from 'anyvmaf/result-sections';
import { htmlSections } from 'anyvmaf/view';
import { h } from '../dom.js';
import { html, render, templates } from '../templates.js';
import { text } from '../text.js';

export function showCurves(
  element: HTMLElement,
  { name, result }: { readonly name: string; readonly result: CurveResult },
  close: () => void,
): void {
  const sections = htmlSections(
    templates,
    resultSections(result),
    (drawing, label) =>
      html`<div class="plot rates curves" role="img" aria-label="${label}"><div class="marks">${drawing}</div></div>`,
  );
  const shown = h('div');
  const button = h('button', { class: 'tool', onclick: close }, text.curves.close);
  render(sections, shown);
  element.replaceChildren(h('div', { class: 'bar' }, h('span', { class: 'faint' }, name), button), shown);
  element.hidden = false;
}
