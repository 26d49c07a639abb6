/**
 * @module mcp/live/dashboard/chart
 * A canvas chart of each second's scores, in the style of reports, readable by pointer and keys.
 */
import {
  type Colours,
  drawAxes,
  drawLine,
  drawMoment,
  penOf,
  Scale,
} from '../../../report/view/chart-drawing.js';
import { scoreText, timeText } from '../../../report/view/numbers.js';
import { extentOf, frameTicks, nearestFrame, valueRange } from '../../../report/view/scales.js';
import type { Story } from '../story.js';
import { worstSeconds } from './board.js';

/** Padding in pixels. */
const [TOP, RIGHT, BOTTOM, LEFT] = [12, 8, 26, 40] as const;
/** Smallest range of scores that fills the chart. */
const LEAST = 2;
const [MEAN, LOWEST] = ['--s0', '--s1'] as const;

export class SecondsChart {
  readonly #canvas: HTMLCanvasElement;
  /** Shows the values of the selected second. */
  readonly #readout: HTMLElement;
  #story: Story | undefined;
  #scale = new Scale(1, 1, [0, 1], [0, 1]);
  #pointed: number | undefined;

  constructor(canvas: HTMLCanvasElement, readout: HTMLElement) {
    this.#canvas = canvas;
    this.#readout = readout;
    new ResizeObserver(() => this.#draw()).observe(canvas);
    canvas.addEventListener('pointermove', ({ clientX }) => {
      const x = clientX - canvas.getBoundingClientRect().left - LEFT;
      this.#point(nearestFrame([this.#seconds], this.#scale.frameAt(x)));
    });
    for (const name of ['pointerleave', 'blur'] as const)
      canvas.addEventListener(name, () => this.#point(undefined));
    canvas.addEventListener('keydown', (event) => this.#onKey(event));
  }

  show(story: Story): void {
    this.#story = story;
    this.#canvas.setAttribute('aria-label', summaryOf(story));
    this.#draw();
  }

  get #seconds(): readonly number[] {
    return this.#story?.seconds.map(({ second }) => second) ?? [];
  }

  #onKey(event: KeyboardEvent): void {
    const seconds = this.#seconds;
    const at = this.#pointed === undefined ? seconds.length : seconds.indexOf(this.#pointed);
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      Home: 0,
      End: seconds.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#point(seconds[Math.min(seconds.length - 1, Math.max(0, next))]);
  }

  #point(second: number | undefined): void {
    if (second === this.#pointed) return;
    this.#pointed = second;
    this.#draw();
  }

  #draw(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    const pen = clientWidth > 0 ? penOf(this.#canvas, clientWidth, clientHeight) : null;
    if (!pen || !this.#story) return;
    const { seconds } = this.#story;
    const [first, last] = [seconds[0]?.second ?? 0, seconds.at(-1)?.second ?? 1];
    const extent = extentOf([seconds.map(({ mean }) => mean), seconds.map(({ min }) => min)]);
    const [width, height] = [clientWidth - LEFT - RIGHT, clientHeight - TOP - BOTTOM];
    const span = [first, Math.max(first + 1, last)] as const;
    const scale = new Scale(width, height, span, valueRange(extent, LEAST, true));
    this.#scale = scale;
    const style = getComputedStyle(this.#canvas);
    const colour: Colours = (name) => style.getPropertyValue(name).trim();
    pen.translate(LEFT, TOP);
    if (extent) drawAxes(pen, scale, frameTicks(scale.span, Math.max(2, width / 90), 1, 0), colour);
    pen.lineWidth = 1.6;
    const frames = this.#seconds;
    for (const [name, values] of [
      [LOWEST, seconds.map(({ min }) => min)],
      [MEAN, seconds.map(({ mean }) => mean)],
    ] as const) {
      pen.strokeStyle = pen.fillStyle = colour(name);
      drawLine(pen, scale, { frames, values }, true);
    }
    pen.fillStyle = colour(LOWEST);
    for (const { second, min } of worstSeconds(this.#story))
      drawMoment(pen, scale.x(second), scale.y(min), colour('--card'));
    const pointed = seconds.find(({ second }) => second === this.#pointed);
    if (pointed) {
      pen.fillStyle = colour('--faint');
      pen.fillRect(Math.round(scale.x(pointed.second)), 0, 1, height);
    }
    this.#readout.textContent = pointed
      ? `${timeText(pointed.second - 1, 0)} to ${timeText(pointed.second, 0)}: mean ${scoreText(pointed.mean)}, lowest ${scoreText(pointed.min)}`
      : '';
  }
}

function summaryOf({ seconds }: Story): string {
  const last = seconds.at(-1);
  if (!last) return 'Score of each second: none yet';
  const { mean, min } = last;
  return `Score of each second: ${seconds.length} seconds, the last with mean ${scoreText(mean)} and lowest ${scoreText(min)}`;
}
