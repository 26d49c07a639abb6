/**
 * @module cli/parts-door
 * Asks the user before parts are fetched, and says which and how large they are.
 */
import { unlessAborted } from '../core/abort.js';
import { agreeToParts, type PartsDoor } from '../parts/consent.js';
import { partsFolder } from '../parts/store.js';
import { megabytes, type Part, type PinnedPackage, packedSize } from '../parts/table.js';
import type { Option } from './options.js';
import type { Terminal } from './terminal.js';

/** Agrees in advance. */
export const YES_OPTION: Option = {
  name: 'yes',
  ours: true,
  help: "fetch what is missing without asking; see 'anyvmaf setup'",
  read: () => {
    agreeToParts();
    return {};
  },
};

const ERASE_LINE = '\r\u001b[K';

/** @param mayAsk a user waits for this command */
export function partsDoor(terminal: Terminal, mayAsk: boolean): PartsDoor {
  const erase = () => {
    if (terminal.canDraw) terminal.draw(ERASE_LINE);
  };
  return {
    say(one) {
      erase();
      terminal.complain(`fetching ${packageText(one)} with npm`);
    },
    ...(mayAsk &&
      terminal.canDraw &&
      process.stdin.isTTY && {
        async ask(part, signal) {
          erase();
          terminal.complain(questionAbout(part));
          terminal.draw('Fetch it? [y/N] ');
          return /^\s*y(es)?\s*$/i.test(await answer(signal));
        },
      }),
  };
}

function questionAbout(part: Part): string {
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
