/**
 * @module cli/terminal
 * The two output streams as commands see them: results on standard output, talk on standard error.
 */
import type { WriteStream } from 'node:tty';
import { AnyvmafError } from '../core/errors.js';
import { sentence } from '../core/printable.js';
import { ClosedPipe } from './exit.js';

/** What commands may do with the terminal. */
export interface Terminal {
  /** Standard output is a terminal: a person reads the result. */
  readonly interactive: boolean;
  /** Standard error is a terminal that can redraw a line. */
  readonly canDraw: boolean;
  /** Colour is welcome on standard output. */
  readonly colour: boolean;
  /** Colour is welcome on standard error. */
  readonly errorColour: boolean;
  /** Width of standard output in columns; 80 when it is not a terminal. */
  readonly columns: number;
  /** Width of standard error in columns; 80 when it is not a terminal. */
  readonly errorColumns: number;
  /**
   * Writes to standard output; resolves when the text has left this process.
   * @throws {ClosedPipe} when the reader has closed the pipe
   * @throws {AnyvmafError} `io` when writing fails otherwise
   */
  print(text: string): Promise<void>;
  /** Writes to standard error unchanged; a closed pipe is ignored. */
  draw(text: string): void;
  /** One printable line on standard error, after the program's name, whatever the sentence repeats. */
  complain(sentence: string): void;
  /** Resolves when both streams have been handed over. */
  flush(): Promise<void>;
}

/** The terminal of a process. */
export function openTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  // Failures are reported by the callbacks of write; without a listener they would end the process with a stack.
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
