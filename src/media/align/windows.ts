/**
 * @module media/align/windows
 * How far offsets are searched, in frames to either side.
 */

/** Where nobody says how far. */
export const DEFAULT_WINDOW = 50;

/** How far a search goes by itself while its result is unclear, and how far one is advised. */
export const WIDER = [150, 500] as const;
export const [, WIDEST_ADVISED] = WIDER;

/** The most that may be asked for. */
export const WIDEST = 1000;
