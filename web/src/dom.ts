/**
 * @module web/dom
 * DOM helpers without a framework: elements, icons, live region, focus, storage.
 */

export { Cell } from 'anyvmaf/view';

type Attribute = string | number | boolean | undefined | ((event: Event) => void);
type Attributes = Readonly<Record<string, Attribute>>;
type Child = Node | string | false | null | undefined;

/**
 * Creates an element. `onclick` and the like become listeners; `true` sets an attribute without a value,
 * `false` and `undefined` omit it. Strings become text, never markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...present(children));
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
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

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    // A strict content security policy refuses the attribute.
    else if (name === 'style' && (element instanceof HTMLElement || element instanceof SVGElement))
      element.style.cssText = String(value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
}

export function button(attributes: Attributes, ...children: readonly Child[]): HTMLButtonElement {
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
    // Storage is denied: the value lasts for this visit only.
  }
}

let region: HTMLElement | undefined;

/** The page's only live region. */
export function announcer(): HTMLElement {
  region ??= h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite', id: 'announcer' });
  return region;
}

/** Screen readers read the sentence after the current one. */
export function announce(sentence: string): void {
  announcer().textContent = sentence;
}

/** Successors of removed rows, to restore the focus. */
const successors = new WeakMap<HTMLElement, HTMLElement>();

export function replacedBy(removed: HTMLElement, successor: HTMLElement | undefined): void {
  if (successor && successor !== removed) successors.set(removed, successor);
}

/** The element if it is in the page, else its latest successor that is. */
export function standIn(element: HTMLElement): HTMLElement | undefined {
  const visited = new Set<HTMLElement>();
  for (let at: HTMLElement | undefined = element; at && !visited.has(at); at = successors.get(at)) {
    if (at.isConnected) return at;
    visited.add(at);
  }
  return undefined;
}

const PATHS = {
  close: 'M4 4l8 8M12 4l-8 8',
  swap: 'M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 0 0 0-5.6M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1',
  moon: 'M13 9.6A5.6 5.6 0 1 1 6.4 3a4.6 4.6 0 0 0 6.6 6.6z',
  system: 'M2 3.5h12v8H2zM6 14h4',
  link: 'M6.7 9.3l2.6-2.6M7.2 4.6l1.5-1.5a2.9 2.9 0 0 1 4.2 4.2l-1.5 1.5M8.8 11.4l-1.5 1.5a2.9 2.9 0 0 1-4.2-4.2l1.5-1.5',
  open: 'M2 12.5v-9h4l1.5 1.8H14v7.2z',
  full: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  tune: 'M2 4.5h6M12 4.5h2M10 2.7a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6M2 11.5h2M8 11.5h6M6 9.7a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6',
  play: 'M5 3.2l7.5 4.8L5 12.8z',
} as const;

/** 16 × 16 pixels; the button around it has the accessible name. */
export function icon(name: keyof typeof PATHS): SVGElement {
  return svg(
    'svg',
    { class: 'icon', viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true', focusable: 'false' },
    svg('path', {
      d: PATHS[name],
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1.5,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
    }),
  );
}

/** A picture frame: sharp for the reference, blocky for the distorted video. */
export function pictogram(side: 'reference' | 'distorted'): SVGElement {
  const blocks = [
    [12, 27, 6],
    [18, 21, 12],
    [24, 24, 9],
    [30, 18, 15],
    [36, 12, 21],
    [42, 18, 15],
    [48, 24, 9],
  ] as const;
  return svg(
    'svg',
    {
      class: 'pictogram',
      viewBox: '0 0 64 44',
      width: 64,
      height: 44,
      'aria-hidden': 'true',
      focusable: 'false',
    },
    svg('rect', { class: 'frame', x: 1.5, y: 1.5, width: 61, height: 41, rx: 6 }),
    ...(side === 'reference'
      ? [
          svg('path', { class: 'land', d: 'M8 36L23 18l8 9L42 12l14 24z' }),
          svg('circle', { class: 'land', cx: 17, cy: 12, r: 3.5 }),
        ]
      : [
          ...blocks.map(([x, y, height]) =>
            svg('rect', { class: 'land', x: x - 2, y: y + 3, width: 5.4, height: height - 0.6 }),
          ),
          svg('rect', { class: 'land', x: 13.5, y: 8.5, width: 7, height: 7 }),
        ]),
  );
}
