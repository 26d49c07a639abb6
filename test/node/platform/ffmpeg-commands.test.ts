/** Command lines of ffmpeg that only a run can judge (src/platform/ffmpeg/commands.ts). */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { delivery } from '../../../src/media/delivery.js';
import { parseProbe } from '../../../src/media/facts.js';
import { accessOf } from '../../../src/platform/ffmpeg/access.js';
import { decodeArgs, probeArgs } from '../../../src/platform/ffmpeg/commands.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

describe.runIf(hasFfmpeg)(`a part that ends before its file, ${needsFfmpeg}`, () => {
  it('is not decoded to the end of the file when nobody stops it', () => {
    const path = encode({ codec: 'h264', frames: 150 });
    const source = { url: `file:${path}`, access: accessOf({ by: 'foreign' }, false, false) };
    const probed = spawnSync('ffprobe', probeArgs(source), { encoding: 'utf8' });
    const { facts } = parseProbe(JSON.parse(probed.stdout), path);
    const planes = delivery(facts.pixelFormat, facts.rotation, path);
    const args = decodeArgs(source, facts, planes, {}, { fromTime: 0.2, untilTime: 0.5 }, '5.1');
    const { status, stdout, stderr } = spawnSync('ffmpeg', args, { maxBuffer: 2 ** 28 });
    expect(status).toBe(0);
    const rate = (facts.frameRate?.num ?? 0) / (facts.frameRate?.den ?? 1);
    expect(stdout.length).toBe(Math.round(0.3 * rate) * facts.width * facts.height * 1.5);
    const decoded = stderr.toString().match(/\] n: *\d+ /g)?.length ?? 0;
    // One second more is allowed for times that are rounded.
    expect(decoded).toBeGreaterThan(0.5 * rate);
    expect(decoded).toBeLessThan(2 * rate);
  });
});
