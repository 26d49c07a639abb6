/**
 * @module bench/shapes
 * The three sizes that are timed: those of the field's usual test pairs, with generated content.
 */
import { usageError } from '../core/errors.js';
import type { BenchShape } from './types.js';

/** Small, high definition, ultra high definition; all 8 bit, 4:2:0. */
const SHAPES: readonly BenchShape[] = [
  { name: '576x324', width: 576, height: 324, frames: 48, fullFrames: 48 },
  { name: '1920x1080', width: 1920, height: 1080, frames: 5, fullFrames: 5 },
  { name: '3840x2160', width: 3840, height: 2160, frames: 4, fullFrames: 200 },
];

/**
 * The shapes of these names with the frames that are to be scored.
 * @throws {AnyvmafError} `usage` for a name that none has
 */
export function chooseShapes(names: readonly string[] | undefined, full: boolean): readonly BenchShape[] {
  const known = SHAPES.map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw usageError(`There is no benchmark of ${unknown}; there are ${known.join(', ')}.`);
  }
  return SHAPES.filter(({ name }) => names === undefined || names.includes(name)).map((shape) => ({
    ...shape,
    frames: full ? shape.fullFrames : shape.frames,
  }));
}
