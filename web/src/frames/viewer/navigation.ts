/**
 * @module web/frames/viewer/navigation
 * Where the viewer can go: frames of the video or the selected span, worst moments, key frames, other encodes.
 */
import type { Coded } from '../../packets/client.js';
import type { Session } from '../../session.js';
import type { Commands } from '../keys.js';
import { besideMoment, rateOf, type Subject, sameMoment } from './subject.js';

export interface OnShow {
  readonly subject: Subject | undefined;
  readonly coded: Coded | undefined;
  readonly frame: number;
}

type Moves = 'leap' | 'goTo' | 'worst' | 'besideWorst' | 'key' | 'whole' | 'nextEncode';

export class Navigation implements Pick<Commands, Moves> {
  readonly #session: Session;
  readonly #now: () => OnShow;
  readonly #stays: () => void;

  /** @param stays called if the target is the frame on show */
  constructor(session: Session, now: () => OnShow, stays: () => void) {
    this.#session = session;
    this.#now = now;
    this.#stays = stays;
  }

  get ends(): readonly [number, number] {
    return this.#session.cursor.value?.span ?? [0, (this.#now().subject?.total ?? 1) - 1];
  }

  go(frame: number | undefined): void {
    const cursor = this.#session.cursor.value;
    if (!cursor || !this.#now().subject || frame === undefined || !Number.isFinite(frame)) return;
    const [first, last] = this.ends;
    const within = Math.max(first, Math.min(last, Math.round(frame)));
    if (within === cursor.frame) this.#stays();
    else this.#session.cursor.value = { ...cursor, frame: within };
  }

  leap(direction: 1 | -1): void {
    const { subject, frame } = this.#now();
    this.go(frame + direction * Math.max(1, Math.round(rateOf(subject))));
  }

  goTo(end: 'first' | 'last'): void {
    this.go(this.ends[end === 'first' ? 0 : 1]);
  }

  worst(): void {
    this.go(this.#moments[0]);
  }

  besideWorst(direction: 1 | -1): void {
    this.go(besideMoment(this.#moments, this.#now().frame, direction));
  }

  key(direction: 1 | -1): void {
    const { coded, frame } = this.#now();
    this.go(coded?.key(frame, direction));
  }

  whole(): void {
    const { cursor } = this.#session;
    if (!cursor.value?.span) return;
    const { span: _, ...rest } = cursor.value;
    cursor.value = rest;
  }

  choose(encode: number): void {
    const { cursor, results } = this.#session;
    const { value: now } = cursor;
    const [from, to] = [now && results.value[now.encode], results.value[encode]];
    if (!now || !from || !to) return;
    const same = (frame: number) => sameMoment(from, to, frame);
    const span = now.span && ([same(now.span[0]), same(now.span[1])] as const);
    cursor.value = { encode, frame: same(now.frame), ...(span && { span }) };
  }

  nextEncode(): void {
    const { cursor, results } = this.#session;
    const count = results.value.length;
    if (cursor.value && count > 1) this.choose((cursor.value.encode + 1) % count);
  }

  get #moments(): readonly number[] {
    const [first, last] = this.ends;
    const moments = this.#now().subject?.moments ?? [];
    return moments.filter((frame) => frame >= first && frame <= last);
  }
}
