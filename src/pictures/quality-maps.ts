/**
 * @module pictures/quality-maps
 * Types of quality maps: the sums behind VIF and ADM by location, and Butteraugli's difference of each pixel.
 */

/** Cells of one scale: squares of the picture, row by row; the last ones are cut off at the border. */
export interface ScaleCells {
  /** 0 the finest to 3 the coarsest. */
  readonly scale: number;
  /** Cells per row. */
  readonly width: number;
  /** Rows of cells. */
  readonly height: number;
  /** Side of a cell in pixels of the picture. At coarse scales it can be larger than requested. */
  readonly blockSize: number;
}

/** VIF of one scale by cells. All arrays have `width * height` elements. */
export interface VifCells extends ScaleCells {
  /** Information of the reference that the distorted frame preserves. Can be negative. */
  readonly num: Float64Array<ArrayBuffer>;
  /** Information of the reference. */
  readonly den: Float64Array<ArrayBuffer>;
  /**
   * The integers behind `num` and `den`. Their sums give the frame's values bit-exactly:
   * num = f32(numLog / 2048 + (flat - flatVariance / 16384 / 65025)) and den = f32(denLog / 2048 + flat).
   */
  readonly sums: {
    readonly numLog: Float64Array<ArrayBuffer>;
    readonly denLog: Float64Array<ArrayBuffer>;
    /** Variance of the distorted frame in pixels where the reference is flat. */
    readonly flatVariance: Float64Array<ArrayBuffer>;
    /** Number of pixels where the reference is flat. */
    readonly flat: Float64Array<ArrayBuffer>;
  };
  /** The frame's numerator and denominator of the scale: binary32 values. */
  readonly total: { readonly num: number; readonly den: number };
}

/** One band of ADM by cells: sums of cubes; the frame's value is a cube root of their total. */
export interface AdmBandCells {
  /** Cubes of the preserved detail. Multiplied by a power of two they are the frame's integers. */
  readonly num: Float64Array<ArrayBuffer>;
  /** Unweighted cubes of the reference's detail. Multiplied by a power of two they are the frame's integers. */
  readonly den: Float64Array<ArrayBuffer>;
  /** Cubed contrast sensitivity: the factor of the sum of `den` before the cube root. */
  readonly denWeight: number;
}

/** ADM of one scale by cells: bands of horizontal, vertical and diagonal detail. */
export interface AdmCells extends ScaleCells {
  readonly bands: readonly [h: AdmBandCells, v: AdmBandCells, d: AdmBandCells];
  /**
   * The frame's numerator and denominator of the scale: binary32 values, sums over the bands of
   * powf(f32(sum), 1/3) + powf(f32(area * noise weight), 1/3).
   */
  readonly total: { readonly num: number; readonly den: number };
}

export interface FrameCells {
  readonly vif: readonly VifCells[];
  readonly adm: readonly AdmCells[];
}

/** Butteraugli by pixel, row by row. */
export interface ButteraugliMap {
  readonly width: number;
  readonly height: number;
  /** The difference of each pixel: 0 for none, 1 where it begins to be visible. */
  readonly differences: Float32Array<ArrayBuffer>;
  /** The frame's `butteraugli`, which is the largest difference, and its `butteraugli_3norm`. */
  readonly maximum: number;
  readonly norm3: number;
}

export interface CellOptions {
  /** Side of a cell in pixels: a power of two, 4..256. */
  readonly blockSize: number;
  /** `vif_enhn_gain_limit` and `adm_enhn_gain_limit`, 1..100. */
  readonly enhnGainLimit: number;
}
