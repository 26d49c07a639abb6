/**
 * @module test/node/platform/ffmpeg-access
 * What ffmpeg may open because of an input, by who named it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_USER } from '../../../src/core/origin.js';
import { accessOf, findDenial, inputArgs } from '../../../src/platform/ffmpeg/access.js';
import { createFfmpegDecoder } from '../../../src/platform/node/ffmpeg/decoder.js';
import { nodeMediabunnyDecoder } from '../../../src/platform/node/mediabunny-decoder.js';
import { nodeWasmDecoder } from '../../../src/platform/node/wasm-decoder.js';
import { built } from '../../support/built.js';
import { ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

const PLAYLISTS = ['hls', 'dash', 'concat', 'imf', 'image2'];
const EVER = ['lavfi', 'sdp', 'rtsp', 'rtp', 'tee', 'mlv', 'vobsub', 'x11grab', 'svg_pipe', 'libopenmpt'];

describe('the lists', () => {
  it('give what somebody else named its own file, or its own URL, and nothing more', () => {
    const { formats, protocols } = accessOf({ by: 'foreign' }, false, true);
    expect(formats.filter((format) => [...PLAYLISTS, ...EVER, 'vapoursynth'].includes(format))).toEqual([]);
    expect(formats).toEqual(
      expect.arrayContaining(['mp4', 'matroska', 'mpegts', 'avi', 'mxf', 'ivf', 'h264']),
    );
    expect(protocols).toEqual(['file']);
    expect(accessOf({ by: 'foreign' }, true, true).formats).toEqual(formats);
  });

  it('keep files and the network apart for what the user named', () => {
    const { formats, protocols } = accessOf(BY_USER, false, false);
    expect(formats).toEqual(expect.arrayContaining(PLAYLISTS));
    expect(formats.filter((format) => EVER.includes(format))).toEqual([]);
    expect(protocols).toEqual(['file', 'crypto', 'data']);
    expect(accessOf(BY_USER, false, true).protocols).toEqual(expect.arrayContaining(['file', 'https']));
    const fetched = accessOf(BY_USER, true, true).protocols;
    expect(fetched).toEqual(['http', 'https', 'httpproxy', 'tls', 'tcp', 'crypto']);
  });

  it('stand before the input', () => {
    const args = inputArgs({ url: 'file:/x', access: { formats: ['mov'], protocols: ['file'] } });
    expect(args).toEqual(['-protocol_whitelist', 'file', '-format_whitelist', 'mov', '-i', 'file:/x']);
  });

  it.each([
    ["[hls @ 0x55] Format not on whitelist 'mov'\nx: Invalid argument", { kind: 'playlist', format: 'hls' }],
    ["[tty @ 0x55] [error] Format not on whitelist 'mov'", { kind: 'text', format: 'tty' }],
    ["[mp2,mp3 @ 0x1] Format not on whitelist 'a'", { kind: 'format', format: 'mp2' }],
    ["[http @ 0x5] Protocol 'http' not on whitelist 'file'!\n", { kind: 'protocol', protocol: 'http' }],
    ['[hls @ 0x5] Invalid data', undefined],
  ])('are found in a log as what stood in the way: %j', (log, denial) => {
    expect(findDenial(log)).toEqual(denial);
  });
});

describe.runIf(hasFfmpeg)(`a playlist, ${needsFfmpeg}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-access-'));
  const asked: string[] = [];
  const server: Server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const file = { '/file.m3u8': `file://${folder}/part.ts`, '/path.m3u8': `${folder}/part.ts` }[url];
    if (file) return response.end(playlist(file));
    if (url === '/own.m3u8') return response.end(playlist('part.ts'));
    return response.end(readFileSync(join(folder, 'part.ts')));
  });
  let host = '';
  const playlist = (part: string) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${part}\n#EXT-X-ENDLIST\n`;
  const put = (name: string, part: string) => {
    writeFileSync(join(folder, name), playlist(part));
    return join(folder, name);
  };
  const source = [
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=64x64:rate=25',
    '-frames:v',
    '5',
    '-pix_fmt',
    'yuv420p',
  ];

  beforeAll(async () => {
    ffmpeg(join(folder, 'part.ts'), [...source, '-c:v', 'libx264', '-preset', 'ultrafast']);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('of local files is followed where the user named it', async () => {
    const facts = await createFfmpegDecoder({ origin: BY_USER }).probe(put('local.m3u8', 'part.ts'));
    expect(facts).toMatchObject({ container: 'hls', width: 64, height: 64 });
  });

  it('is opened by no decoder that was not told so', async () => {
    const path = put('local.mp4', 'part.ts');
    await expect(createFfmpegDecoder().probe(path)).rejects.toThrow('makes ffmpeg open other files (hls)');
    const parser = () => pathToFileURL(built('dist/bundle/js/node-parser-worker.js'));
    for (const decoder of [
      nodeMediabunnyDecoder({ parser }, BY_USER),
      nodeWasmDecoder({ origin: BY_USER }),
    ]) {
      if ((await decoder.availability()).usable) await expect(decoder.probe(path)).rejects.toThrow(path);
    }
  });

  it('of a local file does not reach the network unless URLs are allowed', async () => {
    const path = put('net.m3u8', `${host}/part.ts`);
    asked.length = 0;
    await expect(createFfmpegDecoder({ origin: BY_USER }).probe(path)).rejects.toThrow(
      'makes ffmpeg open what it may not (http); pass allowUrl',
    );
    expect(asked).toEqual([]);
    const facts = await createFfmpegDecoder({ origin: BY_USER, urls: true }).probe(path);
    expect(facts.width).toBe(64);
  });

  it('that is fetched may name what is beside it, and no local file', async () => {
    const decoder = createFfmpegDecoder({ origin: BY_USER, urls: true });
    expect((await decoder.probe(`${host}/own.m3u8`)).width).toBe(64);
    await expect(decoder.probe(`${host}/file.m3u8`)).rejects.toThrow('what is fetched may name URLs only');
    // A path without a scheme belongs to the server that named it.
    asked.length = 0;
    await decoder.probe(`${host}/path.m3u8`);
    expect(asked).toContain(`${folder}/part.ts`);
    const foreign = createFfmpegDecoder({ urls: true });
    await expect(foreign.probe(`${host}/own.m3u8`)).rejects.toThrow('makes ffmpeg open other files (hls)');
  });

  it.runIf(process.platform === 'linux')('that is a pipe is not waited for', async () => {
    const path = join(folder, 'pipe.mp4');
    execFileSync('mkfifo', [path]);
    await expect(createFfmpegDecoder().probe(path)).rejects.toThrow('is not a regular file');
  });
});
