/**
 * @module search/bd-rate
 * Bjontegaard deltas by the name under which searches and the page know them; report/bd-rate computes them.
 */
export * from '../report/bd-rate.js';
