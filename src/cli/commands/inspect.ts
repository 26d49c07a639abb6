/**
 * @module cli/commands/inspect
 * `anyvmaf inspect REFERENCE DISTORTED`: checks a pair for problems before it is scored.
 */
import { asJson, command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { findingsInFlags } from '../flags.js';
import { grouped, HELP_OPTION, type Option } from '../options.js';
import { interruptible } from '../signals.js';
import { checkPairingOptions, hostsOf, PAIRING_OPTIONS, type TableSettings } from '../table-options.js';
import { pairOf, VIDEO_OPTIONS, type VideoSettings } from '../video-options.js';

const NAME = 'anyvmaf inspect';
const PREFLIGHT = 'Preflight';

/** Options without meaning here: nothing is scored. */
const LEFT_OUT: readonly string[] = ['no-preflight', 'colour-as'];

interface InspectSettings extends VideoSettings, TableSettings {
  readonly models: readonly string[];
  readonly json: boolean;
}

const INSPECT_OPTIONS: readonly Option<InspectSettings>[] = [
  ...VIDEO_OPTIONS,
  ...PAIRING_OPTIONS.filter(({ name }) => !LEFT_OUT.includes(name)),
  ...grouped<InspectSettings>(PREFLIGHT, [
    {
      name: 'model',
      short: 'm',
      argument: 'SPEC',
      help: 'the model to score with later. May be repeated',
      read: ({ value }, { models = [] }) => ({ models: [...models, value] }),
    },
    { name: 'json', help: 'facts and findings as JSON', read: () => ({ json: true }) },
    HELP_OPTION,
  ]),
];

const page: HelpText = {
  usage: [`${NAME} [options] REFERENCE DISTORTED`],
  about:
    'Checks a pair for problems, by what both videos declare and what their first seconds show: size, rate, ' +
    'range, colour, borders, offset, swapped inputs, the model. Exits with 2 if they cannot be compared as ' +
    'they are, or with --strict if there is a warning.',
};

export const inspect = command(NAME, INSPECT_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const { options = {}, models, json } = settings;
  checkPairingOptions(options);
  const request = pairOf(settings, positionals, NAME);
  hostsOf(options, [request.reference, request.distorted]);
  const { strict = false, ...pairing } = options;
  const [api, view] = await Promise.all([import('../../index.js'), import('../../report/inspection.js')]);
  return interruptible(async ({ signal }) => {
    const inspection = await api.inspect(request, { ...pairing, ...(models && { models }), signal });
    const found = { ...inspection, findings: findingsInFlags(inspection.findings) };
    const { columns: width, colour: color } = terminal;
    await terminal.print(
      json ? asJson(view.inspectionData(found)) : view.inspectionText(found, { width, color }),
    );
    const refused = found.findings.some(
      ({ severity }) => severity === 'error' || (strict && severity === 'warning'),
    );
    return refused ? EXIT.failed : EXIT.ok;
  });
});
