/**
 * @module core/version
 * The version of anyvmaf, as reports name it.
 */

/** Equal to `version` in package.json; a test holds the two together. */
export const version = '0.1.0';
