/**
 * @module test/package/regular-expressions
 * Text from outside meets most regular expressions of the sources, so none may take time that grows faster than the text:
 * each runs over long texts made of what it looks for.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { root } from '../support/built.js';

const LENGTH = 30_000;

/** Milliseconds: a linear one takes less than 3, a quadratic one a second. */
const MOST = 100;

/** What may stand in for a class of characters. */
const ALPHABET = [...'aAfx019 \t\n\r.,:;-+_"\'/\\=<>|{}[]()#!&e\0\u2028'];

interface Found {
  readonly where: string;
  readonly pattern: RegExp;
}

/** Every literal of a file, also those within templates. */
function literals(file: string): Found[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found: Found[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'regex') {
        const { pattern, flags } = value as { pattern: string; flags: string };
        found.push({ where: `${file}: /${pattern}/${flags}`, pattern: new RegExp(pattern, flags) });
      } else walk(value);
    }
  };
  walk(parseSync(file, text).program);
  return found;
}

/** Texts that repeat a character or a word of the pattern, and stop short of what it wants. */
function* texts({ source }: RegExp): Generator<string> {
  const words = source.split(/[^A-Za-z0-9 <>!:;=&"'-]+/).filter((word) => word.length > 1);
  for (const piece of new Set([
    ...ALPHABET,
    ...words,
    '0.',
    ' =',
    'a=',
    '""',
    ': ',
    'a b',
    '1:',
    '--',
    '[a]',
  ])) {
    const long = piece.repeat(Math.ceil(LENGTH / piece.length));
    for (const start of ['', '<a ', '[']) for (const end of ['\u0001', 'x!']) yield start + long + end;
  }
}

function time(pattern: RegExp, text: string): number {
  const start = performance.now();
  pattern.lastIndex = 0;
  if (pattern.global) text.replace(pattern, '');
  else pattern.exec(text);
  return performance.now() - start;
}

/** The first text that takes too long, told by its start; a busy machine gets further tries. */
function slowText(pattern: RegExp): string | undefined {
  for (const text of texts(pattern))
    if ([0, 1, 2].every(() => time(pattern, text) > MOST)) return JSON.stringify(text.slice(0, 12));
  return undefined;
}

const files = ['src', 'web/src']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith('.ts'))
  .sort();

describe('the regular expressions of the sources', () => {
  const all = files.flatMap(literals);

  it('are all found', () => {
    expect(all.length).toBeGreaterThan(200);
  });

  it('take time that grows no faster than the text', () => {
    const unbounded = all.filter(({ pattern }) => /[*+]|\{\d+,\}/.test(pattern.source));
    const slow = unbounded.flatMap(({ where, pattern }) => {
      const text = slowText(pattern);
      return text === undefined ? [] : [`${where} on ${text}...`];
    });
    expect(slow).toEqual([]);
  }, 120_000);
});
