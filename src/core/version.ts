/**
 * @module core/version
 * The version of anyvmaf, as reports name it.
 */

/** Equals `version` in package.json, as a test checks. */
export const version = '0.1.0';
