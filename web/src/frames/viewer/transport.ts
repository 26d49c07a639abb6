/**
 * @module web/frames/viewer/transport
 * The foot of the viewer: the timeline, play and pause, steps, the number of the frame, and the worst moments.
 */
import { fill, h } from '../../dom.js';
import { text } from '../../text.js';
import type { Commands } from '../keys.js';
import { type Played, Player } from '../player.js';
import { Timeline } from '../timeline.js';
import type { Subject } from './subject.js';
import { tool } from './tool.js';

const words = text.frames;

/** Number of worst moments to mark. */
const MARKS = 10;

export class Transport {
  readonly element: HTMLElement;
  readonly #timeline: Timeline;
  readonly #player: Player;
  readonly #number: HTMLInputElement;
  readonly #play = tool(words.playFilm, 'K', () => this.toggle());
  /** Frames from one to the next while playing. */
  #step: number | undefined;
  #total = 1;

  /**
   * @param go shows a frame
   * @param played what there is to play
   * @param changed called when it begins or stops to play
   */
  constructor(
    go: (frame: number) => void,
    played: () => Played,
    changed: (playing: boolean) => void,
    { step, worst, besideWorst }: Pick<Commands, 'step' | 'worst' | 'besideWorst'>,
  ) {
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

  /** Another encode, or more of its frames. */
  set subject({ result, metric, worse, total, moments }: Subject) {
    this.#total = total;
    this.#timeline.data = { frames: result.frames, metric, worse, total, marks: moments.slice(0, MARKS) };
    this.#number.max = String(total - 1);
  }

  /** Moves to a frame. @param spoken what a screen reader says of it; absent: what it said before */
  show(frame: number, spoken = this.#timeline.spoken): void {
    this.#timeline.show(Math.min(frame, this.#total - 1), spoken);
    this.#number.value = String(frame);
  }

  #tellPlaying(playing: boolean): void {
    const label = playing ? words.pauseFilm : words.playFilm;
    fill(this.#play, label);
    this.#play.title = `${label} (K)`;
    this.#step = playing ? 1 : undefined;
  }
}
