/**
 * @module test/unit/mcp/lines
 * Lines come out whole however the stream is cut, and a line that is too long harms no other.
 */
import { expect, it } from 'vitest';
import { LineSplitter } from '../../../src/mcp/lines.js';
import { seeded } from '../../support/random.js';

function collect(limit: number) {
  const heard: string[] = [];
  const splitter = new LineSplitter(limit, {
    line: (text) => heard.push(text),
    tooLong: () => heard.push('TOO LONG'),
  });
  return { heard, splitter };
}

it('gives the same lines however the bytes are cut', () => {
  const random = seeded(7);
  const text = 'first\r\n\nä€😀 third\nlast without end';
  for (let i = 0; i < 200; i++) {
    const { heard, splitter } = collect(100);
    let bytes = Buffer.from(text);
    while (bytes.length > 0) {
      const cut = random.int(1, bytes.length);
      splitter.push(bytes.subarray(0, cut));
      bytes = bytes.subarray(cut);
    }
    expect(heard, `seed ${random.seed}, run ${i}`).toEqual(['first', '', 'ä€😀 third']);
  }
});

it('tells a line that is too long once, and goes on with the next', () => {
  const { heard, splitter } = collect(10);
  for (let i = 0; i < 1000; i++) splitter.push(Buffer.alloc(100, 'x'));
  splitter.push(Buffer.from('\n0123456789\nshort\n01234567890\nafter\n'));
  expect(heard).toEqual(['TOO LONG', '0123456789', 'short', 'TOO LONG', 'after']);
});
