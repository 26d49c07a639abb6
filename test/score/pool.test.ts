import { expect, it } from 'vitest';
import * as arithmetic from '../../src/report/pool.js';
import * as step from '../../src/score/pool.js';

it('the pipeline pools with the arithmetic of the report', () => {
  expect(step.pool).toBe(arithmetic.pool);
  expect(step.distribution).toBe(arithmetic.distribution);
});
