/**
 * @module web/results/templates
 * How the page renders what it shows as the HTML report does, and its own parts: by lit-html.
 */
import type { Templates } from 'anyvmaf/view';
import { html, render, svg, type TemplateResult } from 'lit-html';

export { html, render, type TemplateResult };

/** What the shared view makes its templates with. */
export const templates: Templates<TemplateResult> = { html, svg };

/** The element of a template that is made once. */
export function made(template: TemplateResult): HTMLElement {
  const box = document.createElement('div');
  render(template, box);
  const [element] = box.children;
  if (!(element instanceof HTMLElement)) throw new TypeError('The template has no element.');
  return element;
}
