/**
 * @module report/view/chart-moments
 * What a large chart marks beside its lines: the mean, and the moments to look at.
 */
import type { Pen, Scale } from './chart-drawing.js';

/**
 * A dashed line at a mean, named where it is the only one.
 * @param ground the colour below the name, which may lie on the lines
 */
export function drawMean(
  pen: Pen,
  scale: Scale,
  mean: number,
  colour: string,
  ground: string,
  label: string,
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
    // Above the line where there is room.
    const middle = at >= 18 ? at - 10 : at + 11;
    const wide = pen.measureText(label).width + 8;
    pen.globalAlpha = 0.9;
    pen.fillStyle = ground;
    pen.fillRect(scale.width - wide, middle - 8, wide, 16);
    pen.globalAlpha = 1;
    pen.fillStyle = colour;
    pen.fillText(label, scale.width - 4, middle);
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
