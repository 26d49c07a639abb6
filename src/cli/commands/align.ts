/**
 * @module cli/commands/align
 * `anyvmaf align REFERENCE DISTORTED`: finds the offset between two videos.
 */
import { asJson, command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { alignmentAdvice } from '../flags.js';
import { grouped, HELP_OPTION, type Option } from '../options.js';
import { interruptible } from '../signals.js';
import { hostsOf, PAIRING_OPTIONS, type TableSettings, tableReader } from '../table-options.js';
import { pairOf, VIDEO_OPTIONS, type VideoSettings } from '../video-options.js';

const NAME = 'anyvmaf align';
const SEARCH = 'Search';

interface AlignSettings extends VideoSettings, TableSettings {
  readonly json: boolean;
}

const ALIGN_OPTIONS: readonly Option<AlignSettings>[] = [
  ...VIDEO_OPTIONS,
  ...PAIRING_OPTIONS.filter(({ name }) => name === 'decoder' || name === 'allow-url'),
  ...grouped<AlignSettings>(SEARCH, [
    {
      name: 'window',
      argument: 'N',
      help: 'try offsets from -N to N frames, 1 to 1000 (default: 50, widened if ambiguous)',
      read: tableReader('window'),
    },
    { name: 'json', help: 'the result as JSON', read: () => ({ json: true }) },
    HELP_OPTION,
  ]),
];

const page: HelpText = {
  usage: [`${NAME} [options] REFERENCE DISTORTED`],
  about:
    'Finds the offset at which two videos show the same pictures, from their first seconds, and says how certain it is. ' +
    'Nothing is shifted: pass the offset to anyvmaf with --offset. Exits with 2 when the videos are unrelated.',
};

export const align = command(NAME, ALIGN_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const { options = {}, json } = settings;
  const request = pairOf(settings, positionals, NAME);
  hostsOf(options, [request.reference, request.distorted]);
  const [api, view] = await Promise.all([import('../../index.js'), import('../../report/inspection.js')]);
  return interruptible(async ({ signal }) => {
    const result = await api.align(request, { ...options, signal });
    const { columns: width, colour: color } = terminal;
    await terminal.print(
      json
        ? asJson(view.alignmentData(result))
        : view.alignmentText(result, { width, color, advice: alignmentAdvice(result) }),
    );
    return result.reason === 'unrelated' ? EXIT.failed : EXIT.ok;
  });
});
