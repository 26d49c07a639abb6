/**
 * @module cli/terminal
 * The user's terminal: results on standard output, messages on standard error, and the question before parts are fetched.
 */
import type { WriteStream } from 'node:tty';
import { unlessAborted } from '../core/abort.js';
import { codeOf, ioError } from '../core/errors.js';
import { sentence } from '../core/printable.js';
import { agreeToParts, megabytes, type PartsDoor } from '../parts/consent.js';
import type { Part, PinnedPackage } from '../parts/table.js';
import { ClosedPipe } from './exit.js';
import { optionRows } from './options.js';

export interface Terminal {
  /** Standard output is a terminal. */
  readonly interactive: boolean;
  /** Standard error is a terminal that can redraw a line. */
  readonly canDraw: boolean;
  /** Of standard output, as `columns`. */
  readonly colour: boolean;
  readonly errorColour: boolean;
  /** 80 if it is not a terminal. */
  readonly columns: number;
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
  flush(): Promise<void>;
}

export function openTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  // The callbacks of write report failures; without a listener, an error would end the process.
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
      const code = codeOf(error);
      if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return reject(new ClosedPipe());
      reject(ioError(`cannot write to standard output: ${error.message}`, { cause: error }));
    });
  });
}

export const YES_OPTION = optionRows({
  '--yes': [
    "fetch what is missing without asking; see 'anyvmaf setup'",
    () => {
      agreeToParts();
      return {};
    },
    { ours: true },
  ],
});

export const ERASE_LINE = '\r\u001b[K';

/** @param mayAsk a user waits for this command */
export function partsDoor(terminal: Terminal, mayAsk: boolean): PartsDoor {
  const erase = () => {
    if (terminal.canDraw) terminal.draw(ERASE_LINE);
  };
  return {
    say(part) {
      erase();
      terminal.complain(`fetching ${packageText(part)} with npm`);
    },
    ...(mayAsk &&
      terminal.canDraw &&
      process.stdin.isTTY && {
        async ask(part, signal) {
          erase();
          terminal.complain(await questionAbout(part));
          terminal.draw('Fetch it? [y/N] ');
          return /^\s*y(es)?\s*$/i.test(await answer(signal));
        },
      }),
  };
}

async function questionAbout(part: Part): Promise<string> {
  const { packedSize, partsFolder } = await import('../parts/table.js');
  const { packages, size } = part;
  const fetched = packages.map(packageText).join(' and ');
  return (
    `this needs what ${part.use}: ${fetched}. npm would fetch ${megabytes(packedSize(part))}, of which ` +
    `${megabytes(size)} stay in ${partsFolder()}`
  );
}

/** `@ffmpeg/core 0.12.10 (GPL-2.0-or-later, 20.5 MB)`. */
function packageText({ name, version, licence, packed }: PinnedPackage): string {
  return `${name} ${version} (${licence}, ${megabytes(packed)})`;
}

/** Reads a line from the terminal; empty at its end. Ctrl-C stays a signal. */
async function answer(signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, terminal: false });
  const line = new Promise<string>((resolve) => {
    lines.once('line', resolve).once('close', () => resolve(''));
  });
  try {
    return await unlessAborted(signal, line);
  } finally {
    lines.close();
    // Else standard input would keep the process alive.
    process.stdin.pause();
    process.stdin.unref();
  }
}
