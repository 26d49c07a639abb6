/**
 * @module report/view
 * What the HTML report and the web page show alike: which rows and columns, how numbers are written, scales, curves and
 * their words. The charts over the frames draw on a canvas; no other module here knows a document.
 */
export { remarks } from './findings.js';
export { findingValues, flawsOf } from './flaws.js';
export { writeTableCsv } from './table.js';
export { namedCause, TRUST_OUTLOOK, trustOf } from './trust.js';
export { bdTable } from './view/bd.js';
export * from './view/cell.js';
export * from './view/chart.js';
export * from './view/chart-state.js';
export * from './view/colours.js';
export * from './view/distribution.js';
export * from './view/encodes.js';
export * from './view/features.js';
export * from './view/frames.js';
export * from './view/gestures.js';
export * from './view/headline.js';
export * from './view/numbers.js';
export * from './view/rates.js';
export * from './view/scales.js';
export * from './view/tables.js';
export type * from './view/template.js';
export { thinned } from './view/thin.js';
