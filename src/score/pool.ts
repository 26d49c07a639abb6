/**
 * @module score/pool
 * Pooling as a step of the pipeline. The arithmetic stands in report, beside the types that it fills, because the
 * report builder needs it and may not reach up to score.
 */
export { distribution, percentile, pool } from '../report/pool.js';
