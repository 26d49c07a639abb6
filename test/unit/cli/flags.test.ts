/**
 * @module test/unit/cli/flags
 * What findings advise as flags, of one pair and of several encodes that share their flags.
 */
import { describe, expect, it } from 'vitest';
import { findingsInFlags } from '../../../src/cli/flags.js';
import { vf } from '../../../src/media/preflight/text.js';
import type { Finding, Hint } from '../../../src/media/preflight/types.js';

const finding = (code: Finding['code'], hint: Hint): Finding => ({
  ...{ code, severity: 'warning', message: `About ${code}.`, hint },
});
const LATE = finding('offset', { purpose: 'fix', option: 'offset', value: 12 });
const TURNED = finding('display-aspect', {
  ...{ purpose: 'prepare', commands: [], instead: [vf('distorted', 'transpose=cclock')] },
});
const SCALED = finding('size', { purpose: 'accept', option: 'scale', value: 'bicubic' });
const fixes = (ofAll?: (one: Finding) => boolean) =>
  findingsInFlags([LATE, TURNED, SCALED], ofAll).map(({ fix }) => fix);

describe('what findings advise', () => {
  it('mends a pair', () => {
    expect(fixes()).toEqual(['--offset 12', '--vf-dis transpose=cclock', 'to accept, pass --scale bicubic']);
  });

  it('of one encode among several displaces no other', () => {
    expect(fixes(() => false)).toEqual([
      '--offset auto',
      'score it alone with --vf-dis transpose=cclock',
      'to accept, pass --scale bicubic',
    ]);
    expect(fixes((one) => one.code === 'offset')[0]).toBe('--offset 12');
  });
});
