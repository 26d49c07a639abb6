/**
 * @module test/node/platform/files
 * Files, pipes, descriptors and standard input in Node (src/platform/node/files.ts); `checkFrame`, which gives the answers and
 * errors of reading luma from a few bytes; and frames from the stream of an ffmpeg process (src/platform/node/ffmpeg/source.ts,
 * tool.ts).
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import type { Origin } from '../../../src/core/origin.js';
import { openVideo, reopen } from '../../../src/media/open.js';
import { blobReader, bytesReader } from '../../../src/media/readers.js';
import { RandomAccessSource } from '../../../src/media/sources.js';
import type { FrameSource, RawVideoFormat, VideoInput } from '../../../src/media/types.js';
import { ffmpegInput } from '../../../src/platform/node/ffmpeg/input.js';
import { FramePipe } from '../../../src/platform/node/ffmpeg/source.js';
import { openChannel } from '../../../src/platform/node/ffmpeg/tool.js';
import { nodeFiles, nodeFilesOf } from '../../../src/platform/node/files.js';
import { drained } from '../../../src/platform/node/stream-decoder.js';
import { built } from '../../support/built.js';
import { testFolder } from '../../support/folders.js';
import { blankPlanes, expectedPlanes, noFiles, rawVideo, readAll, y4mVideo } from '../../support/media.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';

const format: VideoFormat = { width: 64, height: 48, bitDepth: 8, chroma: '420' };
const clip = y4mVideo(format, '420', 5);
const open = (input: VideoInput, raw?: RawVideoFormat): Promise<FrameSource> =>
  openVideo(input, { platform: nodeFiles, raw });

const folder = testFolder('files');
const file = (name: string): string => join(folder, name);
const put = (name: string, bytes: Uint8Array): string => {
  writeFileSync(file(name), bytes);
  return file(name);
};

put('clip.y4m', clip);

describe('regular files', () => {
  it('of a foreign origin are confined under each of their names', async () => {
    const folders = [file('allowed')];
    mkdirSync(file('allowed'));
    const origin: Origin = { by: 'foreign', folders };
    const outside = [file('clip.y4m'), join(file('allowed'), '../clip.y4m')];
    symlinkSync(file('clip.y4m'), file('allowed/link'));
    for (const path of [...outside, file('allowed/link')]) {
      const url = pathToFileURL(path);
      for (const input of [path, url, url.href, url.href.replace('file://', 'FILE:'), `file://${path}`]) {
        const refused = 'leads out of the allowed folders';
        await expect(nodeFilesOf(origin).open(input)).rejects.toThrow(refused);
        await expect(ffmpegInput(input, { urls: false, origin })).rejects.toThrow(refused);
      }
    }
    const inside = pathToFileURL(put('allowed/a b.y4m', clip)).href;
    expect(await nodeFilesOf(origin).open(inside)).toMatchObject({ path: file('allowed/a b.y4m'), origin });
    expect((await ffmpegInput(inside, { urls: false, origin })).hold).toBeDefined();
  });

  it('are read in any order, by path or file URL, and again in a worker', async () => {
    const url = pathToFileURL(file('clip.y4m'));
    for (const input of [file('clip.y4m'), url, url.href]) {
      const source = await open(input);
      expect(source.info).toMatchObject({ ...format, frameCount: 5, name: String(input) });
      if (!source.descriptor) throw new Error('no descriptor');
      const again = reopen(structuredClone(source.descriptor), nodeFiles);
      for (const i of [4, 0, 2]) {
        expect(await readAll(source, i)).toEqual(expectedPlanes(format, i));
        expect(await readAll(again, i)).toEqual(expectedPlanes(format, i));
      }
      expect(await readAll(source, 5)).toBeUndefined();
      await source.close();
      await source.close();
      expect(await readAll(again, 1)).toEqual(expectedPlanes(format, 1));
      await again.close();
      expect(await refusalOf('usage', () => readAll(again, 1))).toContain('after it was closed');
    }
  });

  it('are read synchronously, straight into WebAssembly memory', async () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const y = new Uint8Array(memory.buffer, 160, 64 * 48);
    const source = await open(file('clip.y4m'));
    expect(source.readFrame(3, { y })).toBe(true);
    expect(y.slice()).toEqual(expectedPlanes(format, 3).y);
    await source.close();
  });

  it('may have any name', async () => {
    for (const name of ['a b.y4m', 'ü – 视频.mp4', "it's 100% #1?.y4m", '-', '[x]{y}$HOME;`z`']) {
      writeFileSync(file(name), clip);
      const source = await open(file(name));
      expect(source.info.frameCount, name).toBe(5);
      await source.close();
    }
  });

  it('may shrink while they are read', async () => {
    writeFileSync(file('shrinking.y4m'), clip);
    const source = await open(file('shrinking.y4m'));
    const header = clip.indexOf(10) + 1;
    truncateSync(file('shrinking.y4m'), header + 2 * (4608 + 6) + 6 + 1000);
    expect(await readAll(source, 1)).toEqual(expectedPlanes(format, 1));
    expect(await refusalOf('media', () => readAll(source, 2))).toContain('4608 bytes expected, 1000 found');
    expect(await refusalOf('media', () => readAll(source, 4))).toContain('4608 bytes expected, 0 found');
    await source.close();
  });

  it('may be raw', async () => {
    const raw: RawVideoFormat = { width: 35, height: 33, bitDepth: 10, chroma: '420' };
    writeFileSync(file('odd.yuv'), rawVideo(raw, 3));
    const source = await open(file('odd.yuv'), raw);
    expect(source.info.frameCount).toBe(3);
    expect(await readAll(source, 2)).toEqual(expectedPlanes(raw, 2));
    await source.close();
  });
});

describe('paths without a video', () => {
  it('are named with the reason', async () => {
    const reasons: [string, string][] = [
      [file('missing.y4m'), 'there is no such file'],
      [file('clip.y4m/x'), process.platform === 'win32' ? 'no such file' : 'not a directory'],
      [folder, 'it is a directory'],
      ['x\0y', 'the path contains a NUL character'],
    ];
    for (const [path, reason] of reasons) {
      const message = await refusalOf('io', () => open(path));
      expect(message).toContain(reason);
      expect(message).toContain(`cannot read ${path.replace('\0', '\\x00')}:`);
    }
    expect(await refusalOf('io', () => open(''))).toContain('the path of a video is empty');
  });

  it('include empty files, other URLs and descriptors that are not open', async () => {
    writeFileSync(file('empty'), '');
    expect(await refusalOf('io', () => open(file('empty')))).toContain('is empty');
    expect(await refusalOf('io', () => open(file('empty'), format))).toContain('is empty');
    const sentence = await refusalOf('usage', () => open(new URL('https://example.org/x.y4m')));
    expect(sentence).toContain('not a file URL');
    for (const input of ['file://elsewhere/x.y4m', new URL('file://elsewhere/x.y4m')])
      expect(await refusalOf('usage', () => open(input))).toContain('not the URL of a file on this machine');
    expect(await refusalOf('io', () => open(12345))).toContain('cannot read file descriptor 12345');
  });

  it.runIf(process.platform === 'linux')('include devices without content', async () => {
    expect(await refusalOf('io', () => open('/dev/null'))).toBe('/dev/null is empty.');
  });

  it.runIf(process.getuid?.() !== 0 && process.platform !== 'win32')('include unreadable files', async () => {
    writeFileSync(file('locked'), clip);
    chmodSync(file('locked'), 0);
    expect(await refusalOf('io', () => open(file('locked')))).toContain('permission denied');
  });

  it('include files that are deleted before a worker opens them', async () => {
    writeFileSync(file('gone.y4m'), clip);
    const source = await open(file('gone.y4m'));
    await source.close();
    rmSync(file('gone.y4m'));
    const { descriptor } = source;
    if (!descriptor) throw new Error('no descriptor');
    await refusalOf('io', () => reopen(descriptor, nodeFiles));
  });

  it.skipIf(process.platform !== 'linux')('leave no descriptor open', async () => {
    mkdirSync(file('dir'), { recursive: true });
    writeFileSync(file('text'), 'hello');
    for (let i = 0; i < 20; i++) await refusalOf('media', () => open(file('text')));
    // The descriptor that lists the folder is closed by then.
    const targets = readdirSync('/proc/self/fd').map((fd) => {
      const link = join('/proc/self/fd', fd);
      return existsSync(link) ? readlinkSync(link) : '';
    });
    expect(targets).not.toContain(file('text'));
  });
});

describe.skipIf(process.platform === 'win32')('pipes', () => {
  const fifo = (name: string): string => {
    execFileSync('mkfifo', [file(name)]);
    return file(name);
  };

  it('are read in order, also when the writer comes late and is slow', async () => {
    const path = fifo('late.fifo');
    const opening = open(path);
    await sleep(50);
    const writer = createWriteStream(path);
    const feeding = (async () => {
      for (let at = 0; at < clip.length; at += 3000) {
        writer.write(clip.subarray(at, at + 3000));
        await sleep(2);
      }
      writer.end();
    })();
    const source = await opening;
    expect(source.seekable).toBe(false);
    for (let i = 0; i < 5; i++) expect(await readAll(source, i)).toEqual(expectedPlanes(format, i));
    expect(await readAll(source, 5)).toBeUndefined();
    await feeding;
    await source.close();
  });

  it('can be closed while nothing arrives', async () => {
    const path = fifo('silent.fifo');
    const opening = open(path);
    await sleep(20);
    const writer = createWriteStream(path);
    writer.on('error', () => {});
    writer.write(clip.subarray(0, 5000));
    const source = await opening;
    expect(await readAll(source, 0)).toEqual(expectedPlanes(format, 0));
    const pending = readAll(source, 1);
    await source.close();
    expect(await pending).toBeUndefined();
    writer.destroy();
  });

  it('slow the producer down', async () => {
    const path = fifo('endless.fifo');
    // An endless raw video: only back-pressure keeps it from filling memory.
    const producer = spawn('sh', ['-c', `exec cat /dev/zero > '${path}'`]);
    const source = await open(path, format);
    await sleep(50);
    const before = process.memoryUsage.rss();
    await sleep(200);
    expect(process.memoryUsage.rss() - before).toBeLessThan(50e6);
    expect((await readAll(source, 100))?.y.every((sample) => sample === 0)).toBe(true);
    await source.close();
    await once(producer, 'exit');
  });

  it('may be descriptors', async () => {
    const source = await open(openSync(file('clip.y4m'), 'r'));
    expect(source.info).toMatchObject({ frameCount: null });
    for (let i = 0; i < 5; i++) expect(await readAll(source, i)).toEqual(expectedPlanes(format, i));
    expect(await readAll(source, 5)).toBeUndefined();
    await source.close();
  });
});

describe('standard input', () => {
  // A separate program, because this process's input belongs to vitest.
  const module = (path: string) => JSON.stringify(pathToFileURL(built(path)).href);
  const script = `
    import { createHash } from 'node:crypto';
    import { openVideo } from ${module('dist/media/open.js')};
    import { nodeFiles } from ${module('dist/platform/node/files.js')};
    try {
      const source = await openVideo('-', { platform: nodeFiles });
      const { width, height } = source.info;
      const y = new Uint8Array(width * height);
      const hash = createHash('sha256');
      const stop = Number(process.argv[1] ?? Infinity);
      let n = 0;
      while (n < stop && (await source.readFrame(n, { y }))) { hash.update(y); n++; }
      source.close();
      console.log(source.info.name, n, hash.digest('hex'));
    } catch (error) { console.log(error.code, error.message); }`;
  const args = ['--input-type=module', '-e', script];

  const expected = (frames: number): string => {
    const hash = createHash('sha256');
    for (let i = 0; i < frames; i++) hash.update(expectedPlanes(format, i).y);
    return `standard input ${frames} ${hash.digest('hex')}\n`;
  };

  it('is a pipe or a redirected file, and may be empty', () => {
    expect(execFileSync(process.execPath, args, { input: clip }).toString()).toBe(expected(5));
    const stdio = [openSync(file('clip.y4m'), 'r'), 'pipe', 'inherit'] as const;
    expect(execFileSync(process.execPath, args, { stdio: [...stdio] }).toString()).toBe(expected(5));
    const found = execFileSync(process.execPath, args, { input: '' }).toString();
    expect(found).toBe('io standard input is empty.\n');
  });

  it('does not keep the process alive when it is closed before its end', async () => {
    const child = spawn(process.execPath, [...args, '1'], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.on('error', () => {});
    child.stdin.write(clip.subarray(0, 6000));
    let output = '';
    child.stdout.on('data', (data) => {
      output += String(data);
    });
    await once(child, 'close');
    expect(output).toBe(expected(1));
  });
});

const FORMAT: VideoFormat = { width: 20, height: 18, bitDepth: 8, chroma: '420' };
const LUMA = 20 * 18;

/** Whether a frame exists, or the message of the error. */
async function answer(ask: () => Promise<boolean> | boolean): Promise<boolean | string> {
  try {
    return await ask();
  } catch {
    return refusalOf('media', ask);
  }
}

function look(source: FrameSource, index: number): Promise<boolean> | boolean {
  if (!source.checkFrame) throw new Error('files, Blobs and bytes can be looked into');
  return source.checkFrame(index);
}

/** Asserts that checking and reading agree on every frame and beyond. */
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

describe('checking a frame', () => {
  const plain = y4mVideo(FORMAT, '420', 3);
  const varied = y4mVideo(FORMAT, '420', 3, (i) => `FRAME${' Xa'.repeat(i)}\n`);
  const raw = rawVideo(FORMAT, 3);

  it.each([
    ['equal headers', plain],
    ['headers of various lengths', varied],
  ])('agrees with reading: Y4M, %s', async (_, bytes) => {
    for (const input of [bytes, new Blob([bytes]), put('whole.y4m', bytes)]) {
      const platform = typeof input === 'string' ? nodeFiles : noFiles;
      const source = await openVideo(input, { platform });
      expect(await agree(source, 3)).toEqual([true, true, true, false, false]);
      await source.close();
    }
  });

  it('agrees with reading: raw', async () => {
    const source = await openVideo(raw, { platform: noFiles, raw: FORMAT });
    expect(await agree(source, 3)).toEqual([true, true, true, false, false]);
  });

  it('fails like reading if the video ends within the frame', async () => {
    for (const cut of [1, 100, LUMA / 2 + 1, LUMA]) {
      const source = await openVideo(plain.slice(0, -cut), { platform: noFiles });
      expect((await agree(source, 3))[2], `${cut} bytes`).toMatch(/^frame 2 of .* is incomplete/);
    }
  });

  it('fails like reading if the frame is overwritten', async () => {
    const damaged = plain.slice();
    // Opening checks every header of so short a video, so change it afterwards.
    const source = await openVideo(damaged, { platform: noFiles });
    damaged.set([0x58], damaged.length - 2 * (6 + (3 * LUMA) / 2));
    const answers = await agree(source, 3);
    expect(answers[0]).toBe(true);
    expect(answers[1]).toMatch(/frame 1 of/);
  });

  it('fails like reading luma if the file became shorter', async () => {
    const frame = 6 + (3 * LUMA) / 2;
    for (const left of [0, 3, 6, 7, 5 + LUMA, 6 + LUMA, 7 + LUMA]) {
      const path = put(`shrinks-${left}.y4m`, plain);
      const source = await openVideo(path, { platform: nodeFiles });
      truncateSync(path, plain.length - frame + left);
      const answers = await agree(source, 3);
      expect(answers.slice(0, 2)).toEqual([true, true]);
      if (left >= 6 + LUMA) expect(answers[2], `${left} bytes`).toBe(true);
      else expect(answers[2], `${left} bytes`).toMatch(/^frame 2 of .* is incomplete/);
      await source.close();
    }
  });

  it.each(['bytes', 'a Blob'])('reads a few bytes of %s', async (kind) => {
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

/** Frames that are all different: frame n is n, n + 1, ... */
const frame = (n: number, bytes: number): Uint8Array => new Uint8Array(bytes).map((_, i) => n + i);

/** Waits until the count has not changed for a few turns. */
async function settled(count: () => number): Promise<number> {
  for (let before = -1, same = 0; same < 20; ) {
    await sleep(1);
    same = count() === before ? same + 1 : 0;
    before = count();
  }
  return count();
}

describe('a pipe of frames', () => {
  it('cuts chunks of any length into frames, whenever they are taken', async () => {
    const seed = 20260;
    const random = seeded(seed);
    for (const bytes of [1, 7, 4096, 100_000]) {
      const stream = new PassThrough();
      let wake = () => {};
      const pipe = new FramePipe(bytes, () => wake());
      pipe.readFrom(stream);
      const all = Buffer.concat(Array.from({ length: 30 }, (_, n) => frame(n, bytes)));
      for (let at = 0; at < all.length; ) {
        const piece = all.subarray(at, at + random.int(1, 1 + Math.floor(2.5 * bytes)));
        stream.write(piece);
        at += piece.length;
      }
      for (let n = 0; n < 30; n++) {
        let found = pipe.shift();
        while (!found) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          found = pipe.shift();
        }
        expect(Buffer.compare(found, frame(n, bytes)), `frame ${n} of ${bytes} bytes, seed ${seed}`).toBe(0);
        pipe.release(found);
      }
    }
  });

  it.runIf(process.platform === 'linux')('stops the writer when enough has arrived (Linux)', async () => {
    const bytes = 300_000;
    let arrived = 0;
    const pipe = new FramePipe(bytes, () => arrived++);
    const channel = await openChannel(pipe);
    if (!channel) throw new Error('there is no channel');
    pipe.receiveFrom(channel.input);
    for (let n = 0; n < 40; n++) channel.output.write(frame(n, bytes));
    channel.output.end();
    const ahead = await settled(() => arrived);
    expect(ahead).toBeGreaterThan(1);
    expect(ahead).toBeLessThan(8);
    for (let n = 0; n < 40; n++) {
      await expect.poll(() => arrived, { timeout: 10_000 }).toBeGreaterThan(n);
      const found = pipe.shift();
      if (!found) throw new Error(`frame ${n} is not there`);
      expect(Buffer.compare(found, frame(n, bytes))).toBe(0);
      pipe.release(found);
    }
    await expect.poll(() => channel.input.destroyed, { timeout: 10_000 }).toBe(true);
    channel.output.destroy();
  });
});

it('waits for room in a stream without keeping listeners, and not for a closed one', async () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  for (let i = 0; i < 20; i++) {
    stream.write('ab');
    setImmediate(() => stream.read());
    await drained(stream);
  }
  expect([stream.listenerCount('drain'), stream.listenerCount('close')]).toEqual([0, 0]);
  stream.destroy();
  await drained(stream);
  await drained(stream);
});
