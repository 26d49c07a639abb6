/**
 * @module web/results/tables
 * Folded tables: pooled values, and how the run was done.
 */
import { labelOf, percentileTable, pooledTables, runTables } from 'anyvmaf/view';
import { html, made, render, type TemplateResult, templates } from '../templates.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { Section, View } from './view.js';

const words = text.results;

/** Folded on screen, unfolded on paper. */
function foldedSection(
  heading: string,
  name: string,
  hasContent: () => boolean,
  content: () => TemplateResult | readonly TemplateResult[],
): Section {
  const body = made(html`<div></div>`);
  const element = made(
    html`<details class="card folded-card ${name}"><summary><h2>${heading}</h2></summary>${body}</details>`,
  );
  return {
    element,
    update() {
      element.hidden = !hasContent();
      render(element.hidden ? '' : content(), body);
    },
    hasContent,
    close: () => {},
  };
}

export function pooledSection(encodes: Encodes, view: View): Section {
  const percentiles = (metric: string) =>
    html`<h3>${words.pooled.percentiles(labelOf(metric))}</h3><div class="scroll" tabindex="0" role="region" aria-label="percentile">${percentileTable(templates, encodes, metric)}</div>`;
  const section = foldedSection(
    words.pooled.heading,
    'pooled',
    () => encodes.metrics.length > 0,
    () => [
      view.metric === undefined ? html`` : percentiles(view.metric),
      html`${pooledTables(templates, encodes)}`,
    ],
  );
  const stops = [view.chosen, view.shown].map((cell) => cell.watch(() => section.update()));
  return {
    ...section,
    close() {
      for (const stop of stops) stop();
    },
  };
}

export function detailsSection(encodes: Encodes): Section {
  return foldedSection(
    words.details.heading,
    'details',
    () => encodes.list.some(({ facts }) => facts.reference || facts.distorted || facts.models),
    () => html`<div class="run">${runTables(templates, encodes)}</div>`,
  );
}
