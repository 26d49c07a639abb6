/**
 * @module cli/live
 * Scores a pair that is watched while it runs: by clients of `--live`, by the rules of `--alarm`, and line by line on standard
 * error. Loaded only for these options.
 */
import type { Listening, Report, ScoreOptions, ScoreRequest, SecondLine } from '../index.js';
import { type Alarm, parseAlarm } from '../live/alarms.js';
import type { Terminal } from './terminal.js';

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
