/**
 * @module report/view/curves
 * Curves of quality over rate, on a logarithmic axis: measured points, the hull over them, and places that were chosen.
 */
import { colourOf, joined, percentOf, type Templates } from './numbers.js';
import { fittedRange, fixed, logTicks, ticks } from './scales.js';

/** A place of the chart. */
export interface CurvePoint {
  /** Kilobits per second, above 0. */
  readonly kbps: number;
  readonly quality: number;
  /** What it is, as the pointer shows it. */
  readonly label: string;
}

/** Points that a line joins, by rate. */
export interface NamedCurve {
  readonly name: string;
  readonly points: readonly CurvePoint[];
}

/** What is drawn. */
export interface CurveSet {
  /** Name of the quality. */
  readonly quality: string;
  /** What qualities can be, where they end. */
  readonly limits?: readonly [low: number, high: number];
  /** In the order of their colours. */
  readonly curves: readonly NamedCurve[];
  /** Drawn beneath the curves, as a band. */
  readonly hull: readonly CurvePoint[];
  /** Rings with their labels beside them. */
  readonly chosen: readonly CurvePoint[];
  /** A quality that was wanted. */
  readonly target?: number;
}

/** A drawing to be put into an element with the class `plot`. */
export interface CurveChart<T> {
  readonly drawing: readonly T[];
  /** The curves' names with their colours. */
  readonly key: readonly T[];
}

/** Draws at least one point. */
export function curveChart<T>({ html, svg }: Templates<T>, set: CurveSet): CurveChart<T> {
  const { curves, hull, chosen, target } = set;
  const points = [...curves.flatMap((curve) => curve.points), ...chosen];
  const across = rateRange(points);
  const up = fittedRange(
    [...points.map(({ quality }) => quality), ...(target === undefined ? [] : [target])],
    set.limits,
  );
  const x = (kbps: number) => percentOf(Math.log(kbps), Math.log(across[0]), Math.log(across[1]));
  const y = (quality: number) => Number(fixed(100 - percentOf(quality, ...up)));
  const path = (line: readonly CurvePoint[]) =>
    line.map(({ kbps, quality }, i) => `${i === 0 ? 'M' : 'L'}${x(kbps)} ${y(quality)}`).join('');
  const place = ({ kbps, quality }: CurvePoint) => `left:${x(kbps)}%;top:${y(quality)}%`;
  const scale = across[1] >= 1e4 ? 1000 : 1;
  const gridY = ticks(...up, 6).map(
    (value) =>
      html`<i class="gy" .style=${`top:${y(value)}%`}></i><span class="y" .style=${`top:${y(value)}%`}>${numberText(value)}</span>`,
  );
  const gridX = logTicks(...across, 8).map(
    (value) =>
      html`<i class="gx" .style=${`left:${x(value)}%`}></i><span class="x" .style=${`left:${x(value)}%`}>${numberText(value / scale)}</span>`,
  );
  const lines = curves.map(
    (curve, i) =>
      svg`<path d="${path(curve.points)}" fill="none" stroke="var(--s${i % 8})" stroke-width="1.5" stroke-linejoin="round" vector-effect="non-scaling-stroke"></path>`,
  );
  const band = svg`<path d="${path(hull)}" fill="none" stroke="var(--line)" stroke-width="9" stroke-linecap="round" stroke-linejoin="round" vector-effect="non-scaling-stroke"></path>`;
  const wanted =
    target === undefined
      ? ''
      : svg`<path d="${`M0 ${y(target)}H100`}" fill="none" stroke="var(--faint)" stroke-width="1" stroke-dasharray="4 4" vector-effect="non-scaling-stroke"></path>`;
  const dots = curves.flatMap((curve, i) =>
    curve.points.map(
      (point) =>
        html`<i class="dot small" .style=${joined([colourOf(i), place(point)], ';')} title="${joined([curve.name, point.label], ', ')}"></i>`,
    ),
  );
  const rings = chosen.map(
    (point) =>
      html`<i class="ring" .style=${place(point)} title="${point.label}"></i><span class="tag${x(point.kbps) > 70 ? ' left' : ''}" .style=${place(point)}>${point.label}</span>`,
  );
  return {
    drawing: [
      ...gridY,
      ...gridX,
      html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${[hull.length > 1 ? band : '', wanted, ...lines]}</svg>`,
      ...dots,
      ...rings,
      html`<span class="axis">bit rate in ${scale === 1 ? 'kb/s' : 'Mb/s'}, each step as many times</span>`,
    ],
    key: curves.map(
      ({ name }, i) =>
        html`<span><span class="swatch" .style=${colourOf(i)}></span><span>${name}</span></span>`,
    ),
  };
}

/** All rates with some air, as many times on either side. */
function rateRange(points: readonly CurvePoint[]): readonly [number, number] {
  const rates = points.map(({ kbps }) => kbps);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const air = Math.max(1.05, (high / low) ** 0.05);
  return [low / air, high * air];
}

function numberText(value: number): string {
  return String(Number(value.toPrecision(6)));
}
