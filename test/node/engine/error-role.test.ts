/**
 * @module test/node/engine/error-role
 * An error says which of the two videos it is about, wherever it came up.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AnyvmafError, score } from '../../../src/index.js';
import { file, SMALL, scratchFolder, y4mPair } from '../../support/clips.js';

const ROLES = ['reference', 'distorted'] as const;

describe.each(ROLES)('an error about the %s', (role) => {
  const folder = scratchFolder();
  const pair = y4mPair(SMALL, 6);
  const whole = {
    reference: file(folder, 'r.y4m', pair.reference),
    distorted: file(folder, 'd.y4m', pair.distorted),
  };
  const cut = pair[role].slice(0, -100);
  const damaged = pair[role].slice();
  damaged.fill(0x20, damaged.length / 2);
  it.each([
    ['io', join(folder, 'absent.y4m')],
    ['media', file(folder, `${role}.bin`, new Uint8Array(4096).fill(7))],
    ['media', file(folder, `${role}-cut.y4m`, cut)],
    ['media', file(folder, `${role}-damaged.y4m`, damaged)],
    ['media', new Blob([cut]).stream()],
  ])('has its role: %s', async (code, input) => {
    const failed = score({ ...whole, [role]: input }, { noPrediction: true, features: ['psnr'], threads: 2 });
    const error: AnyvmafError = await failed.then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect([error.code, error.role]).toEqual([code, role]);
  });

  it('unless it is about both', async () => {
    const other = file(folder, 'other.y4m', y4mPair({ ...SMALL, width: 64 }, 6)[role]);
    const error: AnyvmafError = await score({ ...whole, [role]: other }).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect([error.code, error.role]).toEqual(['mismatch', undefined]);
  });
});
