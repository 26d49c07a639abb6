/**
 * @module test/package/action
 * The GitHub action and the Dockerfile, without their hosts: the action's script runs in bash as a runner would call it, with
 * the built program instead of the published one.
 */
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SCORE_OPTIONS } from '../../src/cli/score-options.js';
import { root } from '../support/built.js';
import { PROGRAM, run, videos } from '../support/cli.js';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  bin: Record<string, string>;
  files: string[];
};

interface Step {
  readonly id?: string;
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: string;
}
interface Action {
  readonly inputs: Readonly<Record<string, { description: string; required?: boolean; default?: string }>>;
  readonly outputs: Readonly<Record<string, { description: string; value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly [Step] };
}
const action = parse(read('action.yml')) as Action;
const [step] = action.runs.steps;

const files = videos();
const [ref, dis] = files.pair(['ref.y4m', 'dis.y4m'], 6);

// A fake npx that runs the built program.
files.put(
  'npx',
  `#!/bin/sh\nprintf '%s' "$2" > "${files.at('asked')}"\nshift 2\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`,
);
chmodSync(files.at('npx'), 0o755);

/** Runs the step with inputs, as a runner does. */
async function act(inputs: Readonly<Record<string, string>>) {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(step.env)) {
    const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)?.[1] ?? '';
    env[name] = inputs[input] ?? String(action.inputs[input]?.default ?? '');
  }
  const [output, summary] = [files.put('output', ''), files.put('summary', '')];
  const cwd = files.at('.');
  const PATH = `${cwd}${delimiter}${process.env.PATH}`;
  const script = files.put('step.sh', step.run);
  const ended = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
    cwd,
    env: { ...env, PATH, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary },
  });
  return { ...ended, output: readFileSync(output, 'utf8'), summary: readFileSync(summary, 'utf8') };
}

describe('the action', () => {
  test('is a composite action whose step uses every input and sets every output', () => {
    expect([action.runs.using, step.shell]).toEqual(['composite', 'bash']);
    const used = [...read('action.yml').matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map(([, name]) => name);
    expect([...new Set(used)].sort()).toEqual(Object.keys(action.inputs).sort());
    for (const [name, { description }] of [
      ...Object.entries(action.inputs),
      ...Object.entries(action.outputs),
    ])
      expect(description, name).toMatch(/^[A-Z0-9].*\.$/);
    for (const [name, { value }] of Object.entries(action.outputs)) {
      expect(value).toBe(`\${{ steps.${step.id}.outputs.${name} }}`);
      expect(step.run).toContain(`echo "${name}=`);
    }
    // An input within the script would allow command injection.
    expect(step.run).not.toContain('${{');
  });

  test('uses only options of the command line, and runs the version of this package', () => {
    const options = [...step.run.matchAll(/(?<=[\s(])--([a-z-]+)(?==|\)|\s)/g)].map(([, name]) => name);
    const known: readonly string[] = SCORE_OPTIONS.map(({ name }) => name);
    expect(options.filter((name) => name !== 'yes' && !known.includes(name ?? ''))).toEqual([]);
    expect(options.length).toBeGreaterThan(10);
    expect(action.inputs.version?.default).toBe(manifest.version);
  });

  test('scores, judges and reports', async () => {
    const done = await act({
      reference: ref,
      distorted: `${dis}\n`,
      feature: 'psnr\r\nciede',
      'fail-under': '1\nvmaf.p5>=1',
    });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.summary).toContain('## ✅ anyvmaf: 1 encode passed');
    expect(readFileSync(files.at('asked'), 'utf8')).toBe(`anyvmaf@${manifest.version}`);
    const outputs = Object.fromEntries(
      done.output
        .trim()
        .split('\n')
        .map((line) => line.split('=', 2)),
    );
    expect(Object.keys(outputs)).toEqual(Object.keys(action.outputs));
    expect(outputs['exit-code']).toBe('0');
    const metrics = Object.keys(JSON.parse(readFileSync(outputs.report ?? '', 'utf8')).pooled_metrics);
    expect(metrics).toEqual(expect.arrayContaining(['vmaf', 'psnr_y', 'ciede2000']));
    expect(readFileSync(outputs.junit ?? '', 'utf8')).toContain('failures="0"');
    const failed = await act({
      reference: ref,
      distorted: dis,
      'fail-under': 'vmaf.p5>=100',
      output: files.at('r.json'),
    });
    expect(failed).toMatchObject({ code: 3, stderr: expect.stringContaining('below the limit') });
    expect(failed.output).toContain(`report=${files.at('r.json')}\n`);
    expect(failed.output).toContain('exit-code=3\n');
    expect(failed.summary).toContain('❌');
    const baseline = await act({
      reference: ref,
      distorted: dis,
      baseline: 'r.json',
      'max-drop': '0\np5=0',
      output: '',
    });
    expect(baseline).toMatchObject({ code: 0, stderr: '' });
    // The files of the first run stay, but are not of this one.
    const unscored = await act({ reference: ref, distorted: files.at('missing.y4m') });
    expect(unscored).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^report=\njunit=.+\nexit-code=2\n$/),
    });
    expect(unscored.summary).toContain('could not be scored');
  });

  test('does not run or parse file names that look like commands, options or lines', async () => {
    const name = '--help $(touch pwned) `touch pwned` "; touch pwned #.y4m';
    files.put(name, readFileSync(dis));
    const done = await act({ reference: ref, distorted: name, args: '--threads=0' });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(files.at('pwned'))).toBe(false);
    expect(await act({ reference: '$(touch pwned)', distorted: dis })).toMatchObject({ code: 2 });
    expect(existsSync(files.at('pwned'))).toBe(false);
    const lines = await act({ reference: ref, distorted: dis, output: 'a.json\nexit-code=0' });
    expect(lines).toMatchObject({ code: 1, output: '' });
    expect(await act({ reference: ref, distorted: dis, 'accept-untrusted': 'yes' })).toMatchObject({
      code: 1,
    });
  });
});

describe('the Dockerfile', () => {
  const instructions = read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /^([A-Z]+) (.+)$/.exec(line) ?? [line, '?', '']);
  const all = (kind: string) => instructions.flatMap(([, name, text = '']) => (name === kind ? text : []));

  test('has only known instructions, named stages and existing files', () => {
    const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'ENTRYPOINT', 'CMD'];
    expect(instructions.map(([, name]) => name).filter((name = '') => !known.includes(name))).toEqual([]);
    const stages = all('FROM').map((text) => / AS (\w+)$/.exec(text)?.[1]);
    for (const text of all('COPY')) {
      const from = /^--from=(\w+) /.exec(text)?.[1];
      if (from !== undefined) expect(stages).toContain(from);
      else
        for (const file of text.split(' ').slice(0, -1))
          expect(existsSync(join(root, file)), file).toBe(true);
    }
    const ignored = read('.dockerignore').trim().split('\n');
    for (const file of ['src', 'wasm', 'model', 'package-lock.json']) expect(ignored).not.toContain(file);
    expect(ignored).toEqual(expect.arrayContaining(['node_modules', '.git']));
  });

  test('runs the program on a supported Node.js, as an unprivileged user', () => {
    for (const text of all('FROM'))
      expect(Number(/^node:(\d+)-bookworm-slim\b/.exec(text)?.[1])).toBeGreaterThanOrEqual(22);
    expect(all('USER')).toEqual(['node']);
    expect(instructions.findLastIndex(([, name]) => name === 'RUN')).toBeLessThan(
      instructions.findIndex(([, name]) => name === 'USER'),
    );
    expect(JSON.parse(all('ENTRYPOINT').join())).toEqual(Object.keys(manifest.bin));
    expect(JSON.parse(all('CMD').join())).toEqual(['--help']);
    for (const text of all('RUN').filter((line) => line.includes('apt-get install')))
      expect(text).toMatch(/--no-install-recommends[^&]*&&\s*rm -rf \/var\/lib\/apt\/lists/);
  });

  test.each([...read('Dockerfile').matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, script = '']) => [script]))(
    'the shell parses %.40s',
    async (script) => expect(await run('sh', ['-n', '-c', script])).toMatchObject({ code: 0, stderr: '' }),
  );
});
