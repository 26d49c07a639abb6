/**
 * @module web/results/chart-file
 * Charts as files in light colours: canvases redrawn as vectors, other shapes copied from the page with their styles.
 */
import { csvLine, type Pen } from 'anyvmaf/view';
import { h } from '../dom.js';
import { download, savePng } from '../frames/save.js';
import type { ChartFile, ChartFormat } from './chart-menu.js';

/** In pixels: margin, and line height of the head. */
const [EDGE, LINE] = [12, 20];
/** Pixels per CSS pixel. */
const SHARP = 2;
const FONT = 'system-ui, sans-serif';

/** @returns the file's name */
export async function saveChart(file: ChartFile, format: ChartFormat): Promise<string> {
  const name = `${file
    .title()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}.${format}`;
  if (format === 'csv') {
    const cell = (value: string | number) =>
      typeof value === 'string' ? value : Number.isNaN(value) ? '' : String(value);
    const lines = file.rows().map((row) => csvLine(row.map(cell)));
    download(new Blob(lines, { type: 'text/csv' }), name);
    return name;
  }
  const { text, width, height } = drawingOf(file);
  const drawing = new Blob([text], { type: 'image/svg+xml' });
  if (format === 'svg') download(drawing, name);
  else await savePng(await rasterOf(drawing, width, height), name);
  return name;
}

async function rasterOf(drawing: Blob, width: number, height: number): Promise<HTMLCanvasElement> {
  const image = new Image();
  image.src = URL.createObjectURL(drawing);
  try {
    await image.decode();
  } finally {
    URL.revokeObjectURL(image.src);
  }
  const canvas = h('canvas', { width: Math.round(width * SHARP), height: Math.round(height * SHARP) });
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** The chart as SVG, below its title and the names of its encodes. */
function drawingOf({ title, element, chart, names }: ChartFile) {
  const plot = element();
  if (!plot) throw new Error('it is not visible.');
  const { dataset } = document.documentElement;
  const theme = dataset.theme;
  dataset.theme = 'light';
  try {
    const { width, height } = plot.getBoundingClientRect();
    const style = getComputedStyle(plot);
    const [ink, ground] = ['--ink', '--card'].map((name) => style.getPropertyValue(name).trim());
    const { shapes: head, bottom } = legend(names(), style, width, ink ?? '');
    // Axis labels may reach below the element.
    const lowest = [plot, ...plot.querySelectorAll('*')].map((shape) => shape.getBoundingClientRect().bottom);
    const tall = Math.max(...lowest) - plot.getBoundingClientRect().top;
    const [wide, high] = [Math.ceil(width + 2 * EDGE), Math.ceil(bottom + tall + EDGE)];
    const pen = new VectorPen();
    chart?.drawOn(pen, [width, height]);
    const inner = [...pen.shapes, ...shapesOf(plot, plot.getBoundingClientRect())].join('\n');
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}">
<title>${escaped(title())}</title>
<rect width="100%" height="100%" fill="${ground}"/>
${textAt(EDGE, EDGE + 14, title(), ink ?? '', 14, 'font-weight="600"')}
${head.join('\n')}
<g transform="translate(${EDGE} ${bottom})">
${inner}
</g>
</svg>
`;
    return { text, width: wide, height: high };
  } finally {
    if (theme === undefined) delete dataset.theme;
    else dataset.theme = theme;
  }
}

/** Names of encodes with their colours, wrapped as needed. */
function legend(
  names: readonly { readonly index: number; readonly name: string }[],
  style: CSSStyleDeclaration,
  width: number,
  ink: string,
) {
  const shapes: string[] = [];
  let [x, y] = [EDGE, EDGE + 14 + LINE];
  for (const { index, name } of names) {
    const value = (key: string) => style.getPropertyValue(key).trim();
    const colour = value(`--e${index}`) || value(`--s${index % 16}`);
    const wide = 32 + widthOf(name, 13);
    if (x > EDGE && x + wide > EDGE + width) [x, y] = [EDGE, y + LINE];
    const dash = value(`--d${index}`);
    const dashed = dash === '' || dash === 'none' ? '' : ` stroke-dasharray="${escaped(dash)}"`;
    shapes.push(
      `<path d="M${x} ${y - 4}h16" stroke="${escaped(colour)}" stroke-width="3"${dashed}/>`,
      textAt(x + 22, y, name, ink, 13),
    );
    x += wide + 8;
  }
  return { shapes, bottom: y + EDGE };
}

let measuring: CanvasRenderingContext2D | null | undefined;

function measured(text: string, font: string): TextMetrics {
  measuring ??= h('canvas').getContext('2d');
  if (!measuring) throw new Error('this browser has no canvas.');
  measuring.font = font;
  return measuring.measureText(text);
}

const widthOf = (text: string, size: number) => measured(text, `${size}px ${FONT}`).width;

function escaped(text: string): string {
  // XML allows no other control characters, not even as references.
  const plain = [...text].filter((sign) => sign >= ' ').join('');
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

const short = (value: number) => String(Math.round(value * 100) / 100);

function textAt(x: number, y: number, text: string, colour: string, size: number, more = ''): string {
  return `<text x="${short(x)}" y="${short(y)}" fill="${escaped(colour)}" font-size="${size}" font-family="${FONT}" ${more}>${escaped(text)}</text>`;
}

// --- from the page ---

function shapesOf(element: Element, origin: DOMRect): string[] {
  const style = getComputedStyle(element);
  // Skip interactive parts.
  if (style.display === 'none' || style.visibility === 'hidden' || element.matches('canvas, .tip, .at'))
    return [];
  if (element instanceof SVGSVGElement) return [nested(element, origin)];
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left - origin.left, box.top - origin.top];
  const children = [...element.childNodes].flatMap((child) => {
    if (child instanceof Element) return shapesOf(child, origin);
    return child instanceof Text ? wordsOf(child, style, origin) : [];
  });
  const own = element.matches('.plot, .hist') ? [] : boxOf(style, [x, y, box.width, box.height]);
  return [...own, ...children];
}

const CLEAR = /^(?:transparent|rgba\(.*, 0\))$/;

function boxOf(
  style: CSSStyleDeclaration,
  [x, y, width, height]: readonly [x: number, y: number, width: number, height: number],
): string[] {
  const side = (name: 'Top' | 'Right' | 'Bottom' | 'Left') => ({
    size: Number.parseFloat(style[`border${name}Width`]) || 0,
    colour: style[`border${name}Color`],
  });
  const [top, right, bottom, left] = [side('Top'), side('Right'), side('Bottom'), side('Left')];
  const round = Math.min(
    (style.borderTopLeftRadius.endsWith('%') ? width / 2 : Number.parseFloat(style.borderTopLeftRadius)) || 0,
    width / 2,
  );
  const all = [top, right, bottom, left].every(({ size }) => size > 0 && size === top.size);
  const rim = all ? ` stroke="${top.colour}" stroke-width="${top.size}"` : '';
  const inset = all ? top.size / 2 : 0;
  const ground = CLEAR.test(style.backgroundColor) ? 'none' : style.backgroundColor;
  const shapes: string[] = [];
  if ((ground !== 'none' || all) && width > 0 && height > 0)
    shapes.push(
      `<rect x="${short(x + inset)}" y="${short(y + inset)}" width="${short(width - 2 * inset)}" height="${short(height - 2 * inset)}" rx="${short(round)}" fill="${ground}"${rim}/>`,
    );
  if (all) return shapes;
  const lines = [
    [top, `M${short(x)} ${short(y)}h${short(width)}`],
    [right, `M${short(x + width)} ${short(y)}v${short(height)}`],
    [bottom, `M${short(x)} ${short(y + height)}h${short(width)}`],
    [left, `M${short(x)} ${short(y)}v${short(height)}`],
  ] as const;
  for (const [{ size, colour }, path] of lines)
    if (size > 0) shapes.push(`<path d="${path}" stroke="${colour}" stroke-width="${size}"/>`);
  return shapes;
}

function wordsOf(text: Text, style: CSSStyleDeclaration, origin: DOMRect): string[] {
  const words = text.data.trim();
  if (words === '') return [];
  const range = document.createRange();
  range.selectNodeContents(text);
  const { left, top, width, height } = range.getBoundingClientRect();
  if (width === 0) return [];
  const size = Number.parseFloat(style.fontSize);
  const y = top - origin.top + height / 2 + size * 0.35;
  return [textAt(left - origin.left, y, words, style.color, size, `font-weight="${style.fontWeight}"`)];
}

const STYLES = ['fill', 'fill-opacity', 'opacity', 'stroke', 'stroke-width', 'stroke-dasharray'] as const;

/** An SVG element of the page with its styles resolved. */
function nested(element: SVGSVGElement, origin: DOMRect): string {
  const { left, top, width, height } = element.getBoundingClientRect();
  const shapes = [...element.querySelectorAll<SVGGraphicsElement>('path, line, rect, circle')].map(
    (shape) => {
      const copy = shape.cloneNode() as SVGGraphicsElement;
      const style = getComputedStyle(shape);
      for (const name of ['class', 'style']) copy.removeAttribute(name);
      for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name));
      return new XMLSerializer().serializeToString(copy);
    },
  );
  const box = element.getAttribute('viewBox') ?? `0 0 ${width} ${height}`;
  const ratio = element.getAttribute('preserveAspectRatio') ?? 'xMidYMid';
  return `<svg x="${short(left - origin.left)}" y="${short(top - origin.top)}" width="${short(width)}" height="${short(height)}" viewBox="${box}" preserveAspectRatio="${ratio}">${shapes.join('')}</svg>`;
}

// --- from a canvas ---

/** Styles that `save` stores. */
const KEPT = [
  'fillStyle',
  'strokeStyle',
  'lineWidth',
  'lineJoin',
  'globalAlpha',
  'font',
  'textAlign',
  'textBaseline',
] as const satisfies readonly (keyof Pen)[];

interface PenState {
  readonly dx: number;
  readonly dy: number;
  readonly clip: string;
  readonly dash: string;
  readonly styles: object;
}

let clips = 0;

/** Collects shapes from canvas calls. */
class VectorPen implements Pen {
  readonly shapes: string[] = [];
  fillStyle = '#000';
  strokeStyle = '#000';
  lineWidth = 1;
  lineJoin: CanvasLineJoin = 'miter';
  globalAlpha = 1;
  font = `10px ${FONT}`;
  textAlign: CanvasTextAlign = 'start';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  #dx = 0;
  #dy = 0;
  #dash = '';
  #clip = '';
  #path = '';
  #kept: PenState[] = [];

  save(): void {
    const styles = Object.fromEntries(KEPT.map((name) => [name, this[name]]));
    this.#kept.push({ styles, dx: this.#dx, dy: this.#dy, clip: this.#clip, dash: this.#dash });
  }

  restore(): void {
    const kept = this.#kept.pop();
    if (!kept) return;
    const { dx, dy, clip, dash, styles } = kept;
    [this.#dx, this.#dy, this.#clip, this.#dash] = [dx, dy, clip, dash];
    Object.assign(this, styles);
  }

  translate(x: number, y: number): void {
    this.#dx += x;
    this.#dy += y;
  }

  beginPath(): void {
    this.#path = '';
  }

  closePath(): void {
    this.#path += 'Z';
  }

  moveTo(x: number, y: number): void {
    this.#path += `M${this.#at(x, y)}`;
  }

  lineTo(x: number, y: number): void {
    this.#path += `${this.#path === '' ? 'M' : 'L'}${this.#at(x, y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#path += `M${this.#at(x, y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  /** Whole circles only: charts draw no other arcs. */
  arc(x: number, y: number, radius: number): void {
    const [r, d] = [short(radius), short(2 * radius)];
    this.#path += `M${this.#at(x - radius, y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0Z`;
  }

  clip(): void {
    const id = `clip-${++clips}`;
    this.shapes.push(`<clipPath id="${id}"><path d="${this.#path}"/></clipPath>`);
    this.#clip = ` clip-path="url(#${id})"`;
  }

  setLineDash(segments: Iterable<number>): void {
    this.#dash = [...segments].join(' ');
  }

  stroke(): void {
    const dash = this.#dash === '' ? '' : ` stroke-dasharray="${this.#dash}"`;
    this.#put(
      `<path d="${this.#path}" fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${this.lineWidth}" stroke-linejoin="${this.lineJoin}"${dash}`,
    );
  }

  fill(): void {
    this.#put(`<path d="${this.#path}" fill="${escaped(this.fillStyle)}"`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    const path = `M${this.#at(x, y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
    this.#put(`<path d="${path}" fill="${escaped(this.fillStyle)}"`);
  }

  fillText(text: string, x: number, y: number): void {
    const size = Number.parseFloat(this.font);
    const down = { top: 0.8, middle: 0.35, alphabetic: 0 }[this.textBaseline as string] ?? 0;
    const anchor = { right: 'end', center: 'middle' }[this.textAlign as string] ?? 'start';
    const [left, top] = [x + this.#dx, y + this.#dy + down * size];
    this.shapes.push(textAt(left, top, text, this.fillStyle, size, `text-anchor="${anchor}"`));
  }

  measureText(text: string): TextMetrics {
    return measured(text, this.font);
  }

  #at(x: number, y: number): string {
    return `${short(x + this.#dx)} ${short(y + this.#dy)}`;
  }

  #put(shape: string): void {
    const alpha = this.globalAlpha === 1 ? '' : ` opacity="${this.globalAlpha}"`;
    this.shapes.push(`${shape}${alpha}${this.#clip}/>`);
  }
}
