/**
 * @module cli/commands/search
 * `anyvmaf search SOURCE --encoder NAME --target 95`: finds the setting with which an encoder reaches a quality.
 */
import type { SearchResult, SearchStage } from '../../index.js';
import type { Command } from '../command.js';
import { EXIT } from '../exit.js';
import type { HelpPage } from '../help.js';
import { openOutput } from '../output.js';
import { answerText, pointLine, pointsHead } from '../search-text.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';
import { stageText } from './encoding-run.js';
import { NAME, SEARCH_OPTIONS, type SearchSettings, searchSettings } from './search-options.js';

const page: HelpPage = {
  usage: [`${NAME} [options] SOURCE --encoder NAME`, `${NAME} --forget`],
  about:
    'Finds the setting with which an encoder of the installed ffmpeg makes the smallest file that reaches a quality: it ' +
    'encodes and scores short samples of the source, usually five times, and says how sure it is. Exits with 3 when no ' +
    'setting reaches it.',
  options: SEARCH_OPTIONS,
  sections: [
    {
      title: 'Examples',
      rows: [
        [`${NAME} a.mov --encoder libx264`, 'the CRF for a mean VMAF of 95'],
        [`${NAME} a.mov --encoder libx265 --target p5>=90`, 'for the worst frames'],
        [`${NAME} a.mov --encoder libx264 --between 94..96`, 'and no better than needed'],
        [`${NAME} a.mov --encoder libx264 --encode b.mp4`, 'and make the file'],
        [`${NAME} a.mov --encoder libx264 --all 18..40:2`, 'the whole curve'],
      ],
    },
  ],
};

/** The search for a setting. */
export const search: Command = {
  page,
  run: async (args, terminal) => {
    const settings = searchSettings(args);
    if (settings === 'help') return page;
    if ('forget' in settings) {
      const { forgetSearches } = await import('../../index.js');
      const count = await forgetSearches(settings.forget);
      await terminal.print(`forgot the points of ${count} ${count === 1 ? 'search' : 'searches'}\n`);
      return EXIT.ok;
    }
    return find(settings, terminal);
  },
};

async function find(settings: SearchSettings, terminal: Terminal): Promise<number> {
  const { source, options, output, json } = settings;
  const file = output === undefined ? undefined : await openOutput(output, [source]);
  // Before hours of encoding, not after.
  if (options.output !== undefined) await openOutput(options.output, [source]);
  const progress = await progressOf(settings, terminal);
  return interruptible(async (stop) => {
    try {
      const { searchQuality } = await import('../../index.js');
      // Ctrl-C ends it with what is known.
      const result = await searchQuality(source, { ...options, ...progress.listeners, finish: stop.signal });
      progress.end();
      const text = `${JSON.stringify(result, null, 2)}\n`;
      if (file) await file.write([text]);
      await terminal.print(json ? text : answerText(result));
      stop.signal.throwIfAborted();
      return result.shortfall || result.final?.reached === false ? EXIT.below : EXIT.ok;
    } finally {
      progress.end();
    }
  });
}

/** Shows points as lines as they come, and what is being done in the last line of the terminal. */
async function progressOf({ options, json, quiet }: SearchSettings, terminal: Terminal) {
  const bar =
    terminal.canDraw && !quiet ? (await import('../progress-bar.js')).progressBar(terminal) : undefined;
  const parameter = options.parameter ?? 'crf';
  let metric: string | undefined;
  const onPoint = (point: SearchResult['points'][number]) => {
    bar?.clear();
    const first = metric === undefined;
    metric ??= options.targets?.[0]?.metric ?? Object.keys(point.pooled)[0] ?? 'vmaf';
    if (json || quiet) return;
    if (first) terminal.draw(`${pointsHead(parameter, metric)}\n`);
    terminal.draw(`${pointLine(point, parameter)}\n`);
  };
  return {
    listeners: {
      onPoint,
      ...(bar && { onStage: (stage: SearchStage) => bar.say(stageText(stage)) }),
    },
    end: () => bar?.clear(),
  };
}
