/**
 * @module web/frames/flicker
 * Switches between two pictures, by default at a safe rate.
 */

/** Switches per second. WCAG 2.3.1 allows three flashes, which are six switches. */
export const RATES = { least: 0.5, safe: 3, most: 12, default: 1.5 } as const;

/** Calls `onSwitch` periodically while running. */
export class Flicker {
  readonly #switch: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #rate: number = RATES.default;
  #fast = false;

  constructor(onSwitch: () => void) {
    this.#switch = onSwitch;
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  set running(running: boolean) {
    clearInterval(this.#timer);
    this.#timer = running ? setInterval(this.#switch, 1000 / this.rate) : undefined;
  }

  /** Switches per second: never more than {@link RATES.safe} unless {@link fast}. */
  get rate(): number {
    return Math.min(this.#rate, this.largest);
  }

  set rate(rate: number) {
    this.#rate = Math.max(RATES.least, rate);
    if (this.running) this.running = true;
  }

  /** True if unsafe rates are allowed. */
  get fast(): boolean {
    return this.#fast;
  }

  set fast(fast: boolean) {
    this.#fast = fast;
    if (this.running) this.running = true;
  }

  get largest(): number {
    return this.#fast ? RATES.most : RATES.safe;
  }
}
