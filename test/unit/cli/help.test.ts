/**
 * @module test/unit/cli/help
 * Help fits a classic terminal and is complete.
 */
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/command.js';
import { EXIT } from '../../../src/cli/exit.js';
import { helpWidth, renderHelp, twoColumns } from '../../../src/cli/help.js';
import { chooseCommand } from '../../../src/cli/program.js';

describe.each(COMMANDS.map((entry) => [entry.name, entry] as const))('help of %s', (_name, entry) => {
  test.each([80, 60, 40])('fits %d columns', async (width) => {
    const { page } = await entry.load();
    const unbreakable = 57; // the longest example or option string, which is kept whole
    const lines = renderHelp(page, width).split('\n');
    expect(lines.filter((line) => line.length > Math.max(width, width === 80 ? 80 : unbreakable))).toEqual(
      [],
    );
  });

  test('names every option once', async () => {
    const { page } = await entry.load();
    const text = renderHelp(page, 80);
    for (const option of page.options.filter(({ group }) => group !== undefined)) {
      const heads = text.match(new RegExp(`^ {2}(-.,| {3}) --${option.name}(?![\\w-])`, 'gm'));
      expect(heads, option.name).toHaveLength(1);
    }
  });
});

test('help of scoring says where models and features are listed, and every exit code', async () => {
  const text = renderHelp((await COMMANDS[0].load()).page, 80).replace(/\s+/g, ' ');
  expect(text).toContain("'anyvmaf models' lists");
  expect(text).toContain("'anyvmaf features' lists");
  const listed = text.slice(text.indexOf('Exit codes:'));
  for (const code of Object.values(EXIT)) expect(listed).toMatch(new RegExp(` ${code} [a-z]`));
});

test('width is at most 80 and at least 40 columns', () => {
  expect([200, 80, 66, 10].map(helpWidth)).toEqual([80, 80, 66, 40]);
});

test('the right column wraps, and a long left text has a line of its own', () => {
  const rows = [
    ['-a', 'one two three four'],
    ['--quite-a-long-option', 'five'],
  ] as const;
  expect(twoColumns(rows, 24)).toBe(
    ['  -a  one two three four', '  --quite-a-long-option', '      five'].join('\n'),
  );
});

describe('the command', () => {
  const chosen = (args: string[], ...files: string[]) => {
    const [entry, rest] = chooseCommand(args, (path) => files.includes(path));
    return [entry.name, rest];
  };

  test('is scoring unless the first argument names another', () => {
    expect(chosen(['a', 'b'])).toEqual(['score', ['a', 'b']]);
    expect(chosen([])).toEqual(['score', []]);
    expect(chosen(['--json', 'models'])).toEqual(['score', ['--json', 'models']]);
    expect(chosen(['models', '--json'])).toEqual(['models', ['--json']]);
    expect(chosen(['score', 'a', 'b'])).toEqual(['score', ['a', 'b']]);
  });

  test('is scoring when a file has the name of a command', () => {
    expect(chosen(['models', 'b'], 'models')).toEqual(['score', ['models', 'b']]);
  });
});
