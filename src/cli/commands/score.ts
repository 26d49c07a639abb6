/**
 * @module cli/commands/score
 * `anyvmaf REFERENCE DISTORTED...`: scores encodes of a reference; with `--shard I/N` measures one part of a pair.
 */
import { AnyvmafError } from '../../core/errors.js';
import { withoutAccess } from '../../core/printable.js';
import { version } from '../../core/version.js';
import type { Finding, ShardChoice } from '../../index.js';
import type { Report, ReportHead } from '../../report/schema.js';
import {
  COMMANDS,
  type Command,
  type HelpPage,
  openProgressBar,
  type ProgressBar,
  progressSum,
} from '../command.js';
import {
  completeReport,
  EXIT,
  exitCodeOf,
  type Interruption,
  interruptible,
  messageInFlags,
} from '../exit.js';
import type { Gate } from '../gate.js';
import { scoreLive } from '../live.js';
import { openOutput } from '../output.js';
import { isPrinted } from '../output-options.js';
import type { Failure, LiveLines, Outcome } from '../printed.js';
import { pairRequest, SCORE_OPTIONS, type ScoreSettings, scoreSettings, videosIn } from '../score-options.js';
import type { Terminal } from '../terminal.js';
import { deliver, openOutputs } from './delivery.js';

const page: HelpPage = {
  usage: [
    'anyvmaf [options] REFERENCE DISTORTED...',
    'anyvmaf [options] -r REFERENCE -d DISTORTED',
    'anyvmaf COMMAND',
  ],
  about:
    'Measures how good a video looks compared with its original: a VMAF score from 0 to 100, with exactly the ' +
    "numbers of Netflix's libvmaf 3.2. Takes whatever a decoder on this machine reads (MP4, MOV, MKV, WebM, " +
    '...), Y4M, or raw YUV with its geometry. Several distorted videos are compared in one table.',
  options: SCORE_OPTIONS,
  sections: {
    Examples: [
      ['anyvmaf master.mov encode.mp4', 'score a pair'],
      ['anyvmaf master.mov a.mp4 b.mp4 c.mp4', 'compare encodes in a table'],
      ['anyvmaf ref.mp4 dis.mp4 --html report.html', 'a page with charts'],
      ['anyvmaf ref.mp4 dis.mp4 --range 1:30-2:00', 'score half a minute'],
      ['anyvmaf ref.mp4 dis.mp4 --offset auto', 'find the offset first'],
      ['anyvmaf ref.mp4 dis.mp4 -m auto --json', 'HD or 4K model; every frame'],
      ['anyvmaf a.yuv b.yuv -w 1920 -h 1080 -p 420 -b 8', 'raw video'],
      ['anyvmaf ref.mp4 dis.mp4 --fail-under 93', 'gate a script'],
      ["anyvmaf a.mp4 b.mp4 --fail-under 'vmaf.p5>=80'", 'for the worst frames'],
      ['anyvmaf a.mp4 b.mp4 --baseline old.json --max-drop 0.5', 'no worse than before'],
    ],
    Commands: COMMANDS.map(({ name, summary }) => [name, summary]),
    'Exit codes': [
      [`${EXIT.ok}`, 'success'],
      [`${EXIT.usage}`, 'invalid command line'],
      [`${EXIT.failed}`, 'a video, model, feature or file cannot be used'],
      [`${EXIT.below}`, 'a value misses --fail-under or --max-drop, or cannot be trusted'],
      [`${EXIT.alarm}`, 'an --alarm was raised'],
      [`${EXIT.internal}`, 'internal error in anyvmaf'],
      [`${EXIT.interrupted}`, 'interrupted by Ctrl-C'],
      [`${EXIT.closedPipe}`, 'standard output was closed by its reader'],
      [`${EXIT.terminated}`, 'terminated by SIGTERM'],
    ],
  },
};

export const score: Command = {
  page,
  run: async (args, terminal) => {
    const settings = scoreSettings(args);
    if (settings === 'help') return page;
    if (settings === 'version') {
      await terminal.print(`${version}\n`);
      return EXIT.ok;
    }
    if (settings.shard) return measurePart({ ...settings, shard: settings.shard }, terminal);
    return scoreVideos(settings, args, terminal);
  },
};

async function scoreVideos(settings: ScoreSettings, args: readonly string[], terminal: Terminal) {
  const outputs = await openOutputs(settings, videosIn(settings), settings.hosts);
  return interruptible(async (stop) => {
    const live = await liveLines(settings, terminal, stop.abort);
    const measured = await measure(settings, terminal, stop, live, outputs.gate).catch(async (error) => {
      await judgeUnscored(error, settings, outputs.gate, stop.signal);
      throw error;
    });
    const outcome = { ...measured, options: settings.options, raw: settings.raw };
    const [failure] = outcome.failures;
    if (failure)
      (await import('../printed.js')).complainOfFailures(
        outcome.failures.map(({ failed }) => failed),
        settings.distorted.length,
        terminal,
      );
    if (failure && outcome.reports.length === 0) {
      await live?.written();
      if (isPrinted(settings) && settings.distorted.length > 1 && !live)
        for (const piece of (await import('../printed.js')).reportText(outcome, settings))
          await terminal.print(piece);
      await outputs.gate?.judge(outcome, stop.signal);
      return exitCodeOf(failure.error);
    }
    const makePage = () => pictured(outcome, settings, args, terminal, stop.signal);
    const judged = await deliver(outcome, settings, outputs, { terminal, stop, live, makePage });
    if (failure) return EXIT.failed;
    return judged === EXIT.ok && outcome.alarms ? EXIT.alarm : judged;
  });
}

/** Writes the files of a gate if an error ended the run, so that they are not missing or of an earlier run. */
async function judgeUnscored(
  error: unknown,
  { reference, distorted }: ScoreSettings,
  gate: Gate | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!gate || !(error instanceof AnyvmafError) || error.code === 'usage' || signal.aborted) return;
  const failures = distorted.map((name, index) => failureOf(error, index, [reference, name]));
  await gate.judge({ reports: [], failures }, signal);
}

function failureOf(
  error: AnyvmafError,
  index: number,
  [reference = '', distorted = '']: readonly [string | undefined, string | undefined],
): Failure {
  const names = { reference: withoutAccess(reference), distorted: withoutAccess(distorted) };
  return { index, error, failed: { version, ...names, code: error.code, message: messageInFlags(error) } };
}

/** Makes the page with pictures of the worst frames, and complains about missing ones. */
async function pictured(
  outcome: Outcome,
  { reference, distorted, raw, options, noPictures, htmlSize }: ScoreSettings,
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Iterable<string>> {
  const { reports, failures } = outcome;
  const { htmlText } = await import('../printed.js');
  const plain = await htmlText(outcome, args);
  if (noPictures || reference === undefined) return plain;
  let bytes = 0;
  for (const piece of plain) bytes += Buffer.byteLength(piece);
  const { pagePictures } = await import('../page-pictures.js');
  const failed = new Set(failures.map(({ index }) => index));
  const scored = distorted.filter((_, index) => !failed.has(index));
  const made = await pagePictures(
    reports.map((report, i) => ({ report, reference, distorted: scored[i] ?? '', raw, options })),
    signal,
    { bytes, ...(htmlSize !== undefined && { megabytes: htmlSize }) },
  );
  for (const why of made.lacking) terminal.complain(why);
  return htmlText(outcome, args, made);
}

/** Prints frames as they are measured if NDJSON goes to standard output. */
async function liveLines(
  settings: ScoreSettings,
  { print }: Terminal,
  fail: (reason: unknown) => void,
): Promise<LiveLines | undefined> {
  const { distorted, format, precision } = settings;
  if (format !== 'ndjson' || !isPrinted(settings)) return undefined;
  const { printLive } = await import('../printed.js');
  return printLive(distorted.length, precision, print, fail);
}

async function measure(
  settings: ScoreSettings,
  terminal: Terminal,
  stop: Interruption,
  live: LiveLines | undefined,
  gate: Gate | undefined,
): Promise<Outcome> {
  const { signal } = stop;
  /** Checks the gate at the first frame: a limit that cannot be judged stops the run. */
  const onStart = (head: ReportHead, index?: number) => {
    try {
      gate?.start(head, index);
    } catch (error) {
      return stop.abort(error);
    }
    live?.start(head, index);
  };
  // Each run of a sampled video has its own start; its gate is checked at the end.
  const observed = live || (gate && !settings.options.samples) ? onStart : undefined;
  const { reference, distorted, quiet } = settings;
  const options = {
    ...settings.options,
    signal,
    ...(observed && { onStart: observed }),
    ...(live && { onFrame: live.frame }),
  };
  const bar = openProgressBar(terminal, quiet);
  bar?.say(withoutAccess(`reading ${videosIn(settings).join(', ')}`));
  try {
    return distorted.length === 1 || reference === undefined
      ? await measureOne({ ...settings, options }, terminal, live, bar)
      : await measureMany({ ...settings, reference, options }, live, bar);
  } finally {
    bar?.clear();
  }
}

async function measureOne(
  settings: ScoreSettings,
  terminal: Terminal,
  live: LiveLines | undefined,
  bar: ProgressBar | undefined,
): Promise<Outcome> {
  const request = pairRequest(settings);
  const options = { ...settings.options, ...(bar && { onProgress: bar.show }) };
  const lines = !settings.quiet && bar === undefined;
  const { report, alarms } = settings.live
    ? await scoreLive(request, options, settings.live, terminal, lines)
    : { report: await (await import('../../index.js')).score(request, options), alarms: 0 };
  const complete = completeReport(report, settings.ignored);
  live?.end(complete);
  return { reports: [complete], failures: [], alarms };
}

async function measureMany(
  { reference, distorted, raw, options, ignored }: ScoreSettings & { readonly reference: string },
  live: LiveLines | undefined,
  bar: ProgressBar | undefined,
): Promise<Outcome> {
  const api = await import('../../index.js');
  const sum = bar && progressSum(distorted.length, bar.show);
  const failures: Failure[] = [];
  const reports = await api.scoreMany(reference, distorted, {
    ...options,
    onReport(report, index) {
      const complete = completeReport(report, ignored, () => false);
      live?.end(complete, index);
    },
    ...(raw && { raw }),
    ...(sum && { onProgress: sum }),
    onFailure(error, index) {
      const failure = failureOf(error, index, [reference, distorted[index]]);
      failures.push(failure);
      sum?.(null, index);
      live?.fail(failure.failed, index);
    },
  });
  const ofAll = ofAllReports(reports);
  return {
    reports: reports.map((report) => completeReport(report, ignored, ofAll)),
    failures: failures.sort((a, b) => a.index - b.index),
  };
}

/** Returns a predicate: true for findings that are in all reports with the same hint. */
function ofAllReports(reports: readonly Report[]): (finding: Finding) => boolean {
  const text = ({ code, hint }: Finding) => JSON.stringify([code, hint]);
  const found = reports.map(({ preflight = [] }) => new Set(preflight.map(text)));
  return (finding) => found.every((texts) => texts.has(text(finding)));
}

async function measurePart(settings: ScoreSettings & { readonly shard: ShardChoice }, terminal: Terminal) {
  const { options, output, quiet, shard, ignored, hosts } = settings;
  const inputs = videosIn(settings);
  const file = output === undefined || output === '-' ? undefined : await openOutput(output, inputs, hosts);
  return interruptible(async (stop) => {
    const api = await import('../../index.js');
    const bar = openProgressBar(terminal, quiet);
    bar?.say(withoutAccess(`reading ${inputs.join(', ')}`));
    const request = pairRequest(settings);
    const run = { ...options, signal: stop.signal, ...(bar && { onProgress: bar.show }) };
    const measured = await api.scoreShard(request, shard, run).finally(() => bar?.clear());
    for (const warning of ignored) terminal.complain(warning);
    const text = await api.formatShard(measured);
    if (file) await file.write([text], stop.signal);
    stop.release();
    if (!file) await terminal.print(text);
    const { first, end } = measured.pairs;
    if (file && !quiet && terminal.interactive) {
      await terminal.print(
        end > first
          ? `Pairs ${first} to ${end - 1} are in ${withoutAccess(output ?? '')}; merge it with the others: anyvmaf merge\n`
          : `${withoutAccess(output ?? '')} is a part without pairs; merge it with the others: anyvmaf merge\n`,
      );
    }
    return EXIT.ok;
  });
}
