/**
 * @module media/evidence/stillness
 * Decides whether the content of a video can tell one offset from another. A still, slides, and a loop show the same
 * picture at several offsets: whichever fits best there, fits by compression alone.
 */

/** Side of the blocks whose averages are compared, in samples of a thumbnail: noise hardly changes these. */
const BLOCK = 4;

/** Change of a block's average, in 8-bit levels, that compression of a still picture does not make. */
const MOVES = 1;

/** Share of the frames that must differ between two offsets. */
const TELLING = 0.05;

/**
 * True if a video shows enough other pictures at one offset than at another.
 * @param pairs thumbnails of its frames at both, in 8-bit levels
 * @param width of a thumbnail in samples
 */
export function tellsApart(
  pairs: readonly (readonly [one: Float32Array, other: Float32Array])[],
  width: number,
): boolean {
  const moved = pairs.filter(([one, other]) => !isSamePicture(one, other, width));
  return moved.length > 0 && moved.length >= TELLING * pairs.length;
}

/** True if two thumbnails show the same picture. */
export function isSamePicture(one: Float32Array, other: Float32Array, width: number): boolean {
  const across = Math.ceil(width / BLOCK);
  const sums = new Float64Array(across * Math.ceil(one.length / width / BLOCK));
  const sizes = new Float64Array(sums.length);
  for (const [k, value] of one.entries()) {
    const x = k % width;
    const block = Math.floor((k - x) / width / BLOCK) * across + Math.floor(x / BLOCK);
    sums[block] = (sums[block] ?? 0) + (other[k] ?? value) - value;
    sizes[block] = (sizes[block] ?? 0) + 1;
  }
  return sums.every((sum, block) => Math.abs(sum) <= MOVES * (sizes[block] ?? 1));
}
