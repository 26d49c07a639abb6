/**
 * @module web/dom
 * Creates elements, announces messages, keeps the focus, and holds values that views watch, without a framework.
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

/** Draws red, green, blue and opacity of each pixel. @returns the canvas */
export function drawPixels(
  canvas: HTMLCanvasElement,
  { width, height, data }: Readonly<{ width: number; height: number; data: Uint8ClampedArray<ArrayBuffer> }>,
): HTMLCanvasElement {
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d')?.putImageData(new ImageData(data, width, height), 0, 0);
  return canvas;
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

/** What the browser stores under a name; it may deny storage. */
export function storedText(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a text under a name. Without storage it counts for this visit alone. */
export function storeText(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The page works without.
  }
}

let region: HTMLElement | undefined;

/** The live region; the page contains it once. */
export function announcer(): HTMLElement {
  region ??= h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite', id: 'announcer' });
  return region;
}

/** Makes screen readers say a sentence after the current one. */
export function announce(sentence: string): void {
  announcer().textContent = sentence;
}

/** What took the place of rows that were removed, for the focus. */
const successors = new WeakMap<HTMLElement, HTMLElement>();

/** Remembers the successor of an element that was removed from the page. */
export function replacedBy(gone: HTMLElement, successor: HTMLElement | undefined): void {
  if (successor && successor !== gone) successors.set(gone, successor);
}

/** The element itself if it is in the page, else its latest successor that is. */
export function standIn(element: HTMLElement): HTMLElement | undefined {
  const passed = new Set<HTMLElement>();
  for (let at: HTMLElement | undefined = element; at && !passed.has(at); at = successors.get(at)) {
    if (at.isConnected) return at;
    passed.add(at);
  }
  return undefined;
}
