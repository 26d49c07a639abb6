/**
 * @module cli/commands/shots
 * `anyvmaf shots SOURCE`: the shots of a video, and with an encoder a setting for each.
 */
import type { ShotStage } from '../../index.js';
import type { Command } from '../command.js';
import { EXIT } from '../exit.js';
import type { HelpPage } from '../help.js';
import { openOutput } from '../output.js';
import { foundCsv, foundText, tunedText } from '../shots-text.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';
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
  const { source, options, output, format } = settings;
  const file = output === undefined ? undefined : await openOutput(output, [source]);
  // Before hours of encoding, not after.
  if (options?.output !== undefined) await openOutput(options.output, [source]);
  const progress = await progressOf(settings, terminal);
  return interruptible(async (stop) => {
    try {
      const { text, data, code } = await work(settings, progress.say, stop.signal);
      progress.end();
      if (file) await file.write([data], stop.signal);
      await terminal.print(format === undefined || file ? text : data);
      return code;
    } finally {
      progress.end();
    }
  });
}

/** @returns the answer for people, in the wanted format, and the exit code */
async function work(
  { source, limits, options, format = 'json' }: ShotsSettings,
  say: (words: string) => void,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly data: string; readonly code: number }> {
  const { detectShots, formatShots, tuneShots } = await import('../../index.js');
  if (!options) {
    const onProgress = (frames: number, total: number) => say(`looking at frame ${frames} of ${total}`);
    const found = await detectShots(source, { ...limits, onProgress, signal });
    const data = format === 'csv' ? foundCsv(found) : `${JSON.stringify(found, null, 2)}\n`;
    return { text: foundText(found), data, code: EXIT.ok };
  }
  const onStage = (stage: ShotStage) => say(stageText(stage, options.parameter ?? 'crf'));
  const result = await tuneShots(source, { ...options, onStage, signal });
  const reached = result.reached && result.final?.reached !== false;
  return {
    text: tunedText(result),
    data: await formatShots(result, format),
    code: reached ? EXIT.ok : EXIT.below,
  };
}

/** Shows what is being done in the last line of the terminal, not more often than people read. */
async function progressOf({ quiet }: ShotsSettings, terminal: Terminal) {
  const bar =
    terminal.canDraw && !quiet ? (await import('../progress-bar.js')).progressBar(terminal) : undefined;
  let last = 0;
  let said = '';
  return {
    say(words: string) {
      const now = performance.now();
      const kind = words.replaceAll(/\d/g, '');
      if (kind === said && now - last < 100) return;
      [last, said] = [now, kind];
      bar?.say(words);
    },
    end: () => bar?.clear(),
  };
}

function stageText(stage: ShotStage, parameter: string): string {
  if (stage.kind === 'finding') return `looking at frame ${stage.frames} of ${stage.total}`;
  if (stage.kind === 'joining') return `joining ${stage.shots} shots, and scoring the whole`;
  const place = stage.shot === undefined ? '' : `shot ${stage.shot} of ${stage.shots}: `;
  if (stage.kind === 'reading') return 'reading the source';
  if (stage.kind === 'cutting') return `${place}cutting ${stage.frames} frames`;
  const far = stage.frames === undefined ? '' : `, frame ${stage.frames} of ${stage.total}`;
  return `${place}${stage.kind} at ${parameter} ${stage.value}${far}`;
}
