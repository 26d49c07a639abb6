/**
 * @module metrics/metric
 * What every metric is: a description, what the core measures for it, and how features are made of that.
 */

import type { Compat } from '../core/choices.js';
import type { ScoredFormat } from '../core/colour.js';
import { AnyvmafError } from '../core/errors.js';
import type { CallArgument, CoreCall, HeatmapFile } from '../core/kernel.js';
import { quoted } from '../core/printable.js';
import type { ExtractorSpec, OptionValue } from './spec.js';

/** An extractor with all its options decided. */
export interface ExtractorInstance {
  readonly spec: ExtractorSpec;
  /** The value of every option of the extractor. */
  readonly options: Readonly<Record<string, OptionValue>>;
  /** Names of the options that were given, whatever their value. */
  readonly given: ReadonlySet<string>;
  /** What the names of its features end in; empty when all options that count have their defaults. */
  readonly suffix: string;
  /** The place where it was asked for, as messages call it: `model "vmaf"`. */
  readonly where: string;
  /** Two instances with the same key are one to libvmaf: only the first registered runs. */
  readonly key: string;
}

/** One way to measure a metric. Instances whose variants have the same options share a measurement. */
export interface Variant {
  readonly options: readonly number[];
  /**
   * How much is measured: planes, or 0 and 1 for parts that can be left out. What instances share is measured as far as
   * one of them needs it.
   */
  readonly extent: readonly number[];
  /** Where its pictures go; a variant that has some is shared with no other. */
  readonly heatmaps?: readonly HeatmapFile[];
}

/** A call of the core as its metric gives it; by default it reads luma of one pair. */
export type KernelCall = Pick<CoreCall, 'run' | 'args' | 'fields' | 'cost'> & Partial<CoreCall>;

/**
 * Hands over the value of a feature of a frame, both by number and internal name. Features that the run does not emit
 * and frames that it does not list are ignored, so a finisher offers all it has.
 */
export type Emit = (frame: number, feature: string, value: number) => void;

/**
 * A double of what was measured for an instance on a frame, by index.
 * @throws {AnyvmafError} `internal` for an index beyond what its metric measures
 */
export type Fields = (index: number) => number;

/** Turns the measurements of one extractor instance into its features, frame by frame in order. */
export interface Finisher {
  /** Takes the next frame. */
  push(frame: number, fields: Fields, emit: Emit): void;
  /** Ends the sequence: emits what had to wait for later frames. */
  flush?(emit: Emit): void;
  /** Values for the whole sequence by internal name. */
  aggregates?(): Readonly<Record<string, number>>;
}

/** A metric: everything that the library knows of a feature extractor. */
export interface Metric {
  readonly spec: ExtractorSpec;
  /**
   * What to measure for an instance; `null` when its features need no measurement.
   * @throws {AnyvmafError} `feature` when the extractor cannot work on the format or with its options
   */
  measure(instance: ExtractorInstance, format: ScoredFormat, compat: Compat): Variant | null;
  /** The calls that measure variants, with the same number of fields for each of them, in their order. */
  calls(variants: readonly Variant[], format: ScoredFormat): readonly KernelCall[];
  /** The last step of an instance, from what {@link measure} asked for. */
  finish(instance: ExtractorInstance, format: ScoredFormat, compat: Compat): Finisher;
  /** What a user should know of an instance, a full sentence. */
  warning?(instance: ExtractorInstance): string | undefined;
}

/** The variant of a metric that has only one. */
export const ONLY: Variant = { options: [], extent: [] };

/**
 * Variants measured one by one by a function of the core that takes frames and a struct of doubles (`anyvmaf_NAME`), and
 * by its twin `anyvmaf_NAME_map` where heatmaps are wanted.
 * @param kernel what all its calls have in common
 */
export function callEach(
  name: string,
  kernel: Pick<CoreCall, 'fields' | 'cost'> & Partial<Pick<CoreCall, 'back' | 'pictures'>>,
  readsChroma: (variant: Variant) => boolean = () => false,
): Metric['calls'] {
  return (variants) =>
    variants.map((variant) => {
      const { options, heatmaps } = variant;
      return {
        ...kernel,
        run: heatmaps ? `${name}_map` : name,
        args: ['frames', 'parameters', ...(heatmaps ? ['heatmaps' as const] : [])],
        parameters: doubles(options),
        chroma: readsChroma(variant),
        ...(heatmaps && { heatmaps }),
      };
    });
}

/** Numbers as the core takes them. */
export function doubles(values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer);
}

/** Luma of the reference, of the pair measured or of one before it. */
export function referenceLuma(back = 0): CallArgument {
  return { of: 'reference', plane: 0, back };
}

/** Luma of both pictures of the pair measured. */
export const LUMA_PAIR: readonly CallArgument[] = [referenceLuma(), { of: 'distorted', plane: 0, back: 0 }];

/** The list in parts of `most` at most. */
export function inGroups<T>(list: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / most) }, (_, i) =>
    list.slice(i * most, (i + 1) * most),
  );
}

/** An extractor's measurements and its variants as calls of the core. */
export function coreCalls(
  { spec, calls }: Metric,
  variants: readonly Variant[],
  format: ScoredFormat,
): readonly CoreCall[] {
  // What looks back, or sums up the whole sequence, skips no frame.
  const everyFrame = spec.temporal || spec.previousReference;
  return calls(variants, format).map((call) => ({
    ...{ back: 0, pictures: 'pair', chroma: false },
    ...call,
    metric: spec.name,
    ...(spec.module && { module: spec.module }),
    everyFrame,
  }));
}

/** A boolean option of an instance. */
export function flagOption(instance: ExtractorInstance, name: string): boolean {
  const value = instance.options[name];
  if (typeof value !== 'boolean')
    throw new AnyvmafError('internal', `${instance.key} has no flag ${quoted(name)}.`);
  return value;
}

/** A numeric option of an instance. */
export function numberOption(instance: ExtractorInstance, name: string): number {
  const value = instance.options[name];
  if (typeof value !== 'number')
    throw new AnyvmafError('internal', `${instance.key} has no number ${quoted(name)}.`);
  return value;
}

/** The text an option of an instance has. */
export function choiceOption(instance: ExtractorInstance, name: string): string {
  const value = instance.options[name];
  if (typeof value !== 'string')
    throw new AnyvmafError('internal', `${instance.key} has no choice ${quoted(name)}.`);
  return value;
}
