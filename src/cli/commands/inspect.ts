/**
 * @module cli/commands/inspect
 * `anyvmaf inspect REFERENCE DISTORTED`: checks a pair before it is scored.
 */
import { command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { findingsInFlags } from '../flags.js';
import { grouped, type OptionSpec } from '../options.js';
import { interruptible } from '../signals.js';
import {
  checkPairingOptions,
  hostsOf,
  type OptionsDraft,
  PAIRING_OPTIONS,
  takeTableOption,
} from '../table-options.js';
import type { Terminal } from '../terminal.js';
import { VIDEO_OPTIONS, VideoArguments } from '../video-options.js';

const NAME = 'anyvmaf inspect';
const PREFLIGHT = 'Preflight';

/** Options without a meaning here: nothing is scored. */
const LEFT_OUT: readonly string[] = ['no-preflight', 'colour-as'];

const INSPECT_OPTIONS = [
  ...VIDEO_OPTIONS,
  ...PAIRING_OPTIONS.filter(({ name }) => !LEFT_OUT.includes(name)),
  ...grouped(PREFLIGHT, [
    {
      name: 'model',
      short: 'm',
      argument: 'SPEC',
      help: 'the model that is to be used, as for scoring. May be repeated',
    },
    { name: 'json', help: 'facts and findings as JSON' },
    { name: 'help', help: 'show this help', last: true },
  ]),
] as const satisfies readonly OptionSpec[];

const page: HelpText = {
  usage: [`${NAME} [options] REFERENCE DISTORTED`],
  about:
    'Compares what two videos declare and what their first seconds show, and says what would make their score wrong: ' +
    'size, rate, range, colour, borders, offset, swapped inputs, the model. Exits with 2 when they cannot be compared ' +
    'as they stand, or with --strict when there is a warning.',
};

/** Preflight without scoring. */
export const inspect = command(NAME, INSPECT_OPTIONS, page, async (parsed, terminal) => {
  const videos = new VideoArguments();
  const options: OptionsDraft = {};
  const models: string[] = [];
  let json = false;
  for (const use of parsed.options) {
    if (videos.take(use) || takeTableOption(use, options)) continue;
    if (use.name === 'model') models.push(use.value);
    else json = true;
  }
  checkPairingOptions(options);
  const { reference, distorted, raw } = videos.finish(parsed.positionals, 1, NAME);
  hostsOf(options, [reference, ...distorted]);
  const request = { reference, distorted: distorted[0], ...(raw && { raw }) };
  const { strict = false, ...pairing } = options;
  return report(request, { ...pairing, ...(models.length > 0 && { models }) }, { json, strict }, terminal);
});

async function report(
  request: Parameters<typeof import('../../index.js').inspect>[0],
  options: Parameters<typeof import('../../index.js').inspect>[1],
  { json, strict }: { readonly json: boolean; readonly strict: boolean },
  terminal: Terminal,
): Promise<number> {
  const [api, view] = await Promise.all([import('../../index.js'), import('../../report/inspection.js')]);
  return interruptible(async (stop) => {
    const inspection = await api.inspect(request, { ...options, signal: stop.signal });
    const found = { ...inspection, findings: findingsInFlags(inspection.findings) };
    const { columns: width, colour: color } = terminal;
    await terminal.print(
      json
        ? `${JSON.stringify(view.inspectionData(found), null, 2)}\n`
        : view.inspectionText(found, { width, color }),
    );
    const refused = found.findings.some(
      ({ severity }) => severity === 'error' || (strict && severity === 'warning'),
    );
    return refused ? EXIT.failed : EXIT.ok;
  });
}
