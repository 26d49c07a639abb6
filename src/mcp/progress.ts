/**
 * @module mcp/progress
 * Turns a call's reports into progress notifications: one per percent, each higher than the one before it, with frames
 * and speed in words.
 */
import type { ToolProgress } from './context.js';

/** What goes to the client. */
export interface ProgressNotice {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** Milliseconds between notices while the number of frames is unknown. */
const PACE = 500;

/** The progress of one call. */
export class CallProgress {
  readonly #send: (notice: ProgressNotice) => void;
  readonly #now: () => number;
  #sent = -1;
  #percent = -1;
  #at = Number.NEGATIVE_INFINITY;
  #message: string | undefined;
  #waits = 0;

  /** @param now milliseconds that only rise */
  constructor(send: (notice: ProgressNotice) => void, now: () => number = () => performance.now()) {
    this.#send = send;
    this.#now = now;
  }

  /** A step of the work. Sends when a percent is full, when what is going on changed, or half a second is over. */
  report({ done, total, fps, message }: ToolProgress): void {
    if (!Number.isFinite(done) || done <= this.#sent) return;
    const known = total !== null && Number.isFinite(total) && total > 0 ? Math.max(total, done) : undefined;
    const percent = known === undefined ? undefined : Math.floor((100 * done) / known);
    const now = this.#now();
    const due = percent === undefined ? now - this.#at >= PACE : percent > this.#percent;
    if (!due && message === this.#message) return;
    this.#sent = done;
    this.#percent = percent ?? this.#percent;
    this.#at = now;
    this.#message = message;
    const frames = known === undefined ? `${done} frames` : `${done}/${known} frames`;
    const speed = fps !== undefined && Number.isFinite(fps) && fps > 0 ? [`${fps.toFixed(1)} fps`] : [];
    const parts = [...(message === undefined ? [] : [message]), frames, ...speed];
    this.#send({
      progress: done,
      ...(known !== undefined && { total: known }),
      message: `${percent === undefined ? '' : `${percent} %: `}${parts.join(', ')}`,
    });
  }

  /** The call waits for its turn. Frames count from 1, so everything said before them stays below. */
  wait(label: string, ahead: number, running: number): void {
    const progress = this.#waits / (this.#waits + 1);
    if (progress <= this.#sent) return;
    this.#waits++;
    this.#sent = progress;
    const before = ahead === 0 ? 'next in line' : `${ahead} ${ahead === 1 ? 'call' : 'calls'} before it`;
    this.#send({ progress, message: `${label} waits for its turn: ${running} running, ${before}` });
  }
}
