/**
 * @module test/unit/cli/progress-bar
 * The bar stays on its line and leaves nothing behind.
 */
import { expect, test } from 'vitest';
import { progressBar } from '../../../src/cli/progress-bar.js';
import type { Terminal } from '../../../src/cli/terminal.js';

/** A terminal that remembers what was drawn, line after line, and whose width can change. */
function fakeTerminal() {
  const drawn: string[] = [];
  const size = { columns: 80 };
  const terminal: Terminal = {
    interactive: true,
    canDraw: true,
    colour: false,
    errorColour: false,
    columns: 80,
    get errorColumns() {
      return size.columns;
    },
    print: async () => {},
    draw: (text) => {
      drawn.push(text);
    },
    complain: () => {},
    flush: async () => {},
  };
  return { terminal, drawn, size };
}

const half = { framesDone: 50, framesTotal: 100, fps: 25, secondsLeft: 2 };

test.each([200, 80, 60, 40, 25, 12, 4, 1])(
  'it never wraps at %d columns, not even with ^C after it',
  (columns) => {
    const { terminal, drawn, size } = fakeTerminal();
    size.columns = columns;
    progressBar(terminal).show(half);
    const line = drawn.join('').replace('\r\u001b[K', '');
    expect(line.length + 2).toBeLessThan(Math.max(columns, 3));
    expect(line).not.toContain('\n');
  },
);

test('every redraw takes the width of the moment', () => {
  const { terminal, drawn, size } = fakeTerminal();
  const bar = progressBar(terminal);
  bar.show(half);
  size.columns = 30;
  bar.show(half);
  expect(drawn[0]?.length).toBeGreaterThan(60);
  expect(drawn[1]?.length).toBeLessThan(34);
});

test('it is erased once, and only when it was shown', () => {
  const { terminal, drawn } = fakeTerminal();
  const bar = progressBar(terminal);
  bar.clear();
  expect(drawn).toEqual([]);
  bar.show(half);
  bar.clear();
  bar.clear();
  expect(drawn).toHaveLength(2);
  expect(drawn[1]).toBe('\r\u001b[K');
});

test('words before there is progress fit the line, steer no terminal, and are taken away', () => {
  const { terminal, drawn, size } = fakeTerminal();
  size.columns = 30;
  const bar = progressBar(terminal);
  bar.say(`reading ${'long '.repeat(20)}\u001b[31m\n.mp4`);
  const line = (drawn[0] ?? '').replace('\r\u001b[K', '');
  expect(line).toMatch(/^reading long.*…/);
  expect(line.length).toBeLessThanOrEqual(27);
  expect(line).not.toMatch(/\p{Cc}/u);
  bar.clear();
  expect(drawn.at(-1)).toBe('\r\u001b[K');
});
