/**
 * @module web/focus
 * Where the focus goes when what had it is no more: a list that is drawn again says which of its rows took over.
 */

const successors = new WeakMap<HTMLElement, HTMLElement>();

/** Remembers what stands for an element that was taken out of the page; nothing where there is nothing like it. */
export function replacedBy(gone: HTMLElement, successor: HTMLElement | undefined): void {
  if (successor && successor !== gone) successors.set(gone, successor);
}

/** The element itself while it is in the page, else what stands for it there. */
export function standIn(element: HTMLElement): HTMLElement | undefined {
  const passed = new Set<HTMLElement>();
  for (let at: HTMLElement | undefined = element; at && !passed.has(at); at = successors.get(at)) {
    if (at.isConnected) return at;
    passed.add(at);
  }
  return undefined;
}
