/**
 * @module cli/commands/score
 * `anyvmaf REFERENCE DISTORTED`: scores one pair and delivers the result.
 */
import type { Report } from '../../report/types.js';
import type { ReportFormat } from '../../report/write.js';
import { COMMANDS, type Command } from '../command.js';
import { EXIT } from '../exit.js';
import { type HelpPage, helpWidth, renderHelp } from '../help.js';
import { openOutput } from '../output.js';
import { interruption } from '../signals.js';
import type { Terminal } from '../terminal.js';
import { SCORE_OPTIONS, type ScoreSettings, scoreSettings } from './score-options.js';

const page: HelpPage = {
  usage: [
    'anyvmaf [options] REFERENCE DISTORTED',
    'anyvmaf [options] -r REFERENCE -d DISTORTED',
    'anyvmaf COMMAND',
  ],
  about:
    'Measures how good a video looks next to its original: a VMAF score from 0 to 100 with the very numbers of ' +
    "Netflix's libvmaf 3.2. Both videos are Y4M files, or raw YUV with its geometry, of the same size and format.",
  options: SCORE_OPTIONS,
  sections: [
    {
      title: 'Examples',
      rows: [
        ['anyvmaf master.y4m encode.y4m', 'score a pair'],
        ['anyvmaf a.yuv b.yuv -w 1920 -h 1080 -p 420 -b 8', 'raw video'],
        ['anyvmaf a.y4m b.y4m --json -o report.json', 'every frame, as JSON'],
        ['anyvmaf a.y4m b.y4m -m version=vmaf_4k_v0.6.1', 'another model'],
        ['anyvmaf a.y4m b.y4m --feature psnr --csv', 'PSNR too, as a table'],
        ['anyvmaf a.y4m b.y4m --fail-under 93', 'a gate for scripts'],
      ],
    },
    { title: 'Commands', rows: COMMANDS.map(({ name, summary }) => [name, summary]) },
    {
      title: 'Exit codes',
      rows: [
        [`${EXIT.ok}`, 'all went well'],
        [`${EXIT.usage}`, 'the command line is wrong'],
        [`${EXIT.failed}`, 'a video, model, feature or file cannot be used'],
        [`${EXIT.below}`, 'the score is below --fail-under'],
        [`${EXIT.internal}`, 'a defect of anyvmaf'],
        [`${EXIT.interrupted}`, 'interrupted by Ctrl-C'],
        [`${EXIT.closedPipe}`, 'the reader of standard output went away'],
        [`${EXIT.terminated}`, 'terminated by SIGTERM'],
      ],
    },
  ],
};

/** The command that runs when none is named. */
export const score: Command = {
  page,
  run: async (args, terminal) => {
    const settings = scoreSettings(args);
    if (settings === 'help') {
      await terminal.print(renderHelp(page, helpWidth(terminal.columns)));
      return EXIT.ok;
    }
    if (settings === 'version') {
      const { version } = await import('../../version.js');
      await terminal.print(`${version}\n`);
      return EXIT.ok;
    }
    return scorePair(settings, terminal);
  },
};

async function scorePair(settings: ScoreSettings, terminal: Terminal): Promise<number> {
  const { reference, distorted, output, failUnder } = settings;
  const file =
    output === undefined || output === '-' ? undefined : await openOutput(output, [reference, distorted]);
  const stop = interruption();
  try {
    const report = await measure(settings, terminal, stop.signal);
    if (file) {
      const { writeReport } = await import('../../report/write.js');
      const { format = 'xml', precision } = settings;
      await file.write(writeReport(report, format, { precision }), stop.signal);
    }
    // From here on nothing needs tidying up, and Ctrl-C must work even while a reader of the output dawdles.
    stop.release();
    await deliver(report, settings, terminal);
    return failUnder === undefined ? EXIT.ok : await judge(report, failUnder, settings, terminal);
  } finally {
    stop.release();
  }
}

/** Runs the pair under a progress bar. */
async function measure(settings: ScoreSettings, terminal: Terminal, signal: AbortSignal): Promise<Report> {
  const { reference, distorted, raw, options, quiet, ignored } = settings;
  const api = await import('../../index.js');
  const drawing = terminal.canDraw && !quiet;
  const bar = drawing ? (await import('../progress-bar.js')).progressBar(terminal) : undefined;
  try {
    const report = await api.score(
      { reference, distorted, ...(raw && { raw }) },
      { ...options, signal, ...(bar && { onProgress: bar.show }) },
    );
    return ignored.length === 0 ? report : { ...report, warnings: [...report.warnings, ...ignored] };
  } finally {
    bar?.clear();
  }
}

/** Puts the result on standard output: the report, or what a person or a script wants to see instead of it. */
async function deliver(report: Report, settings: ScoreSettings, terminal: Terminal): Promise<void> {
  const { output, precision, quiet } = settings;
  const printed: ReportFormat | undefined =
    output === '-' ? (settings.format ?? 'xml') : output === undefined ? settings.format : undefined;
  const summary = printed === undefined && terminal.interactive && !quiet;
  // The summary has the warnings; where it shares the terminal with standard error, once is enough.
  if (!(summary && terminal.canDraw)) {
    for (const warning of report.warnings) terminal.complain(`warning: ${warning}`);
  }
  if (printed !== undefined) {
    const { writeReport } = await import('../../report/write.js');
    for (const piece of writeReport(report, printed, { precision })) await terminal.print(piece);
  } else if (summary) {
    const { summarize } = await import('../../report/summary.js');
    const { columns: width, colour: color } = terminal;
    await terminal.print(summarize(report, { width, color, precision }));
    if (output !== undefined) await terminal.print(`\nThe report is in ${output}\n`);
  } else if (output === undefined) {
    const { plainResult } = await import('../plain-result.js');
    await terminal.print(plainResult(report, precision));
  }
}

/** Says which models are below the limit. */
async function judge(
  report: Report,
  limit: number,
  settings: ScoreSettings,
  terminal: Terminal,
): Promise<number> {
  const [{ modelsBelow }, { textNumber }] = await Promise.all([
    import('../plain-result.js'),
    import('../../report/format.js'),
  ]);
  const number = textNumber(settings.precision);
  const below = modelsBelow(report, limit);
  for (const { model, mean } of below) {
    terminal.complain(`the mean of ${model.source} is ${number(mean)}, below --fail-under ${limit}`);
  }
  return below.length === 0 ? EXIT.ok : EXIT.below;
}
