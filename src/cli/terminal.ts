/**
 * @module cli/terminal
 * The output streams of commands: results on standard output, messages on standard error.
 */
import type { WriteStream } from 'node:tty';
import { AnyvmafError } from '../core/errors.js';
import { sentence } from '../core/printable.js';
import { ClosedPipe } from './exit.js';

export interface Terminal {
  /** Standard output is a terminal. */
  readonly interactive: boolean;
  /** Standard error is a terminal that can redraw a line. */
  readonly canDraw: boolean;
  /** Standard output takes colour. */
  readonly colour: boolean;
  /** Standard error takes colour. */
  readonly errorColour: boolean;
  /** Columns of standard output; 80 if it is not a terminal. */
  readonly columns: number;
  /** Columns of standard error; 80 if it is not a terminal. */
  readonly errorColumns: number;
  /**
   * Writes to standard output; resolves once the text has left this process.
   * @throws {ClosedPipe} if the reader closed the pipe
   * @throws {AnyvmafError} `io` if writing fails otherwise
   */
  print(text: string): Promise<void>;
  /** Writes to standard error unchanged; a closed pipe is ignored. */
  draw(text: string): void;
  /** Prints one line on standard error, after the program's name; control characters are escaped. */
  complain(sentence: string): void;
  /** Resolves once both streams are flushed. */
  flush(): Promise<void>;
}

export function openTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  // Callbacks of write report failures; without a listener they would end the process with a stack.
  stdout.on('error', () => {});
  stderr.on('error', () => {});
  const drawable = env.TERM !== 'dumb';
  const coloured = drawable && !env.NO_COLOR;
  return {
    interactive: stdout.isTTY === true,
    canDraw: stderr.isTTY === true && drawable,
    colour: stdout.isTTY === true && coloured,
    errorColour: stderr.isTTY === true && coloured,
    get columns() {
      return stdout.columns || 80;
    },
    get errorColumns() {
      return stderr.columns || 80;
    },
    print: (text) => write(stdout, text),
    draw: (text) => {
      stderr.write(text, () => {});
    },
    complain: (words) => {
      stderr.write(`anyvmaf: ${sentence(words)}\n`, () => {});
    },
    flush: async () => {
      await Promise.allSettled([write(stdout, ''), write(stderr, '')]);
    },
  };
}

function write(stream: WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (!error) return resolve();
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return reject(new ClosedPipe());
      reject(new AnyvmafError('io', `cannot write to standard output: ${error.message}`, { cause: error }));
    });
  });
}
