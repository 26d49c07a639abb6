/**
 * @module cli/commands/shots
 * `anyvmaf shots SOURCE`: the shots of a video, and with an encoder a setting for each.
 */
import type { ShotStage } from '../../index.js';
import type { Command } from '../command.js';
import { foundCsv, foundText, shotStageText, tunedText } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import type { HelpPage } from '../help.js';
import type { Terminal } from '../terminal.js';
import { encodingRun } from './encoding-run.js';
import { NAME, SHOTS_OPTIONS, type ShotsSettings, shotsSettings } from './shots-options.js';

const page: HelpPage = {
  usage: [`${NAME} [options] SOURCE`, `${NAME} [options] SOURCE --encoder NAME`],
  about:
    'Finds the shots of a video. With an encoder of the installed ffmpeg it finds a setting for each shot, so that every ' +
    'shot, or all together, reach a quality with the fewest bytes, and joins the encodes on request. Exits with 3 when the ' +
    'quality cannot be reached.',
  options: SHOTS_OPTIONS,
  sections: [
    {
      title: 'Examples',
      rows: [
        [`${NAME} a.mov`, 'only find the shots'],
        [`${NAME} a.mov --encoder libx264 --target 93`, 'a CRF for each shot'],
        [`${NAME} a.mov --encoder libx264 --goal whole`, 'fewest bytes for a mean of 95'],
        [`${NAME} a.mov --encoder libx265 --encode b.mp4`, 'and make the file'],
        [`${NAME} a.mov --encoder libx264 -o make.sh`, 'a script that makes it'],
      ],
    },
  ],
};

/** Shots and their settings. */
export const shots: Command = {
  page,
  run: async (args, terminal) => {
    const settings = shotsSettings(args);
    return settings === 'help' ? page : run(settings, terminal);
  },
};

async function run(settings: ShotsSettings, terminal: Terminal): Promise<number> {
  const { source, limits, options, output, format } = settings;
  return encodingRun(settings, [output, options?.output], terminal, async (tools) => {
    const { files, signal, say, clear } = tools;
    const [file] = files;
    const { detectShots, formatShots, tuneShots } = await import('../../index.js');
    const give = async (text: string, data: string): Promise<void> => {
      clear();
      await file?.write([data], signal);
      await terminal.print(format === undefined || file ? text : data);
    };
    if (!options) {
      const onProgress = (frames: number, total: number) => say?.(`looking at frame ${frames} of ${total}`);
      const found = await detectShots(source, { ...limits, onProgress, signal });
      await give(
        foundText(found),
        format === 'csv' ? foundCsv(found) : `${JSON.stringify(found, null, 2)}\n`,
      );
      return EXIT.ok;
    }
    const onStage = (stage: ShotStage) => say?.(shotStageText(stage, options.parameter ?? 'crf'));
    const result = await tuneShots(source, { ...options, onStage, signal });
    await give(tunedText(result), await formatShots(result, format ?? 'json'));
    return result.reached && result.final?.reached !== false ? EXIT.ok : EXIT.below;
  });
}
