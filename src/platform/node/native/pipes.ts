/**
 * @module platform/node/native/pipes
 * Named pipes: made in a private folder, opened once the other side reads, written without ever blocking a thread.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { AnyvmafError } from '../../../core/errors.js';

/** Milliseconds between two attempts to open a pipe that nobody reads yet: short at first. */
const SHORT = 1;
const LONG = 20;

/**
 * Makes named pipes that nobody else may open.
 * @throws {AnyvmafError} `backend` when the system cannot
 */
export async function makePipes(paths: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
  } catch (cause) {
    throw new AnyvmafError(
      'backend',
      'Native backends are fed through named pipes, but mkfifo cannot be run here; install coreutils, or use the ' +
        'backend cpu.',
      { cause },
    );
  }
}

/** The writing end of a named pipe. */
export class PipeWriter {
  readonly #path: string;
  #socket: Socket | undefined;
  #closed = false;
  #waiting: ((written: boolean) => void) | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes; resolves once the bytes are in the pipe, `false` when the pipe is closed or its reader is gone. */
  async write(bytes: Uint8Array): Promise<boolean> {
    this.#socket ??= await this.#open();
    const socket = this.#socket;
    if (!socket || this.#closed) return false;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      socket.write(bytes, (error) => resolve(!error));
    });
  }

  /** Lets the reader see the end, after what was written. */
  async end(): Promise<void> {
    // A reader that opens it later must find the end, not wait for data.
    this.#socket ??= await this.#open();
    this.#socket?.end();
  }

  /** Gives up at once. */
  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
    this.#waiting?.(false);
  }

  /** Waits for a reader: until there is one, opening without blocking fails. */
  async #open(): Promise<Socket | undefined> {
    for (let pause = SHORT; !this.#closed; pause = Math.min(LONG, 2 * pause)) {
      const fd = this.#tryOpen();
      if (fd !== undefined) {
        const socket = new Socket({ fd, readable: false, writable: true });
        // The result of writing shows that the reader is gone.
        socket.on('error', () => this.close());
        return socket;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return undefined;
  }

  #tryOpen(): number | undefined {
    try {
      const fd = openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK);
      if (!this.#closed) return fd;
      closeSync(fd);
      return undefined;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENXIO') return undefined;
      // The folder is gone, and the reader with it.
      this.#closed = true;
      return undefined;
    }
  }
}
