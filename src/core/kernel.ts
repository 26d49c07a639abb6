/**
 * @module core/kernel
 * The metrics of the core that share one calling convention (wasm/include/anyvmaf.h): how to call each and what it costs.
 */

/** How the core's function `anyvmaf_NAME` is called. */
export interface MetricSpec {
  /** Doubles in its options struct. */
  readonly options: number;
  /** Doubles it gives per frame. */
  readonly fields: number;
  /** What it needs of the pair before the one it measures. */
  readonly history: 'none' | 'reference' | 'pair';
  /** Pictures of the pair that it reads. */
  readonly pictures: 'reference' | 'pair';
  /** Measured on every frame, also on those that subsampling leaves out. */
  readonly everyFrame: boolean;
  /** Nanoseconds per luma sample, measured: to tell a moment from a wait. */
  readonly cost: number;
}

function metric(
  options: number,
  fields: number,
  cost: number,
  history: MetricSpec['history'] = 'none',
  pictures: MetricSpec['pictures'] = 'pair',
): MetricSpec {
  return { options, fields, history, pictures, everyFrame: history !== 'none', cost };
}

const METRICS = {
  float_psnr: metric(0, 1, 0.5),
  float_moment: metric(0, 4, 2),
  float_ansnr: metric(0, 2, 18),
  float_ssim: metric(1, 4, 20),
  float_ms_ssim: metric(0, 16, 45),
  float_motion: metric(3, 1, 6, 'reference', 'reference'),
  float_vif: metric(6, 8, 35),
  float_adm: metric(13, 12, 15),
  psnr_hvs: metric(0, 3, 8),
  ciede: metric(0, 1, 180),
  cambi: metric(13, 2, 10),
  speed_chroma: metric(7, 5, 2),
  speed_temporal: metric(7, 2, 2, 'pair'),
} as const satisfies Record<string, MetricSpec>;

/** A metric of the core. */
export type MetricName = keyof typeof METRICS;

/** How a metric is called. */
export function metricSpec(name: MetricName): MetricSpec {
  return METRICS[name];
}

/** A file of pictures, one per frame: what a metric gives of every sample beside its numbers. */
export interface HeatmapFile {
  /** The folder it stands in, as the caller named it. */
  readonly folder: string;
  readonly name: string;
  /** Samples of a picture, 16 bits each, little-endian. */
  readonly samples: number;
}

/** One way to run a metric. */
export interface MetricVariant {
  readonly metric: MetricName;
  /** The members of its options struct in order; flags are 0 or 1. */
  readonly options: readonly number[];
  /** Whether it reads the chroma planes. */
  readonly chroma: boolean;
  /** Where its pictures go, scale by scale, if they are wanted. */
  readonly heatmaps?: readonly HeatmapFile[];
}
