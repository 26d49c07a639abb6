/**
 * @module web/focus
 * Keeps the focus when a focused element is replaced: a list that is drawn again names the successors of its rows.
 */

const successors = new WeakMap<HTMLElement, HTMLElement>();

/** Remembers the successor of an element that was removed from the page. */
export function replacedBy(gone: HTMLElement, successor: HTMLElement | undefined): void {
  if (successor && successor !== gone) successors.set(gone, successor);
}

/** The element itself if it is in the page, else its latest successor that is. */
export function standIn(element: HTMLElement): HTMLElement | undefined {
  const passed = new Set<HTMLElement>();
  for (let at: HTMLElement | undefined = element; at && !passed.has(at); at = successors.get(at)) {
    if (at.isConnected) return at;
    passed.add(at);
  }
  return undefined;
}
