/**
 * @module cli/commands/align
 * `anyvmaf align REFERENCE DISTORTED`: finds the frame of the reference with which the distorted video begins.
 */
import { command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { alignmentAdvice } from '../flags.js';
import { grouped, type OptionSpec } from '../options.js';
import { interruptible } from '../signals.js';
import { hostsOf, type OptionsDraft, PAIRING_OPTIONS, takeTableOption } from '../table-options.js';
import { VIDEO_OPTIONS, VideoArguments } from '../video-options.js';

const NAME = 'anyvmaf align';
const SEARCH = 'Search';

const ALIGN_OPTIONS = [
  ...VIDEO_OPTIONS,
  ...PAIRING_OPTIONS.filter(({ name }) => name === 'decoder' || name === 'allow-url'),
  ...grouped(SEARCH, [
    {
      name: 'window',
      argument: 'N',
      help: 'try offsets from -N to N frames, 1 to 1000 (default: 50, widened if ambiguous)',
    },
    { name: 'json', help: 'the result as JSON' },
    { name: 'help', help: 'show this help', last: true },
  ]),
] as const satisfies readonly OptionSpec[];

const page: HelpText = {
  usage: [`${NAME} [options] REFERENCE DISTORTED`],
  about:
    'Finds the offset at which two videos show the same pictures, from their first seconds, and says how certain it is. ' +
    'Nothing is shifted: pass the offset to anyvmaf with --offset. Exits with 2 when the videos are unrelated.',
};

/** Temporal alignment without scoring. */
export const align = command(NAME, ALIGN_OPTIONS, page, async (parsed, terminal) => {
  const videos = new VideoArguments();
  const options: OptionsDraft = {};
  let json = false;
  for (const use of parsed.options) {
    if (!videos.take(use) && !takeTableOption(use, options)) json = true;
  }
  const { reference, distorted, raw } = videos.finish(parsed.positionals, 1, NAME);
  hostsOf(options, [reference, ...distorted]);
  const [api, view] = await Promise.all([import('../../index.js'), import('../../report/inspection.js')]);
  return interruptible(async (stop) => {
    const result = await api.align(
      { reference, distorted: distorted[0], ...(raw && { raw }) },
      { ...options, signal: stop.signal },
    );
    const { columns: width, colour: color } = terminal;
    await terminal.print(
      json
        ? `${JSON.stringify(view.alignmentData(result), null, 2)}\n`
        : view.alignmentText(result, { width, color, advice: alignmentAdvice(result) }),
    );
    return result.reason === 'unrelated' ? EXIT.failed : EXIT.ok;
  });
});
