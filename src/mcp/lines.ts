/**
 * @module mcp/lines
 * Splits a stream of bytes into lines of bounded length; reports and skips longer ones.
 */

export interface LineSink {
  /** @param text without its end of line */
  line(text: string): void;
  /** Called at the end of a line over the limit, with its first and its last bytes. */
  tooLong(head: string, tail: string): void;
}

const NEWLINE = 0x0a;

/** Bytes of head and tail. */
const EDGE = 512;

/** Collects lines of at most `limit` bytes. */
export class LineSplitter {
  readonly #limit: number;
  readonly #sink: LineSink;
  #parts: Buffer[] = [];
  #length = 0;
  /** Ends of a line that is too long. */
  #edges: { readonly head: string; tail: Buffer } | undefined;

  constructor(limit: number, sink: LineSink) {
    this.#limit = limit;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end));
      if (!this.#edges) this.#sink.line(Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, ''));
      this.end();
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
  }

  /** Ends the current line and drops what was collected of it. */
  end(): void {
    if (this.#edges) this.#sink.tooLong(this.#edges.head, this.#edges.tail.toString('utf8').trimEnd());
    this.#edges = undefined;
    this.#parts = [];
    this.#length = 0;
  }

  #take(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#edges) this.#edges.tail = Buffer.concat([this.#edges.tail, part]).subarray(-EDGE);
    else this.#parts.push(part);
    if (this.#edges || this.#length <= this.#limit) return;
    const whole = Buffer.concat(this.#parts);
    // Copied, since views would retain the whole line.
    this.#edges = { head: whole.toString('utf8', 0, EDGE), tail: Buffer.from(whole.subarray(-EDGE)) };
    this.#parts = [];
  }
}
