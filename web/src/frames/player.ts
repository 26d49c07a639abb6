/**
 * @module web/frames/player
 * Plays a video at its own speed. Frames that come too late are passed over, and while the wanted frame is not on show, the clock
 * waits: both sides stay in step. What was passed over is not gone back to: decoders only go on.
 */

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
