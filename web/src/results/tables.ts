/**
 * @module web/results/tables
 * What is text and tables: pooled values, and how it was run.
 */
import { pooledTables, runGroups } from 'anyvmaf/view';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { Section } from './section.js';
import { html, made, render, type TemplateResult, templates } from './templates.js';

const words = text.results;

/** A section that is rendered again with every update. */
function section(
  element: HTMLElement,
  hasContent: () => boolean,
  content: () => TemplateResult | readonly TemplateResult[],
): Section {
  const body = element.lastElementChild as HTMLElement;
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

function card(heading: string, id: string): HTMLElement {
  return made(
    html`<section class="card" aria-labelledby="${id}"><div class="bar"><h2 id="${id}">${heading}</h2></div><div></div></section>`,
  );
}

export function pooledSection(encodes: Encodes): Section {
  return section(
    card(words.pooled.heading, 'pooled-heading'),
    () => encodes.metrics.length > 0,
    () => pooledTables(templates, encodes),
  );
}

export function detailsSection(encodes: Encodes): Section {
  return section(
    made(
      html`<details class="card details"><summary><h2>${words.details.heading}</h2></summary><div class="run"></div></details>`,
    ),
    () => encodes.list.some(({ facts }) => facts.reference || facts.distorted || facts.models),
    () => runGroups(templates, encodes),
  );
}
