/**
 * @module mcp/lines
 * Messages in a stream of bytes of a client: one a line, of bounded length.
 */

const NEWLINE = 0x0a;

export interface LineSink {
  /** @param text without its end of line; never blank */
  line(text: string): void;
  /** Called at the end of a line over the limit. */
  tooLong(problem: string): void;
}

export class LineSplitter {
  readonly #limit: number;
  readonly #sink: LineSink;
  /** Of the current line; empty once it is too long. */
  #parts: Buffer[] = [];
  #length = 0;

  /** @param limit in bytes */
  constructor(limit: number, sink: LineSink) {
    this.#limit = limit;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end));
      this.#end();
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
  }

  #take(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limit) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #end(): void {
    const text = Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, '');
    if (this.#length > this.#limit) this.#sink.tooLong(`A message has more than ${this.#limit} bytes.`);
    else if (text.trim() !== '') this.#sink.line(text);
    this.#parts = [];
    this.#length = 0;
  }
}
