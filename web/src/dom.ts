/**
 * @module web/dom
 * DOM helpers without a framework: elements, live region, focus, storage.
 */
export { Cell } from 'anyvmaf/view';

type Attribute = string | number | boolean | undefined | ((event: Event) => void);
type Child = Node | string | false | null | undefined;

/**
 * Creates an element. `onclick` and the like become listeners; `true` sets an attribute without a value,
 * `false` and `undefined` omit it. Strings become text, never markup.
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

export function button(
  attributes: Readonly<Record<string, Attribute>>,
  ...children: readonly Child[]
): HTMLButtonElement {
  return h('button', { class: 'tool', type: 'button', ...attributes }, ...children);
}

export function drawPixels(
  canvas: HTMLCanvasElement,
  { width, height, data }: Readonly<{ width: number; height: number; data: Uint8ClampedArray<ArrayBuffer> }>,
): HTMLCanvasElement {
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d')?.putImageData(new ImageData(data, width, height), 0, 0);
  return canvas;
}

export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...present(children));
}

export function setBusy(element: Element, busy: boolean): void {
  if (busy) element.setAttribute('aria-busy', 'true');
  else element.removeAttribute('aria-busy');
}

/** `null` also if the browser denies storage. */
export function storedText(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function storeText(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is denied; the setting is for this visit only.
  }
}

let region: HTMLElement | undefined;

/** The live region, which the page contains once. */
export function announcer(): HTMLElement {
  region ??= h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite', id: 'announcer' });
  return region;
}

/** Screen readers say the sentence after the current one. */
export function announce(sentence: string): void {
  announcer().textContent = sentence;
}

/** Rows that replaced removed ones, for the focus. */
const successors = new WeakMap<HTMLElement, HTMLElement>();

export function replacedBy(gone: HTMLElement, successor: HTMLElement | undefined): void {
  if (successor && successor !== gone) successors.set(gone, successor);
}

/** The element if it is in the page, else its latest successor that is. */
export function standIn(element: HTMLElement): HTMLElement | undefined {
  const passed = new Set<HTMLElement>();
  for (let at: HTMLElement | undefined = element; at && !passed.has(at); at = successors.get(at)) {
    if (at.isConnected) return at;
    passed.add(at);
  }
  return undefined;
}
