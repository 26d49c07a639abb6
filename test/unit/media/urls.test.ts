/**
 * @module test/unit/media/urls
 * The page fetches nothing, whatever is allowed; and no message shows what gives access to a URL.
 */
import { expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { quoted, shown, withoutAccess } from '../../../src/core/printable.js';
import { openInput } from '../../../src/media/open.js';
import { browserFiles } from '../../../src/platform/browser/files.js';

it('URLs are not fetched by the page', async () => {
  const url = 'https://media.example.com/a.mp4?sig=SECRET';
  const open = (allowUrl: boolean | readonly string[]) =>
    openInput(url, { platform: browserFiles, decoding: { allowUrl } });
  await expect(open(['media.example.com'])).rejects.toThrow(
    'https://media.example.com/a.mp4?... is a URL, and nothing is fetched here; download the video',
  );
  await expect(open(false)).rejects.toThrow('which is not fetched unless asked for');
});

it('names, passwords and queries of URLs are not shown', () => {
  const cases = [
    ['https://a.com/x.mp4?X-Amz-Signature=1&b=2', 'https://a.com/x.mp4?...'],
    ['http://me:pw@a.com/x', 'http://a.com/x'],
    ['http://me:p@w@a.com/x#y', 'http://a.com/x#y'],
    ['--reference=HTTPS://a.com/x?t=1', '--reference=HTTPS://a.com/x?...'],
    [
      'read "https://a.com/x?t=1" and <http://b.com?u=2>',
      'read "https://a.com/x?..." and <http://b.com?...>',
    ],
    ['https://a.com/x', 'https://a.com/x'],
    ['why? because', 'why? because'],
  ] as const;
  for (const [text, wanted] of cases) expect(withoutAccess(text)).toBe(wanted);
  const long = `https://a.com/x.mp4?X-Amz-Signature=${'5'.repeat(900)}SECRET`;
  for (const text of [shown(long), quoted(long)]) expect(text).not.toMatch(/SECRET|555/);
  expect(new AnyvmafError('io', `${long} is gone`).message).not.toMatch(/SECRET|555/);
});
