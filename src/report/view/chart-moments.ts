/**
 * @module report/view/chart-moments
 * What a large chart marks beside its lines: the mean, and the moments to look at.
 */
import type { Pen, Scale } from './chart-drawing.js';
import { searchFrame } from './frames.js';

/** A point in pixels; a `y` of NaN is a gap. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/** The height of a name, its distance from the line that it names, the air around it, and how far away it is still its name. */
const [TALL, OFF, AIR, FAR] = [16, 10, 4, 48];

/**
 * Where the name of a horizontal line stands: on either side of it, as far right as nothing crosses it; else just beyond what
 * would cross it, if that is near; else at the right.
 * @param wide width of the name
 * @param drawn what may cross it, from left to right: neighbours are joined
 * @returns its right end and its middle
 */
export function placeName(
  { width, height }: Pick<Scale, 'width' | 'height'>,
  at: number,
  wide: number,
  drawn: readonly Point[],
): Point {
  const places = drawn.map(({ x }) => x);
  /** What is drawn beside a name that ends at `x`: the highest and the lowest of each piece. Charts ask at every drawing. */
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
  // Above the line where there is room.
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

/**
 * A dashed line at a mean, named where it is the only one.
 * @param ground the colour below the name, which may lie on the lines
 * @param drawn as for {@link placeName}
 */
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

/** Half the width of a marker in pixels, and its distance from the point. */
const [HALF, AWAY] = [5, 6];

/** A marker above a point of a line; below it where there is no room above. */
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
