/**
 * @module web/frames/viewer/transport
 * The viewer's foot: a slider over a drawing of the clip's scores, playback, steps, frame number and worst moments.
 */

import type { FrameMetrics, Ranking } from 'anyvmaf';
import { fill, h } from '../../dom.js';
import type { Cursor } from '../../session.js';
import { html, made } from '../../templates.js';
import { text } from '../../text.js';
import { type Commands, tool } from '../keys.js';
import type { Subject } from './subject.js';

const words = text.frames;

const MARKS = 10;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2] as const;

export class Transport {
  readonly element: HTMLElement;
  readonly #timeline: Timeline;
  readonly #player: Player;
  readonly #number: HTMLInputElement;
  readonly #play = tool(words.playFilm, 'K', () => this.toggle());
  #step: number | undefined;
  readonly #speed = made<HTMLSelectElement>(
    html`<select aria-label=${words.speed} title=${words.speed}>${SPEEDS.map((speed) => html`<option value=${speed} ?selected=${speed === 1}>${words.speedValue(speed)}</option>`)}</select>`,
  );
  readonly #whole: HTMLButtonElement;
  /** True while the user types a number, which arriving pictures must not replace. */
  #typing = false;
  #frame = 0;
  #first = 0;
  #last = 0;

  /** @param changed called when playback starts or stops */
  constructor(
    go: (frame: number) => void,
    played: () => Played,
    changed: (playing: boolean) => void,
    { step, worst, besideWorst, key, whole }: Commands,
  ) {
    this.#whole = tool(words.whole, 'A', whole, words.wholeTitle);
    this.#timeline = new Timeline(go);
    this.#player = new Player(
      played,
      (frame, apart) => {
        this.#step = apart;
        go(frame);
      },
      (playing) => {
        this.#tellPlaying(playing);
        changed(playing);
      },
    );
    const onNumber = ({ type }: Event) => {
      this.#typing = type === 'focus' || type === 'input';
      // Closing the dialog commits the typed number, which must not open it again.
      const { value } = this.#number;
      if (type === 'change' && value !== '' && this.#number.closest('dialog')?.open) go(Number(value));
      if (type === 'blur') this.#number.value = String(this.#frame);
    };
    this.#number = made(
      html`<input type="number" class="frames-number" min="0" step="1" aria-label=${words.number} @focus=${onNumber} @input=${onNumber} @blur=${onNumber} @change=${onNumber}>`,
    );
    const steps = [
      this.#play,
      tool('‹', 'ArrowLeft', () => step(-1), words.previous),
      this.#number,
      tool('›', 'ArrowRight', () => step(1), words.next),
      tool(words.worst, 'W', worst, words.worstTitle),
      tool(words.nextWorst, 'N', () => besideWorst(1)),
      tool(words.previousKey, 'I', () => key(-1), words.previousKeyTitle),
      tool(words.nextKey, 'O', () => key(1), words.nextKeyTitle),
      this.#speed,
      this.#whole,
    ];
    this.element = made(
      html`<footer class="frames-foot">${this.#timeline.element}<div class="frames-steps">${steps}</div></footer>`,
    );
  }

  /** Distance between frames during playback, above 1 if pictures load too slowly; absent otherwise. */
  get step(): number | undefined {
    return this.#step;
  }

  toggle(): void {
    this.#player.toggle();
  }

  stop(): void {
    this.#player.stop();
  }

  get speed(): number {
    return Number(this.#speed.value);
  }

  list({ result, metric, worse, total, moments }: Subject, span: Cursor['span']): void {
    [this.#first, this.#last] = span ?? [0, total - 1];
    this.#timeline.data = {
      frames: result.frames,
      metric,
      worse,
      first: this.#first,
      total: this.#last - this.#first + 1,
      marks: moments.slice(0, MARKS),
    };
    this.#number.min = String(this.#first);
    this.#number.max = String(this.#last);
    this.#whole.hidden = span === undefined;
  }

  /** @param spoken for screen readers; default: the previous text */
  show(frame: number, spoken = this.#timeline.spoken): void {
    this.#timeline.show(Math.min(frame, this.#last), spoken);
    this.#frame = frame;
    if (!this.#typing) this.#number.value = String(frame);
  }

  #tellPlaying(playing: boolean): void {
    const label = playing ? words.pauseFilm : words.playFilm;
    fill(this.#play, label);
    this.#play.title = `${label} (K)`;
    this.#step = playing ? 1 : undefined;
  }
}

export interface Played {
  /** Frames per second. */
  readonly rate: number;
  readonly frame: number;
  readonly last: number;
  /** Whether {@link frame} is on show. */
  readonly shown: boolean;
  /** The first frame from this one on that is cached or loading. */
  upcoming(frame: number): number;
}

/** Most frames to skip at once; beyond that, playback slows down. */
const MOST = 8;

/**
 * Plays a video at its own speed. Late frames are skipped, and the clock waits while the wanted frame is not
 * on show, so both sides stay in step. Never goes back: decoders go forward only.
 */
export class Player {
  readonly #now: () => Played;
  readonly #go: (frame: number, step: number) => void;
  readonly #changed: (playing: boolean) => void;
  #request: number | undefined;
  /** When the last frame was requested, in milliseconds. */
  #since = 0;
  /** Distance between the last two requested frames. */
  #step = 1;

  /** @param go `step` is the distance to the next frames @param changed called when playback starts or stops */
  constructor(
    now: () => Played,
    go: (frame: number, step: number) => void,
    changed: (playing: boolean) => void,
  ) {
    this.#now = now;
    this.#go = go;
    this.#changed = changed;
  }

  get playing(): boolean {
    return this.#request !== undefined;
  }

  toggle(): void {
    if (this.playing) this.stop();
    else this.play();
  }

  play(): void {
    if (this.playing) return;
    const { frame, last } = this.#now();
    this.#since = performance.now();
    this.#step = 1;
    // Replay from the start.
    if (frame >= last) this.#go(0, 1);
    this.#request = requestAnimationFrame((time) => this.#tick(time));
    this.#changed(true);
  }

  stop(): void {
    if (this.#request === undefined) return;
    cancelAnimationFrame(this.#request);
    this.#request = undefined;
    this.#changed(false);
  }

  #tick(time: number): void {
    const { rate, frame, last, shown, upcoming } = this.#now();
    const due = Math.floor(((time - this.#since) * rate) / 1000);
    if (shown && due > 0) {
      // A machine too slow for all frames shows every second, third and so on.
      this.#step = Math.min(MOST, due);
      const next = Math.min(last, upcoming(Math.min(last, frame + this.#step)));
      this.#since = due > MOST ? time : this.#since + ((next - frame) * 1000) / rate;
      this.#go(next, this.#step);
      if (next >= last) {
        this.stop();
        return;
      }
    }
    this.#request = requestAnimationFrame((later) => this.#tick(later));
  }
}

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
