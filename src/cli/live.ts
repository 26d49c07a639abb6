/**
 * @module cli/live
 * Options of watching and steering a run while it goes on, and a run that is watched: by clients of `--live`, by the rules of `--alarm`,
 * and line by line on standard error.
 */
import { usageError } from '../core/errors.js';
import type { Listening, Report, ScoreOptions, ScoreRequest, SecondLine } from '../index.js';
import { type Alarm, parseAlarm } from '../live/alarms.js';
import { grouped, type OptionSpec, type OptionUse, refusedValue } from './options.js';
import type { Terminal } from './terminal.js';

const LIVE = 'Watching a run';

/** In the order in which help lists them. */
export const LIVE_OPTIONS = grouped(LIVE, [
  {
    name: 'live',
    argument: 'WHERE',
    ours: true,
    help:
      'let programs watch and steer the run: sse:PORT (HTTP on 127.0.0.1; 0 for any free port), unix:PATH or stdio-fd:IN,OUT. ' +
      'May be repeated. With --window 10s only the last ten seconds stay in memory (250f: frames)',
  },
  { name: 'dashboard', ours: true, help: 'serve a page that shows the run at the port of --live sse:PORT' },
  {
    name: 'alarm',
    argument: 'RULE',
    ours: true,
    help:
      "say when a rule such as 'p5<80 for 3s' comes true, and exit with status 4 at the end; a pooled value as in " +
      '--fail-under (psnr_y.min), < or >, seconds or frames (50f). May be repeated',
  },
  {
    name: 'allow',
    argument: 'DIR',
    ours: true,
    help: 'let clients of --live name files under this folder. May be repeated. Default: none',
  },
  {
    name: 'also-model',
    argument: 'MODEL',
    ours: true,
    help: 'measure the features of this model too, so that clients of --live can change to it. May be repeated',
  },
]) satisfies readonly OptionSpec[];

/** What these options come to. */
interface LiveChoice {
  readonly live?: LiveSettings;
  readonly options: Pick<ScoreOptions, 'keep' | 'alsoModels'>;
}

/** Collects these options. */
export class LiveArguments {
  readonly #listen: Listening[] = [];
  readonly #alarms: string[] = [];
  readonly #allow: string[] = [];
  readonly #alsoModels: string[] = [];
  #dashboard = false;
  #keep: ScoreOptions['keep'];

  /** @returns whether the option is one of these */
  take(use: OptionUse): boolean {
    if (use.name === 'live') this.#listen.push(whereOf(use));
    else if (use.name === 'alarm') this.#alarms.push(use.value);
    else if (use.name === 'allow') this.#allow.push(use.value);
    else if (use.name === 'also-model') this.#alsoModels.push(use.value);
    else if (use.name === 'dashboard') this.#dashboard = true;
    else if (use.name === 'window' && /^[\d.]+[sf]$/.test(use.value)) this.#keep = keepOf(use);
    else return false;
    return true;
  }

  /** @throws {AnyvmafError} `usage` where options exclude each other */
  finish(distorted: number): LiveChoice {
    const watched = this.#listen.length > 0 || this.#alarms.length > 0 || this.#keep !== undefined;
    if (this.#dashboard && !this.#listen.some(({ transport }) => transport === 'sse'))
      throw usageError('--dashboard is a page of --live sse:PORT, which is not given; add it');
    const idle =
      this.#allow.length > 0 ? '--allow' : this.#alsoModels.length > 0 ? '--also-model' : undefined;
    if (idle && this.#listen.length === 0)
      throw usageError(`${idle} is for clients of --live, which is not given; add it, or leave ${idle} out`);
    if (watched && distorted > 1)
      throw usageError(
        `--live, --alarm and --window with a time watch one pair, but ${distorted} distorted videos are given; score them one at a time`,
      );
    if (!watched) return { options: {} };
    const listen = this.#listen.map((where) =>
      where.transport === 'sse' ? { ...where, dashboard: this.#dashboard } : where,
    );
    const live = { listen, alarms: this.#alarms, allow: this.#allow };
    const [keep, alsoModels] = [this.#keep, this.#alsoModels];
    return { live, options: { ...(keep && { keep }), ...(alsoModels.length > 0 && { alsoModels }) } };
  }
}

function whereOf(use: OptionUse): Listening {
  const [, kind, rest = ''] = /^([a-z-]+):(.*)$/s.exec(use.value) ?? [];
  const descriptors = /^(\d{1,4}),(\d{1,4})$/.exec(rest);
  if (kind === 'stdio-fd' && descriptors)
    return { transport: 'stdio', input: Number(descriptors[1]), output: Number(descriptors[2]) };
  if (kind === 'unix' && rest !== '') return { transport: 'unix', path: rest };
  if (kind === 'sse' && /^\d{1,5}$/.test(rest) && Number(rest) <= 65_535)
    return { transport: 'sse', port: Number(rest) };
  throw refusedValue(use, 'sse:PORT, unix:PATH or stdio-fd:IN,OUT, such as sse:8723');
}

function keepOf(use: OptionUse): ScoreOptions['keep'] {
  const number = Number(use.value.slice(0, -1));
  const frames = use.value.endsWith('f');
  if (number > 0 && (frames ? Number.isInteger(number) : number <= 86_400))
    return frames ? { frames: number } : { seconds: number };
  throw refusedValue(use, 'a time such as 10s, or frames such as 250f');
}

/** How a run is watched. */
export interface LiveSettings {
  readonly listen: readonly Listening[];
  /** Rules, as they were given. */
  readonly alarms: readonly string[];
  /** Folders from which clients may name files. */
  readonly allow: readonly string[];
}

/** What came of a watched run. */
export interface LiveOutcome {
  readonly report: Report;
  /** Alarms that were raised. */
  readonly alarms: number;
}

/**
 * Scores a pair.
 * @param lines whether to print a line for every second of video
 * @throws {AnyvmafError} as the public `score`; `usage` for a wrong rule, `io` if it cannot listen
 */
export async function scoreLive(
  request: ScoreRequest,
  options: ScoreOptions,
  settings: LiveSettings,
  { complain }: Pick<Terminal, 'complain'>,
  lines: boolean,
): Promise<LiveOutcome> {
  const { listen, alarms, allow } = settings;
  const watching = {
    onAlarm: (alarm: Alarm) => complain(alarmText(alarm)),
    ...(lines && { onSecond: (line: SecondLine) => complain(secondText(line)) }),
  };
  const api = await import('../index.js');
  const run = await api.prepareRun(request, options);
  if (listen.length === 0) {
    const { watchMeasurement } = await import('../live/watch.js');
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
  const what = raised ? 'alarm' : 'alarm over';
  return `${what}: ${rule}; ${metric} is at ${value.toFixed(2)} up to frame ${frame}`;
}

function secondText({ second, frame, metric, mean, min }: SecondLine): string {
  return `${second} s, frame ${frame}: ${metric} ${mean.toFixed(2)}, lowest ${min.toFixed(2)}`;
}
