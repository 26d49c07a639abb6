/**
 * @module web/frames/byte-cache
 * An LRU cache limited in bytes.
 */

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

export class ByteCache<Key, Value> {
  readonly #budget: number;
  readonly #least: number;
  readonly #drop: (value: Value) => void;
  /** Least recently used first. */
  readonly #entries = new Map<Key, Entry<Value>>();
  #bytes = 0;

  /** @param budget in bytes @param least entries to keep regardless of size */
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

  /** Does not count as a use. */
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
    this.#evict(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#budget || this.#entries.size <= this.#least) break;
      this.#evict(oldest);
    }
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.#evict(key);
  }

  #evict(key: Key): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#drop(entry.value);
  }
}
