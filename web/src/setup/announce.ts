/**
 * @module web/setup/announce
 * Says things to those who do not see them.
 */
import { h } from '../dom.js';

let region: HTMLElement | undefined;

/** The live region, to be put into the page once. */
export function announcer(): HTMLElement {
  region ??= h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite', id: 'announcer' });
  return region;
}

/** Has a screen reader say a sentence when it is done with what it says. */
export function announce(sentence: string): void {
  announcer().textContent = sentence;
}
