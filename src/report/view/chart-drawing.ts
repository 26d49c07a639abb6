/**
 * @module report/view/chart-drawing
 * Draws the axes and lines of a frame chart on a canvas.
 */
import { type FrameTick, type Line, type Span, searchFrame, thinned, ticks } from './scales.js';

/** What charts use of a canvas, so that they can also be drawn elsewhere. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'arc'
  | 'beginPath'
  | 'clip'
  | 'closePath'
  | 'fill'
  | 'fillRect'
  | 'fillStyle'
  | 'fillText'
  | 'font'
  | 'globalAlpha'
  | 'lineJoin'
  | 'lineTo'
  | 'lineWidth'
  | 'measureText'
  | 'moveTo'
  | 'rect'
  | 'restore'
  | 'save'
  | 'setLineDash'
  | 'stroke'
  | 'strokeStyle'
  | 'textAlign'
  | 'textBaseline'
  | 'translate'
>;

/** Maps frames and values to CSS pixels from the left and the top of the plot area. */
export class Scale {
  constructor(
    readonly width: number,
    readonly height: number,
    readonly span: Span,
    readonly range: Span,
  ) {}

  x(frame: number): number {
    const [from, to] = this.span;
    return ((frame - from) / (to - from)) * this.width;
  }

  y(value: number): number {
    const [low, high] = this.range;
    return ((high - value) / (high - low)) * this.height;
  }

  /** Position on the frame axis, clamped to the shown part. */
  frameAt(x: number): number {
    const [from, to] = this.span;
    return from + Math.min(1, Math.max(0, x / this.width)) * (to - from);
  }
}

/** Screen pixels per CSS pixel, at most 3. */
function screenDensity(): number {
  return Math.min(3, devicePixelRatio || 1);
}

/** Clears a canvas and sizes it for the screen; the pen takes CSS pixels. */
export function penOf(canvas: HTMLCanvasElement, width: number, height: number): Pen | null {
  const density = screenDensity();
  const [columns, rows] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const pen = canvas.getContext('2d');
  pen?.setTransform(density, 0, 0, density, 0, 0);
  pen?.clearRect(0, 0, width, height);
  return pen;
}

/** Colours by CSS custom property. */
export type Colours = (name: string) => string;

/** Pixels for values, within the 40 left of a large chart; longer texts are condensed. */
const VALUE_ROOM = 31;

export function drawAxes(pen: Pen, scale: Scale, frames: readonly FrameTick[], colour: Colours): void {
  const { width, height, range } = scale;
  pen.font = '12px ui-sans-serif, system-ui, sans-serif';
  pen.fillStyle = colour('--faint');
  pen.strokeStyle = colour('--grid');
  pen.lineWidth = 1;
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const value of ticks(...range, Math.max(2, height / 42))) {
    const at = Math.round(scale.y(value)) + 0.5;
    pen.beginPath();
    pen.moveTo(0, at);
    pen.lineTo(width, at);
    pen.stroke();
    pen.fillText(String(value), -8, at, VALUE_ROOM);
  }
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  for (const { frame, label } of frames) {
    const at = scale.x(frame);
    const half = pen.measureText(label).width / 2;
    pen.fillRect(Math.round(at), height, 1, 4);
    pen.fillText(label, Math.min(width + 4 - half, at), height + 8);
  }
}

/**
 * Strokes a line as adjacent hairlines, which look almost like one wide line. Without a graphics card it takes a sixth
 * of the time: a hairline has no outline to compute and fill.
 */
function strokeRoughly(pen: Pen, trace: (shift: number) => void): void {
  const { lineWidth } = pen;
  const pixel = 1 / screenDensity();
  const count = Math.max(1, Math.round(lineWidth / pixel));
  pen.lineWidth = pixel;
  for (let i = 0; i < count; i++) {
    trace(((i + 0.5) / count - 0.5) * lineWidth);
    pen.stroke();
  }
  pen.lineWidth = lineWidth;
}

/**
 * Draws a line, with a dot at every frame if there is room.
 * @param rough trades subpixel precision for speed
 * @returns the points drawn, see {@link thinned}
 */
export function drawLine(
  pen: Pen,
  scale: Scale,
  line: Line,
  dots: boolean,
  rough = false,
): ReturnType<typeof thinned> {
  // Two points per column: as many as the screen has pixels.
  const columns = Math.max(1, Math.round((scale.width * Math.min(2, devicePixelRatio || 1)) / 2));
  const drawn = thinned(line, scale.span, columns);
  const { x, y } = drawn;
  /** @param shift to the right and down */
  const trace = (shift: number) => {
    pen.beginPath();
    y.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      const at = scale.x(x[i] ?? 0) + shift;
      if (Number.isNaN(y[i - 1] ?? Number.NaN)) pen.moveTo(at, scale.y(value) + shift);
      else pen.lineTo(at, scale.y(value) + shift);
    });
  };
  pen.lineJoin = 'round';
  if (rough) strokeRoughly(pen, trace);
  else {
    trace(0);
    pen.stroke();
  }
  if (!dots || x.length >= scale.width / 7) return drawn;
  y.forEach((value, i) => {
    pen.beginPath();
    pen.arc(scale.x(x[i] ?? 0), scale.y(value), 2.4, 0, 7);
    if (!Number.isNaN(value)) pen.fill();
  });
  return drawn;
}

export function drawShots(pen: Pen, scale: Scale, shots: readonly number[], colour: string): void {
  pen.save();
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.setLineDash([1, 3]);
  for (const frame of shots) {
    // Between the frame and the one before it.
    const at = Math.round(scale.x(frame - 0.5)) + 0.5;
    if (at < 0 || at > scale.width) continue;
    pen.beginPath();
    pen.moveTo(at, 0);
    pen.lineTo(at, scale.height);
    pen.stroke();
  }
  pen.restore();
}

/** In pixels; a `y` of NaN is a gap. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/** Height of a label, its usual distance to its line, the margin around it, and its greatest distance. */
const [TALL, OFF, AIR, FAR] = [16, 10, 4, 48];

/**
 * Places the label of a horizontal line: on either side of it, as far right as nothing crosses the label; else
 * just beyond what would cross it, if that is near; else at the right.
 * @param drawn what may cross it, from left to right; neighbours are joined
 * @returns its right end and its vertical middle
 */
export function placeName(
  { width, height }: Pick<Scale, 'width' | 'height'>,
  at: number,
  wide: number,
  drawn: readonly Point[],
): Point {
  const places = drawn.map(({ x }) => x);
  /** Highest and lowest point of each piece beside a label that ends at `x`. Charts ask at every drawing. */
  const beside = (x: number) => {
    const pieces: (readonly [top: number, bottom: number])[] = [];
    for (let i = searchFrame(places, x - wide - AIR); i < drawn.length; i++) {
      const point = drawn[i] as Point;
      const before = drawn[i - 1] ?? point;
      if (before.x > x + AIR) break;
      const [top, bottom] = [Math.min(before.y, point.y), Math.max(before.y, point.y)];
      if (!Number.isNaN(top)) pieces.push([top, bottom]);
    }
    return pieces;
  };
  const fits = (y: number) => y >= TALL / 2 && y <= height - TALL / 2;
  // Above the line first.
  const middles = [at - OFF, at + OFF + 1].filter(fits);
  let beyond: Point | undefined;
  for (let x = width; x >= wide; x -= wide / 2) {
    const pieces = beside(x);
    const clear = (y: number) =>
      pieces.every(([top, bottom]) => top >= y + TALL / 2 + AIR || bottom <= y - TALL / 2 - AIR);
    const y = middles.find(clear);
    if (y !== undefined) return { x, y };
    if (beyond) continue;
    const above = Math.min(at, ...pieces.map(([top]) => top)) - AIR - TALL / 2;
    const below = Math.max(at, ...pieces.map(([, bottom]) => bottom)) + AIR + TALL / 2;
    const near = [above, below].find((middle) => fits(middle) && Math.abs(middle - at) <= FAR);
    if (near !== undefined) beyond = { x, y: near };
  }
  return beyond ?? { x: width, y: middles[0] ?? at };
}

/** A dashed line at a mean. `ground` is the colour behind its label, which may cover lines. */
export function drawMean(
  pen: Pen,
  scale: Scale,
  mean: number,
  colour: string,
  ground: string,
  label: string,
  drawn: readonly Point[],
): void {
  const [low, high] = scale.range;
  if (!(mean >= low && mean <= high)) return;
  const at = Math.round(scale.y(mean)) + 0.5;
  pen.save();
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1;
  pen.globalAlpha = 0.75;
  pen.setLineDash([5, 4]);
  pen.beginPath();
  pen.moveTo(0, at);
  pen.lineTo(scale.width, at);
  pen.stroke();
  if (label !== '') {
    pen.font = '12px ui-sans-serif, system-ui, sans-serif';
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    const wide = pen.measureText(label).width + 8;
    const { x, y } = placeName(scale, at, wide, drawn);
    pen.globalAlpha = 0.9;
    pen.fillStyle = ground;
    pen.fillRect(x - wide, y - TALL / 2, wide, TALL);
    pen.globalAlpha = 1;
    pen.fillStyle = colour;
    pen.fillText(label, x - 4, y);
  }
  pen.restore();
}

/** Half the width of a marker, and its distance from the point, in pixels. */
const [HALF, AWAY] = [5, 6];

/** A marker above a point of a line; below it if there is no room above. */
export function drawMoment(pen: Pen, x: number, y: number, edge: string): void {
  const up = y < 3 * AWAY ? -1 : 1;
  pen.beginPath();
  pen.moveTo(x, y - up * AWAY);
  pen.lineTo(x - HALF, y - up * (AWAY + 8));
  pen.lineTo(x + HALF, y - up * (AWAY + 8));
  pen.closePath();
  pen.save();
  pen.strokeStyle = edge;
  pen.lineWidth = 2;
  pen.stroke();
  pen.restore();
  pen.fill();
}
