/**
 * @module mcp/live/transports/connection
 * One client on a stream, which is dropped if it does not read.
 */
import type { Readable, Writable } from 'node:stream';
import { Framing } from '../framing.js';
import type { Hub } from '../hub.js';
import { CODE, failed, Session } from '../session.js';

export interface Listener {
  /** A URL or a path. */
  readonly address: string;
  close(): Promise<void>;
}

/** Most unread bytes of a client. */
export const BACKLOG = 1 << 20;
/** Milliseconds for a client to read the last answers. */
const FLUSH_TIME = 500;
const MOST_REQUESTS = 64;

export class Connection {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #session: Session;
  readonly #framing: Framing;
  readonly #ended: () => void;
  #open = 0;
  #closed = false;
  #ending = false;

  /**
   * @param headers true to accept `Content-Length` framing
   * @param ended called once, when the connection is over
   */
  constructor(hub: Hub, input: Readable, output: Writable, headers: boolean, ended: () => void) {
    this.#input = input;
    this.#output = output;
    this.#ended = ended;
    this.#session = new Session(hub, (text) => this.#send(text));
    this.#framing = new Framing(
      {
        message: (text) => void this.#answer(text),
        broken: (problem) => this.#send(JSON.stringify(failed(null, CODE.parse, problem))),
      },
      headers,
    );
    const close = () => this.close();
    input.on('data', (chunk: Buffer) => this.#framing.push(chunk));
    input.on('error', close);
    // A pipe or a file closes at its end, while answers may still be pending.
    input.on('close', () => (this.#ending ? this.#endWhenDone() : close()));
    output.on('error', close).on('close', close);
    // Pending answers are still sent.
    input.on('end', () => {
      this.#ending = true;
      this.#endWhenDone();
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#session.close();
    this.#input.destroy();
    this.#output.destroy();
    this.#ended();
  }

  /** Closes once everything is sent, or after a moment. */
  finish(): void {
    if (this.#closed) return;
    const late = setTimeout(() => this.close(), FLUSH_TIME);
    this.#output.end(() => {
      clearTimeout(late);
      this.close();
    });
  }

  async #answer(text: string): Promise<void> {
    this.#open++;
    if (this.#open >= MOST_REQUESTS) this.#input.pause();
    const reply = await this.#session.answer(text);
    this.#open--;
    if (this.#open < MOST_REQUESTS && !this.#closed) this.#input.resume();
    if (reply !== undefined) this.#send(reply);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#ending || this.#open > 0 || this.#closed) return;
    this.#output.end(() => this.close());
  }

  #send(json: string): void {
    if (this.#closed) return;
    this.#output.write(this.#framing.wrap(json));
    if (this.#output.writableLength > BACKLOG) this.close();
  }
}
