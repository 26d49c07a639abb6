/**
 * @module report/view/cell
 * Values that views watch.
 */

/** A value that tells its watchers when it changes. */
export class Cell<T> {
  #value: T;
  readonly #watchers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set value(value: T) {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher(value);
  }

  /** Calls back now and after every change, until the returned function is called. */
  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    watcher(this.#value);
    return () => this.#watchers.delete(watcher);
  }
}
