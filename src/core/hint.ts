/**
 * @module core/hint
 * What resolves a finding or a refusal, as data; each door has its own words for it: a flag, a parameter, a button.
 */
import type { ScaleFilter } from './choices.js';
import type { ChromaFormat } from './frame.js';

/** Options that findings advise, with values as the API takes them. */
interface OptionValues {
  readonly frameRatePolicy: 'nearest';
  readonly model: string;
  readonly offset: number | 'auto';
  /** The geometry of raw video. */
  readonly raw: {
    readonly width: number;
    readonly height: number;
    readonly bitDepth: number;
    readonly chroma: ChromaFormat;
  };
  /** Part of the reference that both videos show. */
  readonly range: { readonly unit: 'frames' | 'seconds'; readonly start: number; readonly end?: number };
  readonly scale: ScaleFilter;
  readonly scaleTo: { readonly width: number; readonly height: number };
  /** Which of the two files is to be the reference, and which the distorted one. */
  readonly swap: { readonly reference: string; readonly distorted: string };
  /** Frames to either side in which `align` is to search. */
  readonly window: number;
}

/** An option with the value to give it. */
export type OptionHint = {
  readonly [Option in keyof OptionValues]: {
    /** `accept`: nothing changes, but the finding becomes an info. */
    readonly purpose: 'fix' | 'accept';
    readonly option: Option;
    readonly value: OptionValues[Option];
  };
}[keyof OptionValues];

/** An ffmpeg command that writes a file to be compared instead of one of the two. */
export interface FfmpegCommand {
  /** Which of the two is replaced. */
  readonly side: 'reference' | 'distorted';
  readonly input: string;
  /** Options before `-i`, such as the format of raw video. */
  readonly inputOptions: readonly string[];
  /** Options between input and output. */
  readonly options: readonly string[];
  readonly output: string;
}

/** Files to prepare; what the commands write is then compared. */
export interface PrepareHint {
  readonly purpose: 'prepare';
  readonly option?: never;
  readonly commands: readonly FfmpegCommand[];
}

/** What resolves a finding, as data. */
export type Hint = OptionHint | PrepareHint;

/** One thing that was refused: in words that name no option, and with what resolves it. */
export interface Objection {
  /** A full sentence. */
  readonly message: string;
  readonly hint?: Hint;
  /** The hint in the words of the command line. */
  readonly fix?: string;
}
