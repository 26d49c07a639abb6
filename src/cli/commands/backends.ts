/**
 * @module cli/commands/backends
 * `anyvmaf backends`: what can measure frames here, and what would run it.
 */
import type { BackendList } from '../../index.js';
import { wrap } from '../../report/terminal.js';
import { EXIT } from '../exit.js';
import { twoColumns } from '../help.js';
import { environmentCommand } from './environment.js';

/** Lists backends. */
export const backends = environmentCommand(
  'anyvmaf backends',
  'Lists what --backend can name, and what was installed for it. A backend that is here may still lack its driver: ' +
    "'anyvmaf doctor' tries each of them.",
  async (request) => {
    const { listBackends } = await import('../../index.js');
    const data = await listBackends(request);
    return { data, text: (width) => listing(data, width), code: EXIT.ok };
  },
);

function listing({ details, native }: BackendList, width: number): string {
  const rows = details.map(({ backend, runs, advice }): [string, string] => [
    backend,
    runs ?? `not here. ${advice ?? ''}`,
  ]);
  const problem = native.error === null ? '' : `\n${wrap(native.error, width).join('\n')}\n`;
  return `Backends, for --backend NAME:\n\n${twoColumns(rows, width)}\n${problem}`;
}
