/**
 * @module report/view/chart-drawing
 * Axes and lines of a chart over the frames, on a canvas.
 */
import type { Span } from './frames.js';
import { type FrameTick, ticks } from './scales.js';
import { type Line, thinned } from './thin.js';

export type Pen = CanvasRenderingContext2D;

/** Where frames and values lie, in CSS pixels from the left and from the top of the part that has the lines. */
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

  /** The position on the frame axis, kept within what is on show. */
  frameAt(x: number): number {
    const [from, to] = this.span;
    return from + Math.min(1, Math.max(0, x / this.width)) * (to - from);
  }
}

/** An empty canvas as sharp as the screen, in CSS pixels. */
export function penOf(canvas: HTMLCanvasElement, width: number, height: number): Pen | null {
  const density = Math.min(3, devicePixelRatio || 1);
  const [columns, rows] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const pen = canvas.getContext('2d');
  pen?.setTransform(density, 0, 0, density, 0, 0);
  pen?.clearRect(0, 0, width, height);
  return pen;
}

/** Colours by the names of the style sheet. */
export type Colours = (name: string) => string;

/** Pixels left of the lines for values, of the 40 that the large chart has there; longer ones are narrowed. */
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

/** A line, with a dot at every frame where there is room for them. Returns what it drew: {@link thinned}. */
export function drawLine(pen: Pen, scale: Scale, line: Line, dots: boolean): ReturnType<typeof thinned> {
  // Two points in a column: as many as the screen has pixels.
  const columns = Math.max(1, Math.round((scale.width * Math.min(2, devicePixelRatio || 1)) / 2));
  const drawn = thinned(line, scale.span, columns);
  const { x, y } = drawn;
  pen.lineJoin = 'round';
  pen.beginPath();
  y.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const at = scale.x(x[i] ?? 0);
    if (Number.isNaN(y[i - 1] ?? Number.NaN)) pen.moveTo(at, scale.y(value));
    else pen.lineTo(at, scale.y(value));
  });
  pen.stroke();
  if (!dots || x.length >= scale.width / 7) return drawn;
  y.forEach((value, i) => {
    pen.beginPath();
    pen.arc(scale.x(x[i] ?? 0), scale.y(value), 2.4, 0, 7);
    if (!Number.isNaN(value)) pen.fill();
  });
  return drawn;
}
