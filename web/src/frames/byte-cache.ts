/**
 * @module web/frames/byte-cache
 * Remembers what was used last, up to a number of bytes.
 */

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** A map that drops what was not used for longest when it holds too much. */
export class ByteCache<Key, Value> {
  readonly #budget: number;
  readonly #least: number;
  readonly #drop: (value: Value) => void;
  /** In the order of use, the latest at the end. */
  readonly #entries = new Map<Key, Entry<Value>>();
  #bytes = 0;

  /**
   * @param budget bytes
   * @param least entries that are kept however large they are
   * @param drop frees what an entry holds
   */
  constructor(budget: number, least: number, drop: (value: Value) => void = () => {}) {
    this.#budget = budget;
    this.#least = least;
    this.#drop = drop;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether it is there, which is not a use. */
  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: Key, value: Value, bytes: number): void {
    this.#forget(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#budget || this.#entries.size <= this.#least) break;
      this.#forget(oldest);
    }
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.#forget(key);
  }

  #forget(key: Key): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#drop(entry.value);
  }
}
