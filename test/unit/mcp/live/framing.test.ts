/**
 * How messages are told apart in a stream, and how much of one is kept.
 */
import { expect, it } from 'vitest';
import { Framing, MESSAGE_LIMIT } from '../../../../src/mcp/live/framing.js';

/** What a stream of pieces comes to: messages, and problems after a mark. */
function taken(...pieces: readonly string[]): string[] {
  const got: string[] = [];
  const sink = {
    message: (text: string) => got.push(text),
    broken: (problem: string) => got.push(`! ${problem}`),
  };
  const framing = new Framing(
    { message: (text) => void sink.message(text), broken: (problem) => void sink.broken(problem) },
    true,
  );
  for (const piece of pieces) framing.push(Buffer.from(piece));
  return got;
}

const framed = (body: string, length: number | string = body.length) =>
  `Content-Length: ${length}\r\n\r\n${body}`;

it('lines and headers are told apart by the first bytes, however these come', () => {
  expect(taken('{"a":1}\n', '{"b":2}\r\n\n')).toEqual(['{"a":1}', '{"b":2}']);
  expect(taken(...framed('{"a":1}'), framed('{}'))).toEqual(['{"a":1}', '{}']);
  expect(taken('content-length:2\r\nContent-Type: x\r\n\r\n{}')).toEqual(['{}']);
});

it('blank bytes are not kept for long to tell', () => {
  expect(taken(' '.repeat(2000), 'Content-Length: 2\r\n')).toEqual([
    ' '.repeat(2000).concat('Content-Length: 2'),
  ]);
});

it('a length that is wrong is told, and what follows is read', () => {
  expect(taken(framed('x'.repeat(MESSAGE_LIMIT + 1)), framed('{}'))).toEqual([
    `! A message has more than ${MESSAGE_LIMIT} bytes.`,
    '{}',
  ]);
  for (const wrong of ['-2', '0x2', '2.5', '99999999999'])
    expect(taken(framed('', wrong), framed('{}')), wrong).toEqual([
      '! A header has no Content-Length.',
      '{}',
    ]);
  expect(taken('Content-Length: 2\r\nX: '.concat('y'.repeat(2000)), framed('{}'))[0]).toBe(
    '! A header has more than 1024 bytes.',
  );
});
