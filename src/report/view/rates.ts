/**
 * @module report/view/rates
 * Quality over bit rate: a point for every encode, the encodes of a codec joined.
 */
import { type Encode, type EncodeList, rateOf } from './encodes.js';
import { roundStep } from './scales.js';
import type { Templates } from './template.js';

/** An encode that has both. */
export interface RatePoint {
  readonly index: number;
  readonly name: string;
  /** Bits per second. */
  readonly rate: number;
  readonly quality: number;
  readonly codec: string | undefined;
}

/** Encodes with a bit rate and a mean of a metric, by bit rate. */
export function ratePoints<E extends Encode>(encodes: EncodeList<E>, metric: string): RatePoint[] {
  return encodes.list
    .flatMap((encode): RatePoint[] => {
      const [rate, quality] = [rateOf(encode), encodes.pooled(encode, metric)?.mean];
      if (rate === undefined || !(rate > 0) || quality === undefined || !Number.isFinite(quality)) return [];
      const { index, name, facts } = encode;
      return [{ index, name, rate, quality, codec: facts.pairing?.distorted.codec }];
    })
    .sort((a, b) => a.rate - b.rate);
}

/** Axes of the chart: bit rates from nothing on unless that leaves most of it empty, qualities within their range. */
export interface RateAxes {
  readonly across: readonly [low: number, high: number];
  readonly up: readonly [low: number, high: number];
  /** Bits per second of one unit, and its name. */
  readonly unit: readonly [bits: number, name: string];
}

/** @param limits what scores can be */
export function rateAxes(
  points: readonly RatePoint[],
  limits: readonly [number, number] | undefined,
): RateAxes {
  const rates = points.map(({ rate }) => rate);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const from = low < 0.5 * high ? 0 : Math.max(0, low - 0.15 * (high - low || high));
  const to = high + 0.1 * (high - from);
  return {
    across: [from, to],
    up: qualityRange(points, limits),
    unit: to >= 1e7 ? [1e6, 'Mb/s'] : [1e3, 'kb/s'],
  };
}

/** All points with some air, within what scores can be. */
function qualityRange(
  points: readonly RatePoint[],
  limits: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): [number, number] {
  const values = points.map(({ quality }) => quality);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = Math.max((high - low) * 0.15, Math.abs(high) / 100, 1e-6);
  const step = roundStep(high - low + 2 * air, 6);
  return [
    Math.max(limits[0], Math.floor((low - air) / step) * step),
    Math.min(limits[1], Math.ceil((high + air) / step) * step),
  ];
}

/** What tells the lines of codecs apart: pixels drawn and left out in turn. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

export function dashOf(group: number): readonly number[] {
  return DASHES[group % DASHES.length] ?? [];
}

/** The codecs of points, each of which has a line. */
export function codecsOf(points: readonly RatePoint[]): (string | undefined)[] {
  return [...new Set(points.map(({ codec }) => codec))];
}

/** What the lines stand for. */
export function codecKey<T>({ html }: Templates<T>, codecs: readonly (string | undefined)[]): T[] {
  return codecs.map(
    (codec, i) =>
      html`<span><svg width="28" height="8"><line x2="28" y1="4" y2="4" stroke="var(--faint)" stroke-width="1.5" stroke-dasharray="${dashOf(i).join(' ')}"></line></svg>${codec ?? 'codec not known'}</span>`,
  );
}
