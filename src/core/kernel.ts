/**
 * @module core/kernel
 * Calls of the core's functions (wasm/include/anyvmaf.h) as plain data: metrics make them, plans and messages to workers
 * hold them, and `CoreContext.run` carries them out.
 */

/** A plane in the core's memory. */
export interface PlaneArgument {
  readonly of: 'reference' | 'distorted';
  /** 0 luma, 1 Cb, 2 Cr. */
  readonly plane: 0 | 1 | 2;
  /** Of the pair measured or of how many pairs before it. */
  readonly back: number;
}

/**
 * An argument of a core function; before them comes the context, after them where the results go. `frames`: the pair and
 * the one before it. `history`: the pair and all held of those before it, which are fewer when a clip begins.
 */
export type CallArgument = number | 'frames' | 'history' | 'parameters' | 'heatmaps' | PlaneArgument;

/** A file of pictures, one per frame: what a metric gives of every sample beside its numbers. */
export interface HeatmapFile {
  /** The folder it stands in, as the caller named it. */
  readonly folder: string;
  readonly name: string;
  /** Samples of a picture, 16 bits each, little-endian. */
  readonly samples: number;
}

/** One call of the core for each frame pair. */
export interface CoreCall {
  /** The extractor it is for. */
  readonly metric: string;
  /** The core's function, without `anyvmaf_`. */
  readonly run: string;
  /** Set if it is a function of perceptual.wasm. */
  readonly module?: 'perceptual';
  readonly args: readonly CallArgument[];
  /** Bytes of its parameters, if it has some: structs or doubles as the function takes them. */
  readonly parameters?: Uint8Array;
  /** Doubles it gives per frame. */
  readonly fields: number;
  /** Earlier pairs it looks back to; of the distorted video too where it reads pairs. */
  readonly back: number;
  /** Set if it reads no more of earlier pairs than the reference's luma. */
  readonly earlier?: 'luma';
  /** Also measured while earlier pairs are missing at the start: it gets null for their planes, or a shorter history. */
  readonly padded?: true;
  /** Pictures of the pair that it reads. */
  readonly pictures: 'reference' | 'pair';
  /** Whether it reads the chroma planes. */
  readonly chroma: boolean;
  /** Measured on every frame, also on those that subsampling leaves out. */
  readonly everyFrame: boolean;
  /** Nanoseconds per luma sample, measured: to tell a moment from a wait. */
  readonly cost: number;
  /** Where its pictures go, scale by scale, if they are wanted. */
  readonly heatmaps?: readonly HeatmapFile[];
}
