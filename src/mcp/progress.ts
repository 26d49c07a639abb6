/**
 * @module mcp/progress
 * Turns progress reports into strictly increasing notifications: one for each percent, or every two seconds.
 */
import { counted } from '../core/printable.js';
import type { ToolProgress } from './context.js';

export interface ProgressNotice {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** Milliseconds between notifications while the total is unknown. */
const PACE = 500;
/** Milliseconds until any progress is worth a notification, however small. */
const LIFE = 2000;

export class CallProgress {
  readonly #send: (notice: ProgressNotice) => void;
  readonly #now: () => number;
  #sent = -1;
  #percent = -1;
  #at = Number.NEGATIVE_INFINITY;
  #message: string | undefined;
  #waits = 0;
  /** From the last report. */
  #done = -1;
  /** Set if progress is a fraction of 1: the name of the call. */
  readonly #whole: string | undefined;

  /**
   * @param whole name of a call whose progress is a fraction of 1; notifies about its start and its end
   * @param now monotonic milliseconds
   */
  constructor(send: (notice: ProgressNotice) => void, whole?: string, now = () => performance.now()) {
    this.#send = send;
    this.#now = now;
    this.#whole = whole;
    if (whole !== undefined) this.#tell(0, 1, `starting ${whole}`);
  }

  /** Notifies about the end of a call whose progress is a fraction of 1. */
  end(): void {
    if (this.#whole !== undefined) this.#tell(1, 1, `${this.#whole} done`);
  }

  /** Notifies if percentage or message changed, or after two seconds; with an unknown total, after half a second. */
  report({ done, total, fps, message }: ToolProgress): void {
    if (!Number.isFinite(done) || done <= Math.max(this.#done, this.#whole === undefined ? this.#sent : -1))
      return;
    const known = total !== null && Number.isFinite(total) && total > 0 ? Math.max(total, done) : undefined;
    const percent = known === undefined ? undefined : Math.floor((100 * done) / known);
    const now = this.#now();
    const due = now - this.#at >= (percent === undefined ? PACE : LIFE) || (percent ?? -1) > this.#percent;
    if (!due && message === this.#message) return;
    this.#done = done;
    this.#percent = percent ?? this.#percent;
    this.#at = now;
    this.#message = message;
    // The message names steps before scoring, which have no frame count.
    const plain = message === undefined ? [`${done} frames`] : [];
    const frames = known === undefined ? plain : [`${done}/${known} frames`];
    const speed = fps !== undefined && Number.isFinite(fps) && fps > 0 ? [`${fps.toFixed(1)} fps`] : [];
    const parts = [...(message === undefined ? [] : [message]), ...frames, ...speed];
    const text = `${percent === undefined ? '' : `${percent} %: `}${parts.join(', ')}`;
    if (this.#whole === undefined) this.#tell(done, known, text);
    else this.#tell(this.#part(done, known), 1, text);
  }

  /** Reports that the call waits, with values below 1, where frames start. */
  wait(label: string, ahead: number, running: number): void {
    const waited = this.#waits / (this.#waits + 1);
    const progress = this.#whole === undefined ? waited : this.#part(0);
    if (progress <= this.#sent) return;
    this.#waits++;
    const before = ahead === 0 ? 'next in line' : `${counted(ahead, 'call')} ahead`;
    const text = `${label} is queued: ${running} running, ${before}`;
    this.#tell(progress, this.#whole === undefined ? undefined : 1, text);
  }

  /** A fraction above the last one and below 1; grows ever more slowly if the total is unknown. */
  #part(done: number, total = done + 20): number {
    const part = (0.99 * done) / Math.max(1, total);
    return Math.max(part, this.#sent + (1 - this.#sent) / 1000);
  }

  #tell(progress: number, total: number | undefined, message: string): void {
    this.#sent = progress;
    this.#send({ progress, ...(total !== undefined && { total }), message });
  }
}
