/**
 * @module web/frames/viewer/message
 * What the viewer says in place of pictures that it cannot show.
 */
import { fill, h } from '../../dom.js';
import { EngineError } from '../../engine/calls.js';
import { text } from '../../text.js';
import type { PairSource } from '../serve.js';

const words = text.frames;

export class Message {
  readonly element = h('div', { class: 'frames-message', hidden: true });
  readonly #retry: () => void;

  /** @param retry asks for the pictures again */
  constructor(retry: () => void) {
    this.#retry = retry;
  }

  hide(): void {
    this.element.hidden = true;
  }

  /** Says why pictures of some files failed, and offers to try again. */
  fail(error: unknown, source: PairSource | undefined): void {
    const name = error instanceof Error ? error.name : '';
    const message = error instanceof Error ? error.message : String(error);
    const gone = source && (name.startsWith('Not') || (error instanceof EngineError && error.code === 'io'));
    const names = source ? `${source.reference.name} or ${source.distorted.name}` : '';
    this.say(gone ? words.gone(names) : message, true);
  }

  say(why: string, again = false): void {
    this.element.hidden = false;
    fill(
      this.element,
      h('div', { role: 'alert' }, again && h('strong', {}, words.failed), h('p', {}, why)),
      again && h('button', { type: 'button', class: 'tool', onclick: this.#retry }, words.retry),
    );
  }
}
