/**
 * @module search/shot-probe
 * One shot under work: cut losslessly when it is needed, encoded with a few values, and its curve.
 */
import type { Curve } from './allocate.js';
import { marginOf } from './estimate.js';
import { cutMaterial, type Material } from './material.js';
import type { KnownPoint, Measured } from './points.js';
import { Probe } from './probe.js';
import type { Session } from './session.js';
import type { Setting } from './setting.js';
import type { Shot } from './shots-types.js';
import { type CompleteTarget, marginTo } from './targets.js';
import type { EncodedPoint } from './types.js';

/** What the shots of a video share. */
export interface ShotTask {
  readonly setting: Setting;
  readonly targets: readonly CompleteTarget[];
  readonly metrics: readonly string[];
  /** Whether encodes stay in the folder, to be joined. */
  readonly keep: boolean;
}

/** A shot and the points of its curve. */
export class ShotProbe {
  readonly shot: Shot;
  /** From 1. */
  readonly number: number;
  readonly #session: Session;
  readonly #task: ShotTask;
  readonly #probe: Probe;
  readonly #release: () => Promise<void>;

  private constructor(
    session: Session,
    task: ShotTask,
    shot: Shot,
    number: number,
    probe: Probe,
    release: () => Promise<void>,
  ) {
    this.#session = session;
    this.#task = task;
    this.shot = shot;
    this.number = number;
    this.#probe = probe;
    this.#release = release;
  }

  static async open(session: Session, task: ShotTask, shot: Shot, number: number): Promise<ShotProbe> {
    const { material, release } = shotMaterial(session, shot, `shot-${number}.y4m`);
    const probe = await Probe.open(session, {
      material,
      setting: task.setting,
      metrics: task.metrics,
      ...(task.keep && { keep: `shot-${number}` }),
    });
    return new ShotProbe(session, task, shot, number, probe, release);
  }

  get encodes(): number {
    return this.#probe.encodes;
  }

  get probe(): Probe {
    return this.#probe;
  }

  /** How far a point is above the hardest target, by itself. */
  margin(point: Measured, to = marginTo): number {
    const { targets } = this.#task;
    return marginOf(targets, (metric) => point.metrics[metric] ?? [], this.#session.perSecond, to);
  }

  measure(value: number): Promise<KnownPoint> {
    return this.#probe.measure(value);
  }

  /** The points on the grid of values. */
  curve(): Curve {
    const { values } = this.#task.setting.parameter.grid;
    return this.#probe
      .points()
      .map(({ value, bytes, metrics }) => ({ at: values.indexOf(value), bytes, metrics }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at);
  }

  /** Every point as users see it, from the best picture to the smallest file. */
  points(): readonly EncodedPoint[] {
    const order = (value: number) => this.#task.setting.parameter.grid.values.indexOf(value);
    return this.#probe
      .points()
      .map((point) => this.#probe.encoded(point))
      .filter(({ value }) => order(value) >= 0)
      .sort((a, b) => order(a.value) - order(b.value));
  }

  /** Removes the lossless copy, which is cut again when it is needed. */
  release(): Promise<void> {
    return this.#release();
  }
}

/** A shot's frames, and one to either side, in a lossless file that may be removed and cut again. */
function shotMaterial(
  session: Session,
  { first, count }: Shot,
  name: string,
): { readonly material: Material; readonly release: () => Promise<void> } {
  const from = Math.max(0, first - 1);
  const until = Math.min(session.facts.times.length, first + count + 1);
  const sample = { scored: { first, count }, encoded: { first: from, count: until - from } };
  const cut = () => cutMaterial(session, [sample], name);
  let current: Material | undefined;
  return {
    material: {
      ...cut(),
      frames: count,
      encoded: { first: first - from, count },
      open() {
        current ??= cut();
        return current.open();
      },
    },
    async release() {
      if (!current) return;
      current = undefined;
      await session.folder.remove(name);
    },
  };
}
