/**
 * @module web/templates
 * lit-html, for the page's own parts and for those shared with the HTML report.
 */
import type { Templates } from 'anyvmaf/view';
import { html, render, svg, type TemplateResult } from 'lit-html';

export { html, render, type TemplateResult };

export const templates: Templates<TemplateResult> = { html, svg };

/** Renders a template once and returns its element. */
export function made<T extends HTMLElement = HTMLElement>(template: TemplateResult): T {
  const box = document.createElement('div');
  render(template, box);
  const [element] = box.children;
  if (!(element instanceof HTMLElement)) throw new TypeError('The template has no element.');
  return element as T;
}
