/**
 * @module cli/live-options
 * Options of watching and steering a run while it goes on.
 */
import { usageError } from '../core/errors.js';
import type { Listening, ScoreOptions } from '../index.js';
import type { LiveSettings } from './live.js';
import { grouped, type OptionSpec, type OptionUse } from './options.js';
import { refusedValue } from './values.js';

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
