/**
 * @module web/setup/announce
 * Announces messages to screen readers.
 */
import { h } from '../dom.js';

let region: HTMLElement | undefined;

/** The live region; the page contains it once. */
export function announcer(): HTMLElement {
  region ??= h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite', id: 'announcer' });
  return region;
}

/** Makes screen readers say a sentence after the current one. */
export function announce(sentence: string): void {
  announcer().textContent = sentence;
}
