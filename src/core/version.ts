/**
 * @module core/version
 * The version of anyvmaf for reports.
 */

/** Equal to `version` in package.json; a test checks this. */
export const version = '0.1.0';
