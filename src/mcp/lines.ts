/**
 * @module mcp/lines
 * Splits a stream of bytes into lines of bounded length; a longer line is reported and skipped.
 */

/** Receives the lines. */
export interface LineSink {
  /** A line without its end. */
  line(text: string): void;
  /** A line exceeds the limit. Called once per line, before the line ends. */
  tooLong(): void;
}

const NEWLINE = 0x0a;

/** Collects lines of at most `limit` bytes. */
export class LineSplitter {
  readonly #limit: number;
  readonly #sink: LineSink;
  #parts: Buffer[] = [];
  #length = 0;
  #skipping = false;

  constructor(limit: number, sink: LineSink) {
    this.#limit = limit;
    this.#sink = sink;
  }

  /** The next bytes of the stream, cut anywhere. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end));
      if (!this.#skipping) this.#sink.line(Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, ''));
      this.#parts = [];
      this.#length = 0;
      this.#skipping = false;
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
  }

  #take(part: Buffer): void {
    if (this.#skipping || part.length === 0) return;
    this.#length += part.length;
    if (this.#length > this.#limit) {
      this.#parts = [];
      this.#skipping = true;
      this.#sink.tooLong();
    } else this.#parts.push(part);
  }
}
