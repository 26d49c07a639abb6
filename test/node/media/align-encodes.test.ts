/**
 * @module test/node/media/align-encodes
 * The offset between a master and real encodes of it, and what preflight sees in these.
 */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { align, type LumaReader } from '../../../src/media/align.js';
import { measureLuma, preflight, type SideFacts } from '../../../src/media/preflight.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg, rawFrames } from '../../support/encode.js';
import { needsShared, sharedPath } from '../../support/shared.js';

/** Luma of a file as ffmpeg decodes it, from memory. */
function luma(path: string, width: number, height: number): LumaReader & { readonly facts: SideFacts } {
  const bytes = rawFrames(path, ['-vf', 'extractplanes=y']);
  const size = width * height;
  const info = { width, height, bitDepth: 8, chroma: '400', frameCount: bytes.length / size } as const;
  return {
    info,
    facts: { ...info, name: path },
    readFrame(index, { y }) {
      if (index >= info.frameCount) return false;
      y.set(bytes.subarray(index * size, (index + 1) * size));
      return true;
    },
  };
}

const X264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-threads', '1'];
const TREATMENTS: Readonly<Record<string, readonly string[]>> = {
  'x264 at CRF 23': [...X264, '-crf', '23'],
  'x264 at CRF 45': [...X264, '-crf', '45'],
  'MPEG-2 at 300 kbit/s': ['-c:v', 'mpeg2video', '-b:v', '300k', '-threads', '1'],
  'darker, flatter, x264 at CRF 32': ['-vf', 'lutyuv=y=val*0.8+25', ...X264, '-crf', '32'],
};

/** An encode of a clip, and the clip. */
function pair(clip: string, width: number, height: number, treatment: readonly string[]) {
  const name = Buffer.from(treatment.join(' ')).toString('base64url').slice(-40);
  const encoded = ffmpeg(`${encodeFolder()}/align-${width}x${height}-${name}.mkv`, [
    ...['-i', `file:${clip}`, '-pix_fmt', 'yuv420p'],
    ...treatment,
  ]);
  return [luma(clip, width, height), luma(encoded, width, height)] as const;
}

const SHIFTS = [-50, -23, -1, 0, 2, 31, 50];

/** Shifts the pair by leaving out frames at the start of one of the two. */
function shift(offset: number) {
  return { start: { reference: Math.max(0, -offset), distorted: Math.max(0, offset) } };
}

describe.runIf(hasFfmpeg)(`align on encodes of synthetic video (${needsFfmpeg})`, () => {
  const clip = () => {
    const path = `${encodeFolder()}/align-master.mkv`;
    const source = 'testsrc2=size=320x180:rate=25';
    return existsSync(path)
      ? path
      : ffmpeg(path, [
          '-f',
          'lavfi',
          '-i',
          source,
          '-frames:v',
          '160',
          '-c:v',
          'ffv1',
          '-pix_fmt',
          'yuv420p',
        ]);
  };

  it.each(Object.entries(TREATMENTS))('%s', async (_, treatment) => {
    const [reference, distorted] = pair(clip(), 320, 180, treatment);
    for (const offset of SHIFTS) {
      expect(await align(reference, distorted, shift(offset))).toMatchObject({ offset, ambiguous: false });
    }
  });

  it.each([
    ['two colours', 'gradients=s=320x180:r=25:seed=13:speed=0.01:n=2'],
    ['nearly one grey', 'gradients=s=320x180:r=25:seed=3:speed=0.01:n=2:c0=0x606060:c1=0x646464'],
  ])('doubts slow gradients of %s whose encode in real time shows the past', async (name, source) => {
    const master = ffmpeg(`${encodeFolder()}/align-gradient-${name.length}.mkv`, [
      ...['-f', 'lavfi', '-i', source, '-frames:v', '160', '-c:v', 'ffv1', '-pix_fmt', 'yuv420p'],
    ]);
    const realtime = [
      '-c:v',
      'libvpx-vp9',
      '-deadline',
      'realtime',
      '-cpu-used',
      '8',
      '-crf',
      '45',
      '-b:v',
      '0',
    ];
    const [reference, distorted] = pair(master, 320, 180, [...realtime, '-metadata', `title=${name}`]);
    for (const offset of SHIFTS) {
      const found = await align(reference, distorted, shift(offset));
      if (!found.ambiguous) expect(found.offset).toBe(offset);
      expect(found.reason).not.toBe('unrelated');
    }
  });

  it('sees which of the two was encoded', async () => {
    const [master, encode] = pair(clip(), 320, 180, [...X264, '-crf', '40']);
    const facts = {
      master: { ...master.facts, measured: await measureLuma(master) },
      encode: { ...encode.facts, measured: await measureLuma(encode) },
    };
    const codes = (a: SideFacts, b: SideFacts) => preflight(a, b).map(({ code }) => code);
    expect(codes(facts.master, facts.encode)).not.toContain('swapped');
    expect(codes(facts.encode, facts.master)).toContain('swapped');
  });

  it('sees bars that were added, and where to cut', async () => {
    const path = ffmpeg(`${encodeFolder()}/align-bars.mkv`, [
      ...['-i', clip(), '-vf', 'crop=320:140,pad=320:180:0:20', ...X264, '-crf', '28', '-pix_fmt', 'yuv420p'],
    ]);
    const [master, encode] = [luma(clip(), 320, 180), luma(path, 320, 180)];
    const found = preflight(
      { ...master.facts, measured: await measureLuma(master) },
      { ...encode.facts, measured: await measureLuma(encode) },
    ).find(({ code }) => code === 'black-borders');
    expect(found?.severity).toBe('warning');
    // The bars hide a part of the picture, which is cut off the other video as well.
    const commands = found?.fix?.split(' && ') ?? [];
    expect(commands).toHaveLength(2);
    expect(commands[0]).toMatch(/^ffmpeg -i \S+align-bars.mkv -vf crop=320:140:0:20 .* align-bars-\S+.mkv$/);
    expect(commands[1]).toMatch(/^ffmpeg -i \S+align-master.mkv -vf crop=320:140:0:20 .*-reference-\S+.mkv$/);
  });

  it('sees limited range expanded to full', async () => {
    const [master, encode] = pair(clip(), 320, 180, [
      ...['-vf', 'lutyuv=y=clip((val-16)*255/219\\,0\\,255)', ...X264, '-crf', '20'],
    ]);
    const findings = preflight(master.facts, encode.facts, { alignment: await align(master, encode) });
    expect(findings.find(({ code }) => code === 'levels')?.message).toContain('expanded to full');
  });
});

const natural = sharedPath('clips/Seeking_30_480_1050.mp4');

describe.runIf(hasFfmpeg && natural)(
  `align on encodes of natural video (${needsFfmpeg}, ${needsShared})`,
  () => {
    it.each(Object.entries(TREATMENTS))('%s', async (_, treatment) => {
      const [reference, distorted] = pair(natural ?? '', 720, 480, treatment);
      for (const offset of SHIFTS) {
        expect(await align(reference, distorted, shift(offset))).toMatchObject({ offset, ambiguous: false });
      }
    });

    it('finds the two published versions in step', async () => {
      const low = sharedPath('clips/Seeking_10_288_375.mp4') ?? '';
      const result = await align(luma(natural ?? '', 720, 480), luma(low, 384, 288));
      expect(result).toMatchObject({ offset: 0, ambiguous: false });
    });
  },
);
