/**
 * @module web/frames/viewer/transport
 * The viewer's foot: timeline, playback, steps, frame number and worst moments.
 */
import { fill, h } from '../../dom.js';
import type { Cursor } from '../../session.js';
import { text } from '../../text.js';
import type { Commands } from '../keys.js';
import { Timeline } from '../timeline.js';
import type { Subject } from './subject.js';
import { tool } from './tool.js';

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
  readonly #speed = h(
    'select',
    { 'aria-label': words.speed, title: words.speed },
    ...SPEEDS.map((speed) => h('option', { value: speed, selected: speed === 1 }, words.speedValue(speed))),
  );
  readonly #whole: HTMLButtonElement;
  /** True while a number is typed, which pictures that arrive must not replace. */
  #typing = false;
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
    this.#number = h('input', {
      type: 'number',
      class: 'frames-number',
      min: 0,
      step: 1,
      'aria-label': words.number,
      oninput: () => {
        this.#typing = true;
      },
      onblur: () => {
        this.#typing = false;
      },
      onchange: () => {
        this.#typing = false;
        go(Number(this.#number.value));
      },
    });
    this.element = h(
      'footer',
      { class: 'frames-foot' },
      this.#timeline.element,
      h(
        'div',
        { class: 'frames-steps' },
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
      ),
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
