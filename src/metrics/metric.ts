/**
 * @module metrics/metric
 * The interface of all metrics: a spec, what the core measures, and how to compute features from that.
 */
import type { Compat } from '../core/choices.js';
import type { ScoredFormat } from '../core/colour.js';
import { internalError } from '../core/errors.js';
import type { CallArgument, CoreCall, HeatmapFile } from '../core/module.js';
import { quoted } from '../core/printable.js';
import type { ExtractorSpec, OptionValue } from './spec.js';

/** An extractor with all its options resolved. */
export interface ExtractorInstance {
  readonly spec: ExtractorSpec;
  readonly options: Readonly<Record<string, OptionValue>>;
  /** Options that were given, whatever their values. */
  readonly given: ReadonlySet<string>;
  /** Suffix of its features' names; empty if all options that names include have their defaults. */
  readonly suffix: string;
  /** Where it was requested, for messages: `model "vmaf"`. */
  readonly where: string;
  /** libvmaf treats instances with the same key as one: only the first registered runs. */
  readonly key: string;
}

/** What to measure for an instance. Instances with the same `options` share a measurement. */
export interface Variant {
  readonly options: readonly number[];
  /** How much to measure: planes, or 0 and 1 for optional parts. A shared measurement covers the largest extent. */
  readonly extent: readonly number[];
  /** Where to write pictures; a variant with heatmaps is not shared. */
  readonly heatmaps?: readonly HeatmapFile[];
}

/** A core call from a metric; by default it reads luma of one pair. */
export type KernelCall = Pick<CoreCall, 'run' | 'args' | 'fields' | 'cost'> & Partial<CoreCall>;

/** By frame number and internal name; ignores features and frames outside the run, so finishers emit everything. */
export type Emit = (frame: number, feature: string, value: number) => void;

/** @throws {AnyvmafError} `internal` for an index beyond what the metric measures */
export type Fields = (index: number) => number;

/** Turns measurements of one extractor instance into features, frame by frame in order. */
export interface Finisher {
  push(frame: number, fields: Fields, emit: Emit): void;
  /** Emits values that waited for later frames. */
  flush?(emit: Emit): void;
  /** By internal name. */
  aggregates?(): Readonly<Record<string, number>>;
}

/** For features that depend only on their own frame. */
export function eachFrame(push: Finisher['push']): Finisher {
  return { push };
}

export interface Metric {
  readonly spec: ExtractorSpec;
  /**
   * `null` if the features need no measurement.
   * @throws {AnyvmafError} `feature` if the extractor cannot work with the format or its options
   */
  measure(instance: ExtractorInstance, format: ScoredFormat, compat: Compat): Variant | null;
  /** Calls that measure all variants in order, with the same number of fields for each. */
  calls(variants: readonly Variant[], format: ScoredFormat): readonly KernelCall[];
  finish(instance: ExtractorInstance, format: ScoredFormat, compat: Compat): Finisher;
  /** Advice to the user about an instance, as a full sentence. */
  warning?(instance: ExtractorInstance): string | undefined;
}

/** For metrics with a single variant. */
export const ONLY: Variant = { options: [], extent: [] };

/** Calls a core function of frames and doubles for each variant: `anyvmaf_NAME`, or `anyvmaf_NAME_map` for heatmaps. */
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

export function doubles(values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer);
}

/** Luma of the reference, `back` pairs ago. */
export function referenceLuma(back = 0): CallArgument {
  return { of: 'reference', plane: 0, back };
}

export const LUMA_PAIR: readonly CallArgument[] = [referenceLuma(), { of: 'distorted', plane: 0, back: 0 }];

export function inGroups<T>(list: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / most) }, (_, i) =>
    list.slice(i * most, (i + 1) * most),
  );
}

export function coreCalls(
  { spec, calls }: Metric,
  variants: readonly Variant[],
  format: ScoredFormat,
): readonly CoreCall[] {
  // No frame may be skipped if an extractor looks back or sums over the sequence.
  const everyFrame = spec.temporal || spec.previousReference;
  const shared = { metric: spec.name, ...(spec.module && { module: spec.module }), everyFrame };
  return calls(variants, format).map((call) => {
    return { back: 0, pictures: 'pair', chroma: false, ...call, ...shared };
  });
}

function optionReader<T extends OptionValue>(type: string, kind: string) {
  return ({ options, key }: ExtractorInstance, name: string): T => {
    const value = options[name];
    if (typeof value === type) return value as T;
    throw internalError(`${key} has no ${kind} ${quoted(name)}.`);
  };
}

export const flagOption = optionReader<boolean>('boolean', 'flag');
export const numberOption = optionReader<number>('number', 'number');
export const choiceOption = optionReader<string>('string', 'choice');
