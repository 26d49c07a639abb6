/**
 * @module test/node/media/check-frame
 * Looking for a frame without reading it: the same answers and errors as reading its luma, from a few bytes.
 */
import { truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { openVideo } from '../../../src/media/open.js';
import { RandomAccessSource } from '../../../src/media/random.js';
import { blobReader, bytesReader } from '../../../src/media/readers.js';
import type { FrameSource } from '../../../src/media/types.js';
import { nodeFiles } from '../../../src/platform/node/files.js';
import { file, scratchFolder } from '../../support/clips.js';
import { blankPlanes, failure, noFiles, rawVideo, y4mVideo } from '../../support/media.js';

const FORMAT: VideoFormat = { width: 20, height: 18, bitDepth: 8, chroma: '420' };
const LUMA = 20 * 18;
const folder = scratchFolder();

/** What a source says of a frame: whether it is there, or the message of its error. */
async function answer(ask: () => Promise<boolean> | boolean): Promise<boolean | string> {
  try {
    return await ask();
  } catch {
    return failure(ask, 'media');
  }
}

function look(source: FrameSource, index: number): Promise<boolean> | boolean {
  if (!source.checkFrame) throw new Error('files, Blobs and bytes can be looked into');
  return source.checkFrame(index);
}

/** Asserts that both ways of asking agree on every frame and beyond. */
async function agree(source: FrameSource, frames: number): Promise<(boolean | string)[]> {
  const answers: (boolean | string)[] = [];
  for (let i = 0; i < frames + 2; i++) {
    const { y } = blankPlanes(source.info);
    const read = await answer(() => source.readFrame(i, { y }));
    expect(await answer(() => look(source, i)), `frame ${i}`).toEqual(read);
    answers.push(read);
  }
  return answers;
}

describe('a frame that is looked for', () => {
  const plain = y4mVideo(FORMAT, '420', 3);
  const varied = y4mVideo(FORMAT, '420', 3, (i) => `FRAME${' Xa'.repeat(i)}\n`);
  const raw = rawVideo(FORMAT, 3);

  it.each([
    ['equal headers', plain],
    ['headers of their own lengths', varied],
  ])('is there as reading says: Y4M, %s', async (_, bytes) => {
    for (const input of [bytes, new Blob([bytes]), file(folder, 'whole.y4m', bytes)]) {
      const platform = typeof input === 'string' ? nodeFiles : noFiles;
      const source = await openVideo(input, { platform });
      expect(await agree(source, 3)).toEqual([true, true, true, false, false]);
      await source.close();
    }
  });

  it('is there as reading says: raw', async () => {
    const source = await openVideo(raw, { platform: noFiles, raw: FORMAT });
    expect(await agree(source, 3)).toEqual([true, true, true, false, false]);
  });

  it('is refused as reading refuses it where the video ends within it', async () => {
    for (const cut of [1, 100, LUMA / 2 + 1, LUMA]) {
      const source = await openVideo(plain.slice(0, -cut), { platform: noFiles });
      expect((await agree(source, 3))[2], `${cut} bytes`).toMatch(/^frame 2 of .* is incomplete/);
    }
  });

  it('is refused as reading refuses it where another thing stands in its place', async () => {
    const damaged = plain.slice();
    // The probes of so short a file see every header; only what changes after it was opened goes unseen.
    const source = await openVideo(damaged, { platform: noFiles });
    damaged.set([0x58], damaged.length - 2 * (6 + (3 * LUMA) / 2));
    const answers = await agree(source, 3);
    expect(answers[0]).toBe(true);
    expect(answers[1]).toMatch(/frame 1 of/);
  });

  it('is refused as reading its luma refuses it where the file became shorter', async () => {
    const frame = 6 + (3 * LUMA) / 2;
    for (const left of [0, 3, 6, 7, 5 + LUMA, 6 + LUMA, 7 + LUMA]) {
      const path = file(folder, `shrinks-${left}.y4m`, plain);
      const source = await openVideo(path, { platform: nodeFiles });
      truncateSync(path, plain.length - frame + left);
      const answers = await agree(source, 3);
      expect(answers.slice(0, 2)).toEqual([true, true]);
      if (left >= 6 + LUMA) expect(answers[2], `${left} bytes`).toBe(true);
      else expect(answers[2], `${left} bytes`).toMatch(/^frame 2 of .* is incomplete/);
      await source.close();
    }
  });

  it.each(['bytes', 'a Blob'])('costs a few bytes of %s', async (kind) => {
    let asked = 0;
    const { info, descriptor } = await openVideo(plain, { platform: noFiles });
    if (descriptor?.kind !== 'bytes') throw new Error('bytes have a descriptor');
    const reader = kind === 'bytes' ? bytesReader(plain) : blobReader(new Blob([plain]), 'blob');
    const counting = {
      size: reader.size,
      read(position: number, parts: readonly Uint8Array[]) {
        for (const part of parts) asked += part.length;
        return reader.read(position, parts);
      },
      close() {},
    };
    const source = new RandomAccessSource(counting, info, descriptor.layout);
    for (let i = 0; i < 3; i++) expect(await source.checkFrame(i)).toBe(true);
    expect(asked).toBe(3 * (6 + 1));
  });
});
