/**
 * @module report/view/rate-plot
 * What charts of quality over a logarithmic bit rate share: positions, lines, grid and axis.
 */
import { percentOf, type Templates } from './numbers.js';
import { fittedRange, fixed, logTicks, ticks } from './scales.js';

/** Size of a chart in pixels, for placing names and ticks. */
export interface Room {
  readonly width: number;
  readonly height: number;
}

interface Plotted {
  /** Bits per second; at least one. */
  readonly rates: readonly number[];
  readonly qualities: readonly number[];
  /** Range of the metric, if bounded. */
  readonly limits: readonly [low: number, high: number] | undefined;
}

export class RatePlot {
  readonly #room: Room;
  /** Natural logarithms of rates. */
  readonly #across: readonly [low: number, high: number];
  readonly #up: readonly [low: number, high: number];
  /** Bits per second in a unit of the axis. */
  readonly #bits: number;

  constructor({ rates, qualities, limits }: Plotted, room: Room) {
    const [low, high] = [Math.min(...rates), Math.max(...rates)].map(Math.log) as [number, number];
    const air = Math.max(0.06 * (high - low), 0.05);
    this.#room = room;
    this.#across = [low - air, high + air];
    this.#up = fittedRange(qualities, limits);
    this.#bits = Math.max(...rates) >= 1e7 ? 1e6 : 1e3;
  }

  /** In percent of the chart from its left. */
  x(rate: number): number {
    return percentOf(Math.log(rate), ...this.#across);
  }

  /** In percent of the chart from its top. */
  y(quality: number): number {
    return Number(fixed(100 - percentOf(quality, ...this.#up)));
  }

  /** SVG path through points. */
  path(points: readonly (readonly [rate: number, quality: number])[]): string {
    return points
      .map(([rate, quality], i) => `${i === 0 ? 'M' : 'L'}${this.x(rate)} ${this.y(quality)}`)
      .join('');
  }

  /** @param lines content of an SVG of 100 by 100; `over` lies above it */
  drawing<T>({ html }: Templates<T>, lines: readonly unknown[], over: readonly T[]): T[] {
    const gridY = ticks(...this.#up, Math.max(2, this.#room.height / 40)).map((value) => {
      const top = `top:${this.y(value)}%`;
      return html`<i class="gy" .style=${top}></i><span class="y" .style=${top}>${String(value)}</span>`;
    });
    const [from, to] = this.#across.map((end) => Math.exp(end) / this.#bits) as [number, number];
    const gridX = logTicks(from, to, Math.max(2, this.#room.width / 90)).map((value) => {
      const left = `left:${this.x(value * this.#bits)}%`;
      return html`<i class="gx" .style=${left}></i><span class="x" .style=${left}>${String(value)}</span>`;
    });
    return [
      ...gridY,
      ...gridX,
      html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${lines}</svg>`,
      ...over,
      html`<span class="axis">bit rate in ${this.#bits === 1e6 ? 'Mb/s' : 'kb/s'}, logarithmic</span>`,
    ];
  }
}
