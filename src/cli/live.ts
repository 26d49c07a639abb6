/**
 * @module cli/live
 * Watched runs: their options, and scoring with `--live` clients, `--alarm` rules, or lines on standard error.
 */
import { usageError } from '../core/errors.js';
import type { Listening, Report, ScoreOptions, ScoreRequest, SecondLine } from '../index.js';
import { type Alarm, parseAlarm } from '../live/alarms.js';
import { list, type OptionUse, optionTable, refusedValue, type SettingsOf, texts } from './options.js';
import type { Terminal } from './terminal.js';

export const LIVE_OPTIONS = optionTable(
  {
    'Watching a run': {
      '--live WHERE': [
        'let programs watch and steer the run: sse:PORT (HTTP on 127.0.0.1; 0 for any free port), unix:PATH or stdio-fd:IN,OUT. ' +
          'May be repeated. With --window 10s only the last ten seconds stay in memory (250f: frames)',
        list('live', whereOf),
      ],
      '--dashboard': [
        'serve a page that shows the run, on the port of --live sse:PORT',
        () => ({ dashboard: true }),
      ],
      '--alarm RULE': [
        "report when a rule such as 'p5<80 for 3s' becomes true, and exit with status 4 at the end; a pooled " +
          'value as in --fail-under (psnr_y.min), < or >, seconds or frames (50f). May be repeated',
        texts('alarms'),
      ],
      '--allow DIR': [
        'let clients of --live name files under this folder. May be repeated. Default: none',
        texts('allow'),
      ],
      '--also-model MODEL': [
        'measure the features of this model too, so that clients of --live can switch to it. May be repeated',
        texts('alsoModels'),
      ],
    },
  },
  { ours: true },
);

export type WatchSettings = SettingsOf<typeof LIVE_OPTIONS> & Pick<ScoreOptions, 'keep'>;

/** `--window 10s` and `--window 250f` limit the frames kept; without a unit, `--window` is that of `--offset`. */
export function readWindow(use: OptionUse): Pick<WatchSettings, 'keep'> | undefined {
  return /^[\d.]+[sf]$/.test(use.value) ? { keep: keepOf(use) } : undefined;
}

/**
 * @param distorted number of distorted videos
 * @throws {AnyvmafError} `usage` for conflicting options
 */
export function liveOf(
  { live = [], dashboard = false, alarms = [], allow = [], alsoModels = [], keep }: Partial<WatchSettings>,
  distorted: number,
): { readonly live?: LiveSettings; readonly options: Pick<ScoreOptions, 'keep' | 'alsoModels'> } {
  const watched = live.length > 0 || alarms.length > 0 || keep !== undefined;
  if (dashboard && !live.some(({ transport }) => transport === 'sse'))
    throw usageError('--dashboard requires --live sse:PORT; add it');
  const idle = allow.length > 0 ? '--allow' : alsoModels.length > 0 ? '--also-model' : undefined;
  if (idle && live.length === 0) throw usageError(`${idle} requires --live; add it, or leave out ${idle}`);
  if (watched && distorted > 1)
    throw usageError(
      `--live, --alarm and --window with a time are for one pair, but ${distorted} distorted videos are given; ` +
        'score them one at a time',
    );
  if (!watched) return { options: {} };
  const listen = live.map((where) => (where.transport === 'sse' ? { ...where, dashboard } : where));
  return {
    live: { listen, alarms, allow },
    options: { ...(keep && { keep }), ...(alsoModels.length > 0 && { alsoModels }) },
  };
}

function whereOf(use: OptionUse): Listening {
  const [, kind, rest = ''] = /^([a-z-]+):(.*)$/s.exec(use.value) ?? [];
  const [, input, output] = /^(\d{1,4}),(\d{1,4})$/.exec(rest) ?? [];
  if (kind === 'stdio-fd' && input !== undefined && output !== undefined)
    return { transport: 'stdio', input: Number(input), output: Number(output) };
  if (kind === 'unix' && rest !== '') return { transport: 'unix', path: rest };
  if (kind === 'sse' && /^\d{1,5}$/.test(rest) && Number(rest) <= 65_535)
    return { transport: 'sse', port: Number(rest) };
  throw refusedValue(use, 'sse:PORT, unix:PATH or stdio-fd:IN,OUT, such as sse:8723');
}

function keepOf(use: OptionUse): ScoreOptions['keep'] {
  const length = Number(use.value.slice(0, -1));
  const inFrames = use.value.endsWith('f');
  if (length > 0 && (inFrames ? Number.isInteger(length) : length <= 86_400))
    return inFrames ? { frames: length } : { seconds: length };
  throw refusedValue(use, 'a time such as 10s, or frames such as 250f');
}

export interface LiveSettings {
  readonly listen: readonly Listening[];
  /** Rules as typed. */
  readonly alarms: readonly string[];
  /** Folders whose files clients may name. */
  readonly allow: readonly string[];
}

/**
 * Scores a pair that is watched, and counts the alarms that were raised.
 * @param lines prints a line for every second of video
 * @throws {AnyvmafError} as the public `score`; `usage` for an invalid rule, `io` if it cannot listen
 */
export async function scoreLive(
  request: ScoreRequest,
  options: ScoreOptions,
  settings: LiveSettings,
  { complain }: Pick<Terminal, 'complain'>,
  lines: boolean,
): Promise<{ readonly report: Report; readonly alarms: number }> {
  const { listen, alarms, allow } = settings;
  const watching = {
    onAlarm: (alarm: Alarm) => complain(alarmText(alarm)),
    ...(lines && { onSecond: (line: SecondLine) => complain(secondText(line)) }),
  };
  const api = await import('../index.js');
  const run = await api.prepareRun(request, options);
  if (listen.length === 0) {
    const { watchMeasurement } = await import('../live/link.js');
    const watch = watchMeasurement(run, { ...watching, alarms: alarms.map(parseAlarm) });
    const report = await run.start();
    return { report, alarms: watch.alarmsRaised };
  }
  const { keep } = options;
  const server = await api.createEmbeddedServer(run, {
    ...watching,
    alarms,
    folders: allow,
    ...(keep && 'frames' in keep && { keepFrames: keep.frames }),
    ...(keep && 'seconds' in keep && { keepSeconds: keep.seconds }),
  });
  try {
    for (const where of listen) {
      const { address } = await server.listen(where);
      complain(`the live server listens at ${address}`);
      if (where.transport === 'sse' && where.dashboard)
        complain(`the dashboard is at ${new URL('/', address).href}`);
    }
    const report = await run.start();
    return { report, alarms: server.alarmsRaised };
  } finally {
    await server.close();
  }
}

function alarmText({ rule, metric, raised, frame, value }: Alarm): string {
  const label = raised ? 'alarm' : 'alarm over';
  return `${label}: ${rule}; ${metric} is at ${value.toFixed(2)} up to frame ${frame}`;
}

function secondText({ second, frame, metric, mean, min }: SecondLine): string {
  return `${second} s, frame ${frame}: ${metric} ${mean.toFixed(2)}, lowest ${min.toFixed(2)}`;
}
