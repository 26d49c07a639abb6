/**
 * @module web/dom
 * Creates elements, and holds values that views watch, without a framework.
 */
export { Cell } from 'anyvmaf/view';

type Attribute = string | number | boolean | undefined | ((event: Event) => void);
type Child = Node | string | false | null | undefined;

/**
 * Creates an element. Functions such as `onclick` become listeners, `true` sets an attribute without a value, `false` and
 * `undefined` omit it. Strings become text, never markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...present(children));
  return element;
}

/** As {@link h}, for SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  element.append(...present(children));
  return element;
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter(
    (child): child is Node | string => child instanceof Node || typeof child === 'string',
  );
}

function setAttributes(element: Element, attributes: Readonly<Record<string, Attribute>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    // A strict content security policy refuses the attribute.
    else if (name === 'style' && (element instanceof HTMLElement || element instanceof SVGElement))
      element.style.cssText = String(value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
}

/** A button in the page's usual style. */
export function button(
  attributes: Readonly<Record<string, Attribute>>,
  ...children: readonly Child[]
): HTMLButtonElement {
  return h('button', { class: 'tool', type: 'button', ...attributes }, ...children);
}

/** Replaces an element's children. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...present(children));
}

/** Tells assistive technology whether an element is about to change. */
export function setBusy(element: Element, busy: boolean): void {
  if (busy) element.setAttribute('aria-busy', 'true');
  else element.removeAttribute('aria-busy');
}
