/**
 * @module test/package/wording
 * What stands below the doors says as data what resolves it: it names no flag, command or variable of a door, and
 * nothing reads a message to learn more of an error.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/built.js';

const BELOW =
  /^src\/(core|metrics|models|media|pictures|engine|tiny|evaluate|report|parsing|platform|files|index|public)\b/;

/** Command lines that we start ourselves. */
const COMMAND_LINES = [
  'src/engine/backends/native/vmaf-command.ts',
  'src/platform/node/parser-process.ts',
  'src/platform/node/tiny/try-provider.ts',
];

/** Flags of npm and Node.js, which every door has in common, and strings that are one argument or property of CSS. */
const FOREIGN = /npm install [^)]*|NODE_OPTIONS=\S+|(['"`])--[a-z-]+\1/g;

/** In a string; CSS has properties of this shape, each before a colon or in brackets. */
const FLAG = /['"`](?:.*[^\w(-])?--[a-z][a-z_-]*(?![\w-]*[:$])/;
const COMMAND =
  /['"`].*\banyvmaf (align|backends|bench|doctor|features|heatmap|inspect|mcp|models|score|setup|tiny)\b/;
const VARIABLE = /['"`].*\b(VMAF_BIN|ANYVMAF_[A-Z]+)\b/;

const READ =
  /\.message\b[^;]*\.(replace|replaceAll|match|matchAll|search|split)\(\s*\/|\/[a-z]*\.(test|exec)\([^)]*\.message\b/;

const sources = ['src', 'web/src'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(join(root, folder, file), 'utf8') })),
);

function lines(pattern: RegExp, files: (file: string) => boolean): string[] {
  return sources
    .filter(({ file }) => files(file))
    .flatMap(({ file, text }) =>
      text
        .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .replace(FOREIGN, '')
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
}

describe('below the doors', () => {
  it('no string names a flag', () => {
    expect(lines(FLAG, (file) => BELOW.test(file) && !COMMAND_LINES.includes(file))).toEqual([]);
  });
  it('no string names a command', () => {
    expect(lines(COMMAND, (file) => BELOW.test(file))).toEqual([]);
  });
  it('no string names a variable of the environment, but where Node reads it', () => {
    expect(lines(VARIABLE, (file) => BELOW.test(file) && !file.startsWith('src/platform/node/'))).toEqual([]);
  });
  it('would be caught', () => {
    for (const text of ["'pass --scale bicubic'", '`; pass --allow-url, or`', "'--offset 12'"])
      expect(text).toMatch(FLAG);
    expect("  'run anyvmaf models pull x'").toMatch(COMMAND);
    expect("/a/i.test(failure.message) && error.message.replace(/\\.$/, '')").toMatch(READ);
  });
});

describe('everywhere', () => {
  it('no regular expression is applied to a message', () => {
    expect(lines(READ, () => true)).toEqual([]);
  });
});
