/**
 * @module search/ladder
 * Builds a bitrate ladder: measures the curve of each size, takes their hull, and chooses rungs on it.
 */

import { type AnyvmafError, usageError } from '../core/errors.js';
import type { PictureSize } from '../core/size.js';
import type { VideoInput } from '../media/types.js';
import {
  bestAt,
  type Choice,
  type Curves,
  cheapestAt,
  convexHull,
  fineChoice,
  measureCurve,
  measureOf,
  qualityOf,
  type RisingCurve,
  rising,
  risingCurve,
  risingRange,
  takeovers,
} from './curves.js';
import {
  lossesOf,
  notCopied,
  SEGMENT_STARTS,
  segmentArguments,
  segmentFrames,
  streamingCommand,
} from './deliverable.js';
import type { SearchPlatform, SourceFacts } from './host.js';
import { type Material, sampledSource } from './material.js';
import { checkLadderOptions } from './options.js';
import { Probe } from './probe.js';
import { inSession, type Session, type Setting, settingOf, sourceName, wholeEncode } from './session.js';
import { byGrid, indexNear, rises } from './strategy.js';
import { type CompleteMeasure, type KnownPoint, poolingOf, scoreName } from './targets.js';
import type { LadderCurve, LadderOptions, LadderPoint, LadderResult } from './types.js';

const DEFAULT_RUNGS = 5;
/** Smallest side in pixels for which scores make sense. */
const LEAST_SIDE = 16;

/** @throws {AnyvmafError} as the public `buildLadder` says; the signal's reason if aborted */
export async function buildLadder(
  platform: SearchPlatform,
  source: VideoInput,
  options: LadderOptions,
): Promise<LadderResult> {
  checkLadderOptions(options);
  const measure = measureOf(options);
  return inSession(platform, source, options, async (session) => {
    const sizes = sizesOf(options.sizes, session.facts);
    const segment = segmentFrames(session.perSecond);
    const material = inSegments(await sampledSource(session, options.full, [measure.statistic]), segment);
    const plain = await settingOf(session, fineChoice(options));
    // Samples already begin with key frames; the whole source needs them forced, as in the delivered ladder.
    const starts = material.isSource ? SEGMENT_STARTS : [];
    const setting = { ...plain, args: [...plain.args, ...segmentArguments(session.perSecond), ...starts] };
    const metrics = [poolingOf(measure).from];
    const steps: Step[] = [];
    for (const size of sizes) {
      const own = isSourceSize(size, session.facts) ? setting : { ...setting, size };
      const probe = await Probe.open(session, { material, setting: own, segment, metrics });
      steps.push({ size, probe });
    }
    return new Ladder(session, options, measure, setting, steps).run();
  });
}

/** Gives samples key frames as often as segments have them. */
function inSegments(material: Material, segment: number): Material {
  let last = Number.NEGATIVE_INFINITY;
  const keys = (material.starts ?? []).filter((start) => {
    if (start - last < segment) return false;
    last = start;
    return true;
  });
  return { ...material, keys };
}

interface Step {
  readonly size: PictureSize;
  readonly probe: Probe;
}

class Ladder {
  readonly #session: Session;
  readonly #options: LadderOptions;
  readonly #measure: CompleteMeasure;
  readonly #setting: Setting;
  readonly #steps: readonly Step[];

  constructor(
    session: Session,
    options: LadderOptions,
    measure: CompleteMeasure,
    setting: Setting,
    steps: readonly Step[],
  ) {
    this.#session = session;
    this.#options = options;
    this.#measure = measure;
    this.#setting = setting;
    this.#steps = steps;
  }

  async run(): Promise<LadderResult> {
    const { targets, onPoint } = this.#options;
    const task = { targets, measure: this.#measure, perSecond: this.#session.perSecond };
    for (const step of this.#steps) {
      const tell = (point: KnownPoint) => onPoint?.(this.#point(step, point));
      await measureCurve(step.probe, this.#options, task, tell);
    }
    const rungs = await this.#rungs();
    return this.#result(rungs);
  }

  #point({ size, probe }: Step, point: KnownPoint): LadderPoint {
    const quality = qualityOf(point, this.#measure, this.#session.perSecond);
    return { ...size, ...probe.encoded(point), quality };
  }

  /** On the encoder's grid only. */
  #points(step: Step): readonly LadderPoint[] {
    const points = step.probe.points().map((point) => this.#point(step, point));
    return byGrid(points, step.probe.setting.parameter.grid);
  }

  #curves(): Curves<Step> {
    return this.#steps.flatMap((step) => {
      const curve = risingCurve(this.#points(step).map(rising(this.#measure)));
      return curve ? [[step, curve] as const] : [];
    });
  }

  #hull(): readonly LadderPoint[] {
    const up = rising(this.#measure);
    return convexHull(this.#steps.flatMap((step) => this.#points(step)).map(up)).map(up);
  }

  /** Chooses rungs on the best curve, measures new ones, and keeps each value once. */
  async #rungs(): Promise<readonly LadderPoint[]> {
    const curves = this.#curves();
    const hull = this.#hull();
    const [lowest, highest] = [hull[0], hull.at(-1)];
    if (!lowest || !highest) throw new Error('nothing was measured');
    const chosen = new Map<string, LadderPoint>();
    for (const { name: step, kbps } of this.#places(curves, lowest, highest)) {
      const curve = curves.find(([one]) => one === step)?.[1] as RisingCurve;
      const known = step.probe.points();
      const { values } = step.probe.setting.parameter.grid;
      const value = values[indexNear(values, curve.valueAt(kbps))] as number;
      const point = await step.probe.measure(value);
      if (!known.includes(point)) this.#options.onPoint?.(this.#point(step, point));
      chosen.set(`${step.size.height} ${value}`, this.#point(step, point));
    }
    return [...chosen.values()].sort((a, b) => a.kbps - b.kbps);
  }

  /** Evenly spaced places on the best curve. */
  #places(curves: Curves<Step>, lowest: LadderPoint, highest: LadderPoint): readonly Choice<Step>[] {
    const { rungs = DEFAULT_RUNGS, spacing = 'rate', between } = this.#options;
    const up = rising(this.#measure);
    const wanted = risingRange(this.#measure, between ?? usualRange(this.#measure, this.#options));
    const ends = [up(lowest).quality, up(highest).quality] as const;
    let [low, high] = [Math.max(ends[0], wanted.min), Math.min(ends[1], wanted.max)];
    if (low > high) {
      if (between) throw outOfReach(between, lowest, highest);
      [low, high] = ends;
    }
    const [first, last] = [cheapestAt(curves, low), cheapestAt(curves, high)];
    const share = (i: number) => (rungs === 1 ? 1 : i / (rungs - 1));
    const from = Math.log(first?.kbps ?? lowest.kbps);
    const until = Math.log(last?.kbps ?? highest.kbps);
    return Array.from({ length: rungs }, (_, i) =>
      spacing === 'quality'
        ? cheapestAt(curves, low + (high - low) * share(i))
        : bestAt(curves, Math.exp(from + (until - from) * share(i))),
    ).filter((place) => place !== undefined);
  }

  #result(rungs: readonly LadderPoint[]): LadderResult {
    const { facts, perSecond, source } = this.#session;
    const { encoder, parameter } = this.#setting;
    const up = rising(this.#measure);
    const curves = this.#steps.map((step): LadderCurve => {
      const points = this.#points(step);
      return { ...step.size, points, notMonotone: rises(points.map(up)) };
    });
    const all = curves.flatMap(({ points }) => points);
    const changes = takeovers(this.#curves());
    const { others = [] } = facts;
    const sound = others.find(({ kind }) => kind === 'audio');
    return {
      kind: 'ladder',
      source: sourceName(facts),
      encoder: encoder.name,
      version: encoder.version,
      parameter: parameter.name,
      ...this.#measure,
      spacing: this.#options.spacing ?? 'rate',
      frameRate: perSecond,
      curves,
      hull: this.#hull(),
      takeovers: changes.map(({ name, kbps, quality }) => up({ ...name.size, kbps, quality })),
      rungs,
      samples: this.#steps[0]?.probe.material.samples ?? null,
      encodes: this.#steps.reduce((sum, { probe }) => sum + probe.encodes, 0),
      cached: all.filter(({ cached }) => cached).length,
      warnings: [
        ...this.#session.notes,
        ...lossesOf(facts, wholeEncode(this.#setting, rungs[0]?.value ?? 0)),
        ...notCopied(others.filter((track) => track !== sound)),
      ],
      command: streamingCommand(String(source), this.#setting, rungs, facts),
    };
  }
}

/** Qualities worth offering: below 40 VMAF unwatchable, above 96 indistinguishable. */
function usualRange({ metric }: CompleteMeasure, { models }: LadderOptions) {
  if (metric === scoreName(models)) return { min: 40, max: 96 };
  return { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
}

function outOfReach(
  between: { min: number; max: number },
  lowest: LadderPoint,
  highest: LadderPoint,
): AnyvmafError {
  return usageError(
    `rungs are requested between ${between.min} and ${between.max}, but the measured quality goes from ` +
      `${lowest.quality.toFixed(2)} to ${highest.quality.toFixed(2)}; measure other values, or request other rungs.`,
  );
}

function isSourceSize({ width, height }: PictureSize, { track }: SourceFacts): boolean {
  return width === track.width && height === track.height;
}

/**
 * From the largest, each once.
 * @throws {AnyvmafError} `usage` for sizes larger than the source, odd where chroma is subsampled, or tiny
 */
function sizesOf(
  sizes: LadderOptions['sizes'],
  { track }: Pick<SourceFacts, 'track'>,
): readonly PictureSize[] {
  const even = (side: number) => Math.max(2, 2 * Math.round(side / 2));
  const whole = sizes.map((size): PictureSize => {
    if (typeof size !== 'number') return size;
    if (size === track.height) return { width: track.width, height: track.height };
    return { width: even((track.width * size) / track.height), height: size };
  });
  const odd = track.chroma === '420' ? 2 : 1;
  for (const { width, height } of whole) {
    const same = isSourceSize({ width, height }, { track } as SourceFacts);
    const fits = width <= track.width && height <= track.height && Math.min(width, height) >= LEAST_SIDE;
    const divisible = same || (width % (track.chroma === '444' ? 1 : 2) === 0 && height % odd === 0);
    if (fits && divisible) continue;
    throw usageError(
      `the ladder has the size ${width}x${height}, but sizes go from ${LEAST_SIDE} pixels up to the source's ` +
        `${track.width}x${track.height}${divisible ? '' : ', with even sides'}; change it, or leave it out.`,
    );
  }
  const once = new Map(whole.map((size) => [`${size.width}x${size.height}`, size]));
  return [...once.values()].sort((a, b) => b.width * b.height - a.width * a.height);
}
