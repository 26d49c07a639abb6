/**
 * @module web/frames/timeline
 * A slider over a drawing of the clip's scores.
 */
import type { FrameMetrics, Ranking } from 'anyvmaf';
import { h } from '../dom.js';
import { text } from '../text.js';

export interface TimelineData {
  readonly frames: readonly FrameMetrics[];
  readonly metric: string;
  readonly worse: Ranking['worse'];
  readonly first: number;
  readonly total: number;
  readonly marks: readonly number[];
}

export class Timeline {
  readonly element: HTMLDivElement;
  readonly #canvas = h('canvas', { class: 'frames-curve', 'aria-hidden': 'true' });
  readonly #range: HTMLInputElement;
  readonly #cursor = h('div', { class: 'frames-cursor', 'aria-hidden': 'true' });
  #data: TimelineData = { frames: [], metric: '', worse: 'low', first: 0, total: 1, marks: [] };
  #waiting = false;
  #spoken = '';

  constructor(onFrame: (frame: number) => void) {
    this.#range = h('input', {
      type: 'range',
      min: 0,
      step: 1,
      'aria-label': text.frames.position,
      oninput: () => onFrame(Number(this.#range.value)),
    });
    this.element = h('div', { class: 'frames-timeline' }, this.#canvas, this.#cursor, this.#range);
    new ResizeObserver(() => this.#redraw()).observe(this.element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw());
  }

  set data(data: TimelineData) {
    this.#data = data;
    this.#range.min = String(data.first);
    this.#range.max = String(data.first + Math.max(0, data.total - 1));
    this.#redraw();
  }

  get spoken(): string {
    return this.#spoken;
  }

  /** @param spoken text for screen readers */
  show(frame: number, spoken: string): void {
    this.#spoken = spoken;
    if (this.#range.value !== String(frame)) this.#range.value = String(frame);
    this.#range.setAttribute('aria-valuetext', spoken);
    this.#cursor.style.left = `${(100 * (frame - this.#data.first + 0.5)) / this.#data.total}%`;
  }

  #redraw(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#draw();
    });
  }

  #draw(): void {
    const ratio = devicePixelRatio;
    const { clientWidth, clientHeight } = this.element;
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    const context = this.#canvas.getContext('2d');
    if (!context || width === 0 || height === 0) return;
    this.#canvas.width = width;
    this.#canvas.height = height;
    const style = getComputedStyle(this.element);
    const { first, total, marks } = this.#data;
    const columns = worst(this.#data, width);
    const seen = columns.filter((score) => !Number.isNaN(score));
    const floor = Math.min(...seen, 100);
    const ceiling = Math.max(...seen, floor + 1);
    const room = height - 4 * ratio;
    const top = (score: number) => 2 * ratio + room * 0.9 * (1 - (score - floor) / (ceiling - floor));
    context.fillStyle = style.getPropertyValue('--curve');
    columns.forEach((score, x) => {
      if (!Number.isNaN(score)) context.fillRect(x, top(score), 1, height - top(score));
    });
    context.fillStyle = style.getPropertyValue('--mark');
    for (const frame of marks)
      context.fillRect(
        Math.round(((frame - first + 0.5) / total) * width - ratio),
        height - 5 * ratio,
        2 * ratio,
        5 * ratio,
      );
  }
}

/** Per pixel column the worst score, so that bad frames stay visible; NaN without scores. */
function worst({ frames, metric, worse, first, total }: TimelineData, width: number): Float64Array {
  const worseOf = worse === 'low' ? Math.min : Math.max;
  const columns = new Float64Array(width).fill(Number.NaN);
  const column = (frame: number) => Math.floor(((frame - first) / total) * width);
  frames.forEach(({ frameNum, metrics }, i) => {
    const score = metrics[metric];
    if (score === undefined) return;
    const from = column(frameNum);
    const until = Math.max(from + 1, column(frames[i + 1]?.frameNum ?? frameNum + 1));
    for (let x = Math.max(0, from); x < Math.min(until, width); x++) {
      const before = columns[x] ?? Number.NaN;
      columns[x] = Number.isNaN(before) ? score : worseOf(before, score);
    }
  });
  return columns;
}
