/**
 * @module cli/commands/search
 * `anyvmaf search SOURCE --encoder NAME --target 95`: finds the setting with which an encoder reaches a quality.
 */
import type { SearchPoint, SearchStage } from '../../index.js';
import type { Command } from '../command.js';
import { answerText, pointLine, pointsHead, stageText } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import type { HelpPage } from '../help.js';
import type { Terminal } from '../terminal.js';
import { encodingRun } from './encoding-run.js';
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
  const parameter = options.parameter ?? 'crf';
  return encodingRun(settings, [output, options.output], terminal, async (tools) => {
    const { files, signal, say, line, clear } = tools;
    const { searchQuality } = await import('../../index.js');
    let metric: string | undefined;
    const onPoint = (point: SearchPoint) => {
      clear();
      if (json) return;
      if (metric === undefined) {
        metric = options.targets?.[0]?.metric ?? Object.keys(point.pooled)[0] ?? 'vmaf';
        line(pointsHead(parameter, metric));
      }
      line(pointLine(point, parameter));
    };
    // Ctrl-C ends it with what is known.
    const result = await searchQuality(source, {
      ...options,
      ...(say && { onStage: (stage: SearchStage) => say(stageText(stage)) }),
      onPoint,
      finish: signal,
    });
    clear();
    const text = `${JSON.stringify(result, null, 2)}\n`;
    await files[0]?.write([text]);
    await terminal.print(json ? text : answerText(result));
    signal.throwIfAborted();
    return result.shortfall || result.final?.reached === false ? EXIT.below : EXIT.ok;
  });
}
