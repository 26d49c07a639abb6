/**
 * @module media/evidence/bitrate
 * The bit rate of a track: the bytes of its packets over its time, then what its index says, then a tag, then the file's.
 */

/** Relative excess over the file's bit rate from which a track's is not believed. */
const EXCESS = 0.1;

/** What a container declares, bits per second. */
export interface DeclaredBitrates {
  /** By an index that counts all frames. */
  readonly indexed?: number;
  /** By a tag, which may stem from another encode. */
  readonly tag?: number;
  /** Of the file. */
  readonly file?: number;
}

/** The most credible of the bit rates that are declared; `null` if none is. */
export function declaredBitrate({ indexed, tag, file }: DeclaredBitrates): number | null {
  const own = indexed ?? tag;
  return (own === undefined || (file !== undefined && own > (1 + EXCESS) * file) ? file : own) ?? own ?? null;
}

/**
 * The bit rate of packets.
 * @param bytes of all packets
 * @param times of all frames in seconds, ascending
 * @returns `undefined` for fewer than two frames, which tell no time
 */
export function packetBitrate(bytes: number, times: Float64Array): number | undefined {
  const between = (times.at(-1) ?? 0) - (times[0] ?? 0);
  if (!(between > 0)) return undefined;
  // The last frame is shown as long as the others are on average.
  const seconds = (between * times.length) / (times.length - 1);
  return Math.round((8 * bytes) / seconds);
}
