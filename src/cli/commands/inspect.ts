/**
 * @module cli/commands/inspect
 * `anyvmaf inspect` checks a pair for problems before it is scored; `anyvmaf align` finds the offset between two videos.
 */
import { asJson, command, type HelpText } from '../command.js';
import { alignmentAdvice, EXIT, findingsInFlags, interruptible } from '../exit.js';
import { HELP_OPTION, type Option, optionTable, type SettingsOf, texts } from '../options.js';
import {
  checkPairingOptions,
  hostsOf,
  PAIRING_OPTIONS,
  type TableSettings,
  tableReader,
} from '../table-options.js';
import { pairOf, VIDEO_OPTIONS, type VideoSettings } from '../video-options.js';

const INSPECT = 'anyvmaf inspect';
/** Options of scoring. */
const LEFT_OUT: readonly string[] = ['no-preflight', 'colour-as'];

const PREFLIGHT_OPTIONS = optionTable({
  Preflight: {
    '-m, --model SPEC': ['the model to score with later. May be repeated', texts('models')],
    '--json': ['facts and findings as JSON', () => ({ json: true })],
    ...HELP_OPTION,
  },
});

const INSPECT_OPTIONS: readonly Option<
  VideoSettings & TableSettings & SettingsOf<typeof PREFLIGHT_OPTIONS>
>[] = [
  ...VIDEO_OPTIONS,
  ...PAIRING_OPTIONS.filter(({ name }) => !LEFT_OUT.includes(name)),
  ...PREFLIGHT_OPTIONS,
];

const inspectPage: HelpText = {
  usage: [`${INSPECT} [options] REFERENCE DISTORTED`],
  about:
    'Checks a pair for problems, by what both videos declare and what their first seconds show: size, rate, ' +
    'range, colour, borders, offset, swapped inputs, the model. Exits with 2 if they cannot be compared as ' +
    'they are, or with --strict if there is a warning.',
};

export const inspect = command(
  INSPECT,
  INSPECT_OPTIONS,
  inspectPage,
  async ({ settings, positionals, terminal }) => {
    const { options = {}, models, json } = settings;
    checkPairingOptions(options);
    const request = pairOf(settings, positionals, INSPECT);
    hostsOf(options, [request.reference, request.distorted]);
    const { strict = false, ...pairing } = options;
    const [api, view] = await Promise.all([import('../../index.js'), import('../../report/inspection.js')]);
    return interruptible(async ({ signal }) => {
      const inspection = await api.inspect(request, { ...pairing, ...(models && { models }), signal });
      const found = { ...inspection, findings: findingsInFlags(inspection.findings) };
      const { columns: width, colour: color } = terminal;
      const text = json ? asJson(view.inspectionData(found)) : view.inspectionText(found, { width, color });
      await terminal.print(text);
      const refused = found.findings.some(
        ({ severity }) => severity === 'error' || (strict && severity === 'warning'),
      );
      return refused ? EXIT.failed : EXIT.ok;
    });
  },
);

const ALIGN = 'anyvmaf align';
const ALIGN_OPTIONS: readonly Option<VideoSettings & TableSettings & { readonly json: boolean }>[] = [
  ...VIDEO_OPTIONS,
  ...PAIRING_OPTIONS.filter(({ name }) => name === 'decoder' || name === 'allow-url'),
  ...optionTable({
    Search: {
      '--window N': [
        'try offsets from -N to N frames, 1 to 1000 (default: 50, widened if ambiguous)',
        tableReader('window'),
      ],
      '--json': ['the result as JSON', () => ({ json: true })],
      ...HELP_OPTION,
    },
  }),
];

const alignPage: HelpText = {
  usage: [`${ALIGN} [options] REFERENCE DISTORTED`],
  about:
    'Finds the offset at which two videos show the same pictures, from their first seconds, and says how certain it is. ' +
    'Nothing is shifted: pass the offset to anyvmaf with --offset. Exits with 2 when the videos are unrelated.',
};

export const align = command(ALIGN, ALIGN_OPTIONS, alignPage, async ({ settings, positionals, terminal }) => {
  const { options = {}, json } = settings;
  const request = pairOf(settings, positionals, ALIGN);
  hostsOf(options, [request.reference, request.distorted]);
  const [api, view] = await Promise.all([import('../../index.js'), import('../../report/inspection.js')]);
  return interruptible(async ({ signal }) => {
    const result = await api.align(request, { ...options, signal });
    const { columns: width, colour: color } = terminal;
    const layout = { width, color, advice: alignmentAdvice(result) };
    const text = json ? asJson(view.alignmentData(result)) : view.alignmentText(result, layout);
    await terminal.print(text);
    return result.reason === 'unrelated' ? EXIT.failed : EXIT.ok;
  });
});
