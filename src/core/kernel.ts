/**
 * @module core/kernel
 * Calls of the core's functions (wasm/include/anyvmaf.h) as plain data; `CoreContext.run` carries them out.
 */

export interface PlaneArgument {
  readonly of: 'reference' | 'distorted';
  /** 0 luma, 1 Cb, 2 Cr. */
  readonly plane: 0 | 1 | 2;
  /** Pairs back from the measured one, 0 for itself. */
  readonly back: number;
}

/**
 * An argument of a core function, between the context and the address of the results. `frames`: the pair and
 * the one before it. `history`: the pair and all earlier ones held, fewer when a clip begins.
 */
export type CallArgument = number | 'frames' | 'history' | 'parameters' | 'heatmaps' | PlaneArgument;

/** A file of pictures, one per frame: a metric's value of every sample. */
export interface HeatmapFile {
  /** The folder, as the caller named it. */
  readonly folder: string;
  readonly name: string;
  /** Samples per picture, 16 bits each, little-endian. */
  readonly samples: number;
}

/** One call of the core for each frame pair. */
export interface CoreCall {
  /** Name of the extractor. */
  readonly metric: string;
  /** The core's function, without `anyvmaf_`. */
  readonly run: string;
  /** Set for functions of perceptual.wasm. */
  readonly module?: 'perceptual';
  readonly args: readonly CallArgument[];
  /** Parameters as structs or doubles, as the function takes them. */
  readonly parameters?: Uint8Array;
  /** Doubles that it returns per frame. */
  readonly fields: number;
  /** Earlier pairs that it reads; of the distorted video too if `pictures` is `pair`. */
  readonly back: number;
  /** Set if it reads only the reference's luma of earlier pairs. */
  readonly earlier?: 'luma';
  /** Also runs while earlier pairs are missing at the start, with null for their planes or a shorter history. */
  readonly padded?: true;
  readonly pictures: 'reference' | 'pair';
  readonly chroma: boolean;
  /** Also measured on frames that subsampling leaves out. */
  readonly everyFrame: boolean;
  /** Nanoseconds per luma sample, measured; decides how many workers a run is worth. */
  readonly cost: number;
  /** Files of its heatmaps by scale, if they are wanted. */
  readonly heatmaps?: readonly HeatmapFile[];
}
