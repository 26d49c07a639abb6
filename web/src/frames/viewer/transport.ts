/**
 * @module web/frames/viewer/transport
 * The foot of the viewer: the timeline, play and pause, steps, the number of the frame, and the worst moments; and what plays a
 * film.
 */
import { fill, h } from '../../dom.js';
import type { Cursor } from '../../session.js';
import { text } from '../../text.js';
import type { Commands } from '../keys.js';
import { Timeline } from '../timeline.js';
import type { Subject } from './subject.js';
import { tool } from './tool.js';

const words = text.frames;

/** Number of worst moments to mark. */
const MARKS = 10;
/** Speeds of a film. */
const SPEEDS = [0.1, 0.25, 0.5, 1, 2] as const;

export class Transport {
  readonly element: HTMLElement;
  readonly #timeline: Timeline;
  readonly #player: Player;
  readonly #number: HTMLInputElement;
  readonly #play = tool(words.playFilm, 'K', () => this.toggle());
  /** Frames from one to the next while playing. */
  #step: number | undefined;
  readonly #speed = h(
    'select',
    { 'aria-label': words.speed, title: words.speed },
    ...SPEEDS.map((speed) => h('option', { value: speed, selected: speed === 1 }, words.speedValue(speed))),
  );
  readonly #whole: HTMLButtonElement;
  #first = 0;
  #last = 0;

  /**
   * @param go shows a frame
   * @param played what there is to play
   * @param changed called when it begins or stops to play
   */
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
      onchange: () => go(Number(this.#number.value)),
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

  /**
   * While a film plays, the frames from the wanted one to the next: more than one where its pictures come slower than they
   * are due.
   */
  get step(): number | undefined {
    return this.#step;
  }

  toggle(): void {
    this.#player.toggle();
  }

  stop(): void {
    this.#player.stop();
  }

  /** How much faster than its own a film plays. */
  get speed(): number {
    return Number(this.#speed.value);
  }

  /** Shows another encode, more of its frames, or another span of them. */
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

  /** Moves to a frame. @param spoken what a screen reader says of it; absent: what it said before */
  show(frame: number, spoken = this.#timeline.spoken): void {
    this.#timeline.show(Math.min(frame, this.#last), spoken);
    this.#number.value = String(frame);
  }

  #tellPlaying(playing: boolean): void {
    const label = playing ? words.pauseFilm : words.playFilm;
    fill(this.#play, label);
    this.#play.title = `${label} (K)`;
    this.#step = playing ? 1 : undefined;
  }
}

/** What is played. */
export interface Played {
  /** Frames per second. */
  readonly rate: number;
  /** The frame that was asked for last. */
  readonly frame: number;
  /** Number of the last frame. */
  readonly last: number;
  /** Whether the frame that was asked for is on show. */
  readonly shown: boolean;
  /** The frame at or after this one that is there first. */
  upcoming(frame: number): number;
}

/** Frames that may be passed over at once, at most: beyond that, the film goes slower. */
const MOST = 8;

/**
 * Plays a video at its own speed. Frames that come too late are passed over, and while the wanted frame is not on show, the clock
 * waits: both sides stay in step. What was passed over is not gone back to: decoders only go on.
 */
export class Player {
  readonly #now: () => Played;
  readonly #go: (frame: number, step: number) => void;
  readonly #changed: (playing: boolean) => void;
  #request: number | undefined;
  /** Milliseconds at which the last frame was asked for. */
  #since = 0;
  /** Frames from the last one that was asked for to the one before. */
  #step = 1;

  /**
   * @param now what there is to play
   * @param go shows a frame; `step` is how far the next ones are apart
   * @param changed called when it begins or stops to play
   */
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
    // From the start again at the end.
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
      // As far apart as the pictures come: a machine that is too slow for all of them shows every second, third and so on.
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
