/**
 * @module mcp/progress
 * Turns a call's progress reports into notifications: one per percent, or every two seconds of long work, strictly increasing, with frames and
 * speed as text.
 */
import type { ToolProgress } from './context.js';

/** A notification to the client. */
export interface ProgressNotice {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** Milliseconds between notices while the number of frames is unknown. */
const PACE = 500;
/** Milliseconds after which a client that waits hears of any frame that was done, however little of the whole it is. */
const LIFE = 2000;

/** The progress of one call. */
export class CallProgress {
  readonly #send: (notice: ProgressNotice) => void;
  readonly #now: () => number;
  #sent = -1;
  #percent = -1;
  #at = Number.NEGATIVE_INFINITY;
  #message: string | undefined;
  #waits = 0;

  /** @param now monotonic milliseconds */
  constructor(send: (notice: ProgressNotice) => void, now: () => number = () => performance.now()) {
    this.#send = send;
    this.#now = now;
  }

  /** Sends if the percentage or the message changed, or after two seconds; while the total is unknown, after half a second. */
  report({ done, total, fps, message }: ToolProgress): void {
    if (!Number.isFinite(done) || done <= this.#sent) return;
    const known = total !== null && Number.isFinite(total) && total > 0 ? Math.max(total, done) : undefined;
    const percent = known === undefined ? undefined : Math.floor((100 * done) / known);
    const now = this.#now();
    const due = now - this.#at >= (percent === undefined ? PACE : LIFE) || (percent ?? -1) > this.#percent;
    if (!due && message === this.#message) return;
    this.#sent = done;
    this.#percent = percent ?? this.#percent;
    this.#at = now;
    this.#message = message;
    // What counts steps before anything is measured says so in words.
    const plain = message === undefined ? [`${done} frames`] : [];
    const frames = known === undefined ? plain : [`${done}/${known} frames`];
    const speed = fps !== undefined && Number.isFinite(fps) && fps > 0 ? [`${fps.toFixed(1)} fps`] : [];
    const parts = [...(message === undefined ? [] : [message]), ...frames, ...speed];
    this.#send({
      progress: done,
      ...(known !== undefined && { total: known }),
      message: `${percent === undefined ? '' : `${percent} %: `}${parts.join(', ')}`,
    });
  }

  /** Reports that the call waits for its turn, with values below 1, where frames start. */
  wait(label: string, ahead: number, running: number): void {
    const progress = this.#waits / (this.#waits + 1);
    if (progress <= this.#sent) return;
    this.#waits++;
    this.#sent = progress;
    const before = ahead === 0 ? 'next in line' : `${ahead} ${ahead === 1 ? 'call' : 'calls'} before it`;
    this.#send({ progress, message: `${label} waits for its turn: ${running} running, ${before}` });
  }
}
