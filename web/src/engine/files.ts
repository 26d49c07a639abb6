/**
 * @module web/engine/files
 * Files keep their identity in the worker. Every message carries a copy of a File, and what was found out about a file is
 * remembered by its object; so the worker takes the first copy for all later ones.
 */

/** Levels of an argument in which files stand: `{ source: { reference } }`. */
const DEPTH = 2;
/** Files that the worker remembers. */
const REMEMBERED = 256;

/** A file in plain data. */
interface Place {
  readonly file: File;
  replace(file: File): void;
}

/** The files in an argument, always in the same order. */
function* placesOf(value: unknown, depth = DEPTH): Generator<Place> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  // Lists are of files, or, by the thousands, of what holds none.
  if (Array.isArray(value) && !(value[0] instanceof File)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (inner instanceof File) yield { file: inner, replace: (file) => Reflect.set(value, key, file) };
    else if (depth > 1) yield* placesOf(inner, depth - 1);
  }
}

/** The page's side: numbers files. */
export class FileNumbers {
  readonly #numbers = new WeakMap<File, number>();
  #next = 0;

  /** Numbers of the files in an argument. */
  of(argument: unknown): number[] {
    return [...placesOf(argument)].map(({ file }) => {
      const number = this.#numbers.get(file) ?? this.#next++;
      this.#numbers.set(file, number);
      return number;
    });
  }
}

/** The worker's side: files by number. */
export class KnownFiles {
  readonly #files = new Map<number, File>();

  /** Puts the known object of each file in the place of its copy. @param numbers from {@link FileNumbers.of} */
  restore(argument: unknown, numbers: readonly number[]): void {
    [...placesOf(argument)].forEach(({ file, replace }, i) => {
      const number = numbers[i];
      if (number === undefined) return;
      const known = this.#files.get(number) ?? file;
      this.#files.delete(number);
      this.#files.set(number, known);
      replace(known);
    });
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= REMEMBERED) break;
      this.#files.delete(oldest);
    }
  }
}
