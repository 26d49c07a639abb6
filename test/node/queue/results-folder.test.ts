/**
 * @module test/node/queue/results-folder
 * Results too large for Redis: in a folder and behind a URL alike, with what is lost or damaged told from what is there.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LostFile, ResultsFolder } from '../../../src/queue/results-folder.js';
import type { Stored } from '../../../src/queue/types.js';
import { FileServer } from '../../support/file-server.js';

const key = 'a'.repeat(32);
const large = 'x'.repeat(200_000);

let server: FileServer;
const root = mkdtempSync(join(tmpdir(), 'anyvmaf-results-'));
beforeAll(async () => {
  server = await FileServer.start();
  server.keeps = true;
});
afterAll(async () => {
  rmSync(root, { recursive: true, force: true });
  await server[Symbol.asyncDispose]();
});

/** How the content of a place is seen and spoilt from outside. */
const places = {
  'a folder': {
    open: () => ResultsFolder.open(root),
    names: () =>
      readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.')),
    change: (name: string, how: (bytes: Buffer) => Buffer) =>
      writeFileSync(join(root, name), how(readFileSync(join(root, name)))),
    remove: (name: string) => rmSync(join(root, name)),
  },
  'a URL': {
    open: () => ResultsFolder.open(server.url('/results/'), [server.host]),
    names: () => [...server.files.keys()].map((path) => path.slice('/results/'.length)),
    change: (name: string, how: (bytes: Buffer) => Buffer) => {
      server.add(`/results/${name}`, how(Buffer.from(server.files.get(`/results/${name}`)?.bytes ?? [])));
    },
    remove: (name: string) => {
      server.files.delete(`/results/${name}`);
    },
  },
};

describe.each(Object.entries(places))('results in %s', (_, place) => {
  const file = (stored: Stored) => `${key}/${'file' in stored ? stored.file : ''}`;

  it('are kept by their content, and short ones not at all', async () => {
    const folder = await place.open();
    expect(await folder.keep(key, 'line', 'short')).toEqual({ text: 'short' });
    const stored = await folder.keep(key, 'part-1-2', large);
    expect(stored).toMatchObject({
      bytes: large.length,
      file: expect.stringMatching(/^part-1-2-[0-9a-f]{16}\.json$/),
    });
    expect(place.names()).toEqual([file(stored)]);
    expect(await folder.read(key, stored)).toBe(large);
    await folder.discard(key, stored);
    expect(place.names()).toEqual([]);
  });

  it('are lost if they are gone, cut off or changed', async () => {
    const folder = await place.open();
    const stored = await folder.keep(key, 'part-1-2', large);
    place.change(file(stored), (bytes) => bytes.fill('y', 70_000, 70_001));
    await expect(folder.read(key, stored)).rejects.toThrow('is not what was written');
    place.change(file(stored), (bytes) => bytes.subarray(0, -1));
    await expect(folder.read(key, stored)).rejects.toThrow(LostFile);
    place.remove(file(stored));
    await expect(folder.read(key, stored)).rejects.toThrow(LostFile);
  });

  it('are cleared with their job', async () => {
    const folder = await place.open();
    const [part, line] = [await folder.keep(key, 'part-1-2', large), await folder.keep(key, 'line', large)];
    await folder.clear(key, false, [part]);
    expect(place.names()).toEqual([file(line)]);
    await folder.clear(key, true, [line]);
    expect(place.names()).toEqual([]);
    await folder.clear('../../etc', true, [line]);
  });
});

it('are not kept where there is no place', async () => {
  const none = await ResultsFolder.open(undefined);
  await expect(none.keep(key, 'part-1-2', large)).rejects.toThrow('--results DIR');
  await expect(ResultsFolder.open(join(root, 'none'))).rejects.toThrow('is not a folder');
  await expect(ResultsFolder.open('https://example.com/x', ['example.org'])).rejects.toThrow('not allowed');
});

it('say why a folder takes no more', async () => {
  const gone = mkdtempSync(join(tmpdir(), 'anyvmaf-results-'));
  const folder = await ResultsFolder.open(gone);
  rmSync(gone, { recursive: true });
  writeFileSync(gone, '');
  await expect(folder.keep(key, 'part-1-2', large)).rejects.toThrow(
    /cannot write a result into .*not a folder/,
  );
  rmSync(gone);
});
