/**
 * @module search/shots
 * Finds an encoder setting for each shot of a video.
 */
import { storedFrameBytes } from '../core/frame.js';
import type { VideoInput } from '../media/types.js';
import { checkOptions } from './checks.js';
import {
  encodeArguments,
  lossesOf,
  lostTracks,
  type Setting,
  settingFacts,
  settingOf,
  wholeEncode,
} from './commands.js';
import { shotsOf } from './cuts.js';
import { wholeSource } from './material.js';
import { Probe } from './probe.js';
import { checkOutput, findValue, metricsOf } from './search.js';
import { DEFAULT_SCRATCH, inSession, type SearchPlatform, type Session } from './session.js';
import {
  type FrameValues,
  joinShots,
  openShot,
  pooledShots,
  type ShotProbe,
  type ShotTask,
  tuneWhole,
  wholeMargin,
} from './shot-encodes.js';
import {
  type CompleteTarget,
  completeTargets,
  heightTo,
  type Measured,
  marginOf,
  marginTo,
} from './targets.js';
import type {
  SearchStage,
  Shot,
  SingleSetting,
  TunedShot,
  TuneShotsOptions,
  TuneShotsResult,
} from './types.js';

/** Fraction of the temporary files that one shot's lossless copy may take. */
const SHOT_SHARE = 0.5;

/** @throws {AnyvmafError} as the public `tuneShots` says; the signal's reason if aborted */
export async function tuneShots(
  platform: SearchPlatform,
  source: VideoInput,
  options: TuneShotsOptions,
): Promise<TuneShotsResult> {
  checkOptions('tuning', options);
  const { onStage, ...rest } = options;
  // Add the current shot to stages that lower layers report.
  const place: Place = {};
  const inner = (stage: SearchStage) => onStage?.({ ...stage, ...place });
  const targets = completeTargets(options.targets, options.models);
  return inSession(platform, source, { ...rest, onStage: inner }, async (session) => {
    const plain = await settingOf(session, options);
    await checkOutput(session, plain, options.output);
    const setting = stitchable(plain);
    const frameBytes = storedFrameBytes(session.facts.track);
    const most = Math.floor(((options.scratchBytes ?? DEFAULT_SCRATCH) * SHOT_SHARE) / frameBytes);
    const tell = (frames: number, total: number) => onStage?.({ kind: 'finding', frames, total });
    const shots = await shotsOf(session, options, tell, most);
    const task = { setting, targets, metrics: metricsOf(targets), keep: options.output !== undefined };
    return new Tuning(session, options, task, plain, place).run(shots);
  });
}

/** The current shot, from 1, and the number of shots. */
type Place = { shot?: number; shots?: number };

/** Makes x264 write equal headers for all values, so that decoders need not change them between shots. */
function stitchable(setting: Setting): Setting {
  if (setting.encoder.name !== 'libx264' || !setting.encoder.options.has('x264-params')) return setting;
  const at = setting.args.indexOf('-x264-params');
  const args =
    at < 0
      ? [...setting.args, '-x264-params', 'stitchable=1']
      : setting.args.with(at + 1, `${setting.args[at + 1]}:stitchable=1`);
  return { ...setting, args };
}

class Tuning {
  /** Encodes of the whole source. */
  #encodes = 0;

  /** @param plain the setting of an encode that is not joined */
  constructor(
    readonly session: Session,
    readonly options: TuneShotsOptions,
    readonly task: ShotTask,
    readonly plain: Setting,
    readonly place: Place,
  ) {}

  async run(shots: readonly Shot[]): Promise<TuneShotsResult> {
    this.place.shots = shots.length;
    const whole = this.options.goal === 'whole';
    const { probes, values: first } = whole ? await this.#tuneWhole(shots) : await this.#tuneEach(shots);
    const single = await this.#single(this.#tunedAt(probes, first));
    const values = whole ? await this.#refined(probes, first, single) : first;
    const tuned = this.#tunedAt(probes, values);
    if (whole) for (const shot of tuned) this.options.onShot?.(shot);
    const frames = framesAt(probes, values);
    const { output: requested, keepMissed, onStage } = this.options;
    const output = keepMissed || this.#margin(shots, frames) >= 0 ? requested : undefined;
    if (output !== undefined) onStage?.({ kind: 'joining', shots: shots.length });
    const joined =
      output === undefined ? null : await joinShots(this.session, this.task, probes, values, frames, output);
    const final = joined && { ...joined.final, reached: this.#margin(shots, joined.frames) >= 0 };
    const unwritten = requested !== undefined && output === undefined ? requested : null;
    return { ...this.#summary(probes, tuned, frames, single), final, unwritten };
  }

  /** Starts each search at the previous shot's value. */
  async #tuneEach(shots: readonly Shot[]) {
    const probes: ShotProbe[] = [];
    const values: number[] = [];
    const { targets, perSecond } = this.#goal;
    let { setting } = this.task;
    for (const [i, shot] of shots.entries()) {
      this.place.shot = i + 1;
      const opened = await openShot(this.session, { ...this.task, setting }, shot, i + 1);
      const { probe } = opened;
      const value = await findValue(probe, ({ metrics }) => marginOf(targets, metrics, perSecond, heightTo));
      await probe.measure(value);
      await probe.removeFiles(value);
      await probe.material.release();
      probes.push(opened);
      values.push(value);
      this.options.onShot?.(this.#tuned(opened, value));
      setting = startingAt(setting, value);
    }
    return { probes, values };
  }

  async #tuneWhole(shots: readonly Shot[]) {
    const probes: ShotProbe[] = [];
    for (const [i, shot] of shots.entries())
      probes.push(await openShot(this.session, this.task, shot, i + 1));
    return { probes, values: await this.#allocated(probes) };
  }

  /** @param value of all shots, from which to start */
  async #allocated(probes: readonly ShotProbe[], value?: number): Promise<readonly number[]> {
    const { grid } = this.task.setting.parameter;
    const measure = async ({ number, probe }: ShotProbe, places: readonly number[]) => {
      this.place.shot = number;
      for (const at of places) await probe.measure(grid.values[at] as number);
      await probe.material.release();
    };
    const start = value === undefined ? grid.start : grid.values.indexOf(value);
    if (value !== undefined) for (const shot of probes) await measure(shot, [start]);
    const places = await tuneWhole(probes, { ...grid, start }, this.#goal, measure);
    return places.map((at) => grid.values[at] as number);
  }

  /** Allocates again around one value for all if that needs fewer bytes: the curves were too coarse there. */
  async #refined(probes: readonly ShotProbe[], values: readonly number[], single: SingleSetting) {
    const bytesOf = (of: readonly number[]) =>
      this.#tunedAt(probes, of).reduce((sum, { bytes }) => sum + bytes, 0);
    if (!single.reached || single.bytes >= bytesOf(values)) return values;
    const again = await this.#allocated(probes, single.value);
    delete this.place.shot;
    const common = probes.map(() => single.value);
    const [best = values] = [values, again, common]
      .filter((all) => wholeMargin(this.#goal, framesAt(probes, all)) >= 0)
      .sort((a, b) => bytesOf(a) - bytesOf(b));
    return best;
  }

  #tunedAt(probes: readonly ShotProbe[], values: readonly number[]): readonly TunedShot[] {
    return probes.map((probe, i) => this.#tuned(probe, values[i] as number));
  }

  get #goal(): { readonly targets: readonly CompleteTarget[]; readonly perSecond: number } {
    return { targets: this.task.targets, perSecond: this.session.perSecond };
  }

  #margin(shots: readonly Shot[], frames: readonly FrameValues[], to = marginTo): number {
    if (this.options.goal === 'whole' || shots.length === 0) return wholeMargin(this.#goal, frames, to);
    return Math.min(...frames.map((values) => wholeMargin(this.#goal, [values], to)));
  }

  #tuned({ shot, number, probe }: ShotProbe, value: number): TunedShot {
    const points = probe.onGrid().map((point) => probe.encoded(point));
    const { bytes, pooled } = points.find((point) => point.value === value) as TunedShot['points'][number];
    const kbps = (bytes * 8) / shot.seconds / 1000;
    const margin = wholeMargin(this.#goal, [framesOf(probe, value)]);
    return { ...shot, number, value, bytes, kbps, pooled, margin, points };
  }

  #summary(
    probes: readonly ShotProbe[],
    shots: readonly TunedShot[],
    frames: readonly FrameValues[],
    single: SingleSetting,
  ) {
    const { facts, perSecond, source } = this.session;
    const { setting, targets } = this.task;
    const bytes = shots.reduce((sum, shot) => sum + shot.bytes, 0);
    const margin = this.#margin(shots, frames);
    const { times } = facts;
    const startTime = facts.track.startTime ?? 0;
    const middle = (at: number) => ((times[at - 1] ?? 0) + (times[at] ?? 0)) / 2;
    return {
      source: String(source),
      ...(facts.opening && { opening: facts.opening }),
      startTime,
      lead: facts.lead ?? 0,
      seeks: shots.map(({ first }) => startTime + middle(first)),
      ...settingFacts(setting),
      goal: this.options.goal ?? 'each',
      targets,
      shots,
      reached: margin >= 0,
      margin,
      bytes,
      kbps: (bytes * 8 * perSecond) / facts.times.length / 1000,
      pooled: pooledShots(frames),
      single,
      saving: 1 - bytes / single.bytes,
      encodes: probes.reduce((sum, { probe }) => sum + probe.encodes, this.#encodes),
      cached: shots.reduce((sum, { points }) => sum + points.filter(({ cached }) => cached).length, 0),
      args: shots.map(({ value }) => encodeArguments(setting, value)),
      warnings: [
        ...this.session.notes,
        ...lossesOf(facts, wholeEncode(setting, shots[0]?.value ?? 0)),
        ...lostTracks(facts, this.options.output),
      ],
    } satisfies Omit<TuneShotsResult, 'final' | 'unwritten'>;
  }

  /** The coarsest value with which one normal encode of the whole reaches the goal. Makes and scores that encode. */
  async #single(shots: readonly TunedShot[]): Promise<SingleSetting> {
    const { setting, metrics } = this.task;
    const { values } = setting.parameter.grid;
    const places = shots.map(({ value }) => values.indexOf(value));
    // For the goal `each`, the most difficult shot decides.
    const mean = Math.round(places.reduce((sum, at) => sum + at, 0) / places.length);
    const start = values[this.options.goal === 'whole' ? mean : Math.min(...places)] as number;
    const task = { material: wholeSource(this.session), setting: startingAt(this.plain, start), metrics };
    const probe = await Probe.open(this.session, task);
    const marginOf = (point: Measured, to = marginTo) => {
      const frames = shots.map((shot) => framesIn(point, shot));
      return this.#margin(shots, frames, to);
    };
    delete this.place.shot;
    const value = await findValue(probe, (point) => marginOf(point, heightTo));
    const point = await probe.measure(value);
    this.#encodes += probe.encodes;
    return { value, bytes: point.bytes, reached: marginOf(point) >= 0 };
  }
}

function framesIn({ metrics }: Measured, { first, count }: Shot): FrameValues {
  return Object.fromEntries(
    Object.entries(metrics).map(([name, [values = []]]) => [name, values.slice(first, first + count)]),
  );
}

function startingAt(setting: Setting, value: number): Setting {
  const { parameter } = setting;
  const start = parameter.grid.values.indexOf(value);
  return { ...setting, parameter: { ...parameter, grid: { ...parameter.grid, start } } };
}

function framesAt(probes: readonly ShotProbe[], values: readonly number[]): readonly FrameValues[] {
  return probes.map(({ probe }, i) => framesOf(probe, values[i] as number));
}

function framesOf(probe: Probe, value: number): FrameValues {
  const metrics = probe.points().find((point) => point.value === value)?.metrics ?? {};
  return Object.fromEntries(Object.entries(metrics).map(([name, samples]) => [name, samples.flat()]));
}
