/**
 * @module test/node/cli/batch
 * Many jobs as a user runs them: a batch gives results as they end, does not repeat finished jobs, and loses or doubles
 * nothing when killed; parts of a pair are merged.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { encodeLines } from '../../../src/cli/batch/table.js';
import {
  anyvmaf,
  anyvmafProcess,
  ends,
  run as exec,
  type Outcome,
  PROGRAM,
  passes,
  refuses,
  videos,
} from '../../support/cli.js';
import { elsewhere, node, model as onnx, port } from '../../support/onnx.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const files = videos();

const [reference, distorted] = files.pair(['r.y4m', 'd.y4m'], 6);
const [, other] = files.pair(['r2.y4m', 'e.y4m'], 6, { seed: 62 });
const table = files.put(
  'jobs.csv',
  'reference,distorted,feature,subsample,fail-under\n' +
    'r.y4m,d.y4m,,,\nr.y4m,d.y4m,psnr,2,\nr.y4m,e.y4m,,,\nr.y4m,missing.y4m,,,\nr.y4m,d.y4m,,,100\n',
);

interface Line {
  readonly job: { readonly id: string; readonly line: number };
  readonly pooled_metrics?: { readonly vmaf: { readonly mean: number } };
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: { readonly passed: boolean };
  readonly frames_file?: string;
}

const linesOf = (path: string): readonly Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const inOrder = (path: string) => [...linesOf(path)].sort((a, b) => a.job.line - b.job.line);
const batch = (jobs: string, out: string, ...more: string[]) => anyvmaf(['batch', jobs, '-o', out, ...more]);

/** Expects an exit code and a part of standard output. */
function expectRun(run: Outcome, code: number, text: string): void {
  expect(run, run.stderr).toMatchObject({ code, stdout: expect.stringContaining(text) });
}

describe('batch', () => {
  const out = files.at('results.jsonl');
  const page = files.at('page.html');

  it('adds a line for each job, also for failed ones', async () => {
    const run = await batch(table, out, '--frames', '--html', page, '--precision', 'max');
    expectRun(run, 2, '5 jobs; 1 failed, 1 below');
    expect(run.stderr).toContain('missing.y4m: there is no such file');
    const lines = inOrder(out);
    expect(lines.map(({ job }) => job.line)).toEqual([2, 3, 4, 5, 6]);
    expect(new Set(lines.map(({ job }) => job.id)).size).toBe(5);
    const alone = files.at('alone.json');
    await anyvmaf([reference, other, '--precision', 'max', '-o', alone]);
    const single = JSON.parse(readFileSync(alone, 'utf8'));
    expect(lines[2]?.pooled_metrics).toEqual(single.pooled_metrics);
    expect(lines[3]?.error).toMatchObject({ code: 'io' });
    expect(lines[4]?.gate?.passed).toBe(false);
    const bytes = Uint8Array.from(readFileSync(lines[2]?.frames_file ?? ''));
    const rows = await parquetReadObjects({ file: bytes.buffer });
    const found = rows.map(({ vmaf }) => vmaf);
    expect(found).toEqual(single.frames.map(({ metrics }: { metrics: { vmaf: number } }) => metrics.vmaf));
    const text = readFileSync(page, 'utf8');
    expect(text).toContain('3 passed, 1 below the limit or untrusted, 1 failed');
    expect(text).toContain('missing.y4m');
  });

  it.skipIf(process.platform === 'win32')('fails jobs with a pipe at once, and continues', async () => {
    execFileSync('mkfifo', [files.at('pipe.y4m')]);
    const piped = files.put(
      'piped.csv',
      'reference,distorted\nr.y4m,pipe.y4m\npipe.y4m,d.y4m\nr.y4m,/dev/zero\nr.y4m,e.y4m\n',
    );
    const result = files.at('piped.jsonl');
    // Reading it would wait for ever, and stop the signals that end it.
    const refused = await batch(piped, files.at('pipe.y4m'));
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/pipe or a device.*name a file/),
    });
    const run = await batch(piped, result);
    expectRun(run, 2, '4 jobs; 3 failed');
    expect(run.stderr).toContain('pipe.y4m is a named pipe, but a batch reads files; store the video');
    expect(inOrder(result).map(({ error }) => error?.code)).toEqual(['io', 'io', 'io', undefined]);
  });

  it('reports untrusted scores at its end', async () => {
    const one = files.put('one.csv', 'reference,distorted\nr.y4m,e.y4m\n');
    const result = files.at('one.jsonl');
    const trusted = await batch(one, result);
    expect(trusted.stdout).not.toContain('trusted');
    const line = readFileSync(result, 'utf8');
    writeFileSync(result, line.replace(/"verdict": ?"\w+"/, '"verdict":"untrusted"'));
    expectRun(await batch(one, result), 0, '0 failed, 1 scored but untrusted');
  });

  it('stops a job at its time limit, and continues with the others', async () => {
    const limited = files.put(
      'limited.csv',
      'reference,distorted,max_seconds\nr.y4m,d.y4m,0.000001\nr.y4m,e.y4m,\n',
    );
    const result = files.at('limited.jsonl');
    const run = await batch(limited, result, '--max-seconds', '600');
    expectRun(run, 2, '2 jobs; 1 failed');
    expect(run.stderr).toContain('--max-seconds is 0.000001, but scoring took longer and was stopped');
    const lines = inOrder(result);
    expect(lines[0]?.error).toMatchObject({ code: 'resource' });
    expect(lines[1]?.pooled_metrics?.vmaf.mean).toBeGreaterThan(0);
    // A limit changes no number, so finished jobs stay valid.
    const unlimited = files.put('limited.csv', 'reference,distorted\nr.y4m,e.y4m\n');
    expectRun(await batch(unlimited, result), 0, '1 from earlier runs');
  });

  it('does not repeat finished jobs, unless a line or a file has changed', async () => {
    const before = readFileSync(out, 'utf8');
    expectRun(await batch(table, out), 2, '5 from earlier runs');
    expect(readFileSync(out, 'utf8')).toBe(before);
    utimesSync(other, 1000, 1000);
    const changed = await batch(table, out);
    expect(changed.stdout).toContain('4 from earlier runs');
    expect(readFileSync(out, 'utf8').startsWith(before)).toBe(true);
    expect(linesOf(out)).toHaveLength(6);
  });

  it.each(['shot/p_%02d.png', 'shot/*.png', 'shot'])(
    'does not take %s for what it was, once a picture has changed',
    async (name) => {
      mkdirSync(files.at('shot'), { recursive: true });
      files.put('shot/p_01.png', 'one');
      const jobs = files.put('pictures.csv', `reference,distorted\nr.y4m,${name}\n`);
      const result = files.at('pictures.jsonl');
      rmSync(result, { force: true });
      await batch(jobs, result);
      await batch(jobs, result);
      expect(linesOf(result)).toHaveLength(1);
      files.put('shot/p_01.png', 'another');
      await batch(jobs, result);
      expect(linesOf(result)).toHaveLength(2);
    },
  );

  it.each([
    ['model', 'own.json', 'own.json'],
    ['tiny-model', 'own.onnx', 'own.onnx'],
    ['tiny-model', 'own.onnx', 'own.json'],
    ['tiny-model', 'own.onnx', 'own.int8.onnx'],
    ['tiny-model', 'split.onnx', 'weights.bin'],
  ])('scores again with --%s=%s once %s has changed', async (option, model, name) => {
    const graph = {
      nodes: [node('MatMul', ['x', 'w'], ['y'])],
      ...{ inputs: [port('x', ['N', 6])], outputs: [port('y', ['N', 1])] },
      initializers: [elsewhere('w', [6, 1], 'weights.bin')],
    };
    files.put(model, onnx(graph));
    files.put(name, 'one');
    const jobs = files.put('own.csv', `reference,distorted,${option}\nr.y4m,e.y4m,${files.at(model)}\n`);
    const result = files.at(`${option}-${name}.jsonl`);
    await batch(jobs, result);
    await batch(jobs, result);
    expect(linesOf(result)).toHaveLength(1);
    files.put(name, 'another');
    await batch(jobs, result);
    expect(linesOf(result)).toHaveLength(2);
  });

  it('drops a torn last line, and retries failed jobs on request', async () => {
    const before = readFileSync(out, 'utf8');
    writeFileSync(out, `${before}{"job":{"id":"x`);
    await batch(table, out);
    expect(readFileSync(out, 'utf8')).toBe(before);
    files.put('missing.y4m', readFileSync(distorted));
    expectRun(await batch(table, out, '--retry-failed'), 3, '0 failed');
    expect(linesOf(out).filter(({ error }) => error)).toEqual([]);
  });

  it('reports each job as JUnit XML and Markdown', async () => {
    const [junit, summary, github] = ['j.xml', 's.md', 'github.md'].map(files.at) as [string, string, string];
    files.put('github.md', 'before\n');
    const jobs = files.put(
      'judged.csv',
      'reference,distorted,fail-under\nr.y4m,d.y4m,100\nr.y4m,e.y4m,\nr.y4m,<no&file>.y4m,90\n',
    );
    const args = ['batch', jobs, '-o', files.at('judged.jsonl'), '--junit', junit, '--summary', summary];
    const run = await anyvmaf([...args, '--github-summary'], { env: { GITHUB_STEP_SUMMARY: github } });
    expect(run, run.stderr).toMatchObject({ code: 2 });
    const xml = readFileSync(junit, 'utf8');
    const cases = [
      ...xml.matchAll(
        / name="line (\d): [^"]*"[^>]*>(?:\s*<(error|failure) type="(\w+)" message="([^"]*)")?/g,
      ),
    ];
    expect(cases.map(([, ...found]) => found)).toEqual([
      ['2', 'failure', 'gate', expect.stringContaining('below --fail-under 100')],
      ['3', undefined, undefined, undefined],
      ['4', 'error', 'io', expect.stringContaining('there is no such file')],
    ]);
    const text = readFileSync(summary, 'utf8');
    expect(text).toMatch(/^## ❌ anyvmaf: 2 of 3 jobs failed\n/);
    expect(xml + text).not.toContain('<no');
    expect(readFileSync(github, 'utf8')).toBe(`before\n${text}`);
    // A later run reports the same.
    await anyvmaf(args);
    expect(readFileSync(junit, 'utf8')).toBe(xml);
  });

  it.each([
    [['--junit', '-'], 'the name of a file'],
    [['--junit', 'a.xml', '--summary', 'a.xml'], 'two outputs of the batch are both'],
    [['--github-summary'], 'GITHUB_STEP_SUMMARY names, which is not set'],
    [['--baseline', 'a.json'], 'unknown option'],
    [['--live', 'sse:0'], 'unknown option'],
    [['--alarm', 'p5<80'], 'unknown option'],
    [['--window', '10s'], 'which is for live runs and not for a batch'],
    [['--shard', '1/2'], 'unknown option'],
    [['--also-model', 'neg'], 'unknown option'],
    [['--features-table'], 'unknown option'],
  ])('refuses %j, which tables do not support', async (args, why) => {
    const env = { GITHUB_STEP_SUMMARY: '' };
    await ends(['batch', table, '-o', files.at('never.jsonl'), ...args], 1, why, { env });
    expect(readdirSync(files.at('.'))).not.toContain('never.jsonl');
  });

  it('reads tables of other programs: BOM, CRLF, quotes, hundreds of lines', async () => {
    files.put('a "b", c.y4m', readFileSync(distorted));
    const rows = Array.from(
      { length: 300 },
      (_, i) => `"r.y4m","${i % 2 ? 'd.y4m' : 'a ""b"", c.y4m'}",psnr`,
    );
    const jobs = files.put('large.csv', `\uFEFFreference,distorted,feature\r\n${rows.join('\r\n')}\r\n`);
    const results = files.at('large.jsonl');
    const run = await batch(jobs, results, '-n');
    expectRun(run, 0, '2 jobs; 0 failed');
    expect(linesOf(results)).toHaveLength(2);
    const said = run.stderr.trimEnd().split('\n');
    expect(said).toHaveLength(11);
    expect(said[0]).toContain('line 4 repeats line 2; it is scored once');
    expect(said[10]).toContain('288 more lines repeat earlier ones');
  });

  it('fails only the job with an impossible file name', async () => {
    const jobs = files.put(
      'nul.jsonl',
      '{"reference":"r.y4m","distorted":"a\\u0000b.y4m"}\n{"reference":"r.y4m","distorted":"d.y4m"}\n',
    );
    const results = files.at('nul.jsonl.out');
    const run = await batch(jobs, results);
    expectRun(run, 2, '2 jobs; 1 failed');
    expect(run.stderr).toMatch(/^[ -~]+\n$/);
    const message = expect.stringContaining('NUL');
    expect(inOrder(results)[0]?.error).toMatchObject({ code: 'usage', message });
  });

  it.skipIf(process.platform === 'win32')(
    'fails on a full disk, and resumes when there is room',
    async () => {
      const results = files.at('full.jsonl');
      const jobs = files.put('full.csv', 'reference,distorted\nr.y4m,d.y4m\nr.y4m,e.y4m\n');
      // A limit of a few kilobytes: one line and a part of the next.
      const full = await exec('/bin/sh', [
        ...['-c', `ulimit -f 8; exec "$0" "$@"`, process.execPath, PROGRAM],
        ...['batch', jobs, '-o', results, '--together', '1'],
      ]);
      expect(full, full.stderr).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot write') });
      expect(readFileSync(results, 'utf8').endsWith('\n')).toBe(false);
      expectRun(await batch(jobs, results), 0, '2 jobs');
      expect(inOrder(results).map(({ job }) => job.line)).toEqual([2, 3]);
    },
  );

  it('refuses a file of other content, and leaves it unchanged', async () => {
    const wrong = files.put('other.jsonl', '{"a":1}\n');
    await ends(['batch', table, '-o', wrong], 2, 'line 1 of');
    expect(readFileSync(wrong, 'utf8')).toBe('{"a":1}\n');
    expect(await batch(table, distorted)).toMatchObject({ code: 1 });
  });

  it('scores the encodes of a folder', async () => {
    const results = files.at('folder.jsonl');
    const options = ['--reference', reference, '-n', '--feature', 'psnr'];
    expectRun(await batch(files.at('?.y4m'), results, ...options), 0, '2 jobs; 0 failed');
    expect(inOrder(results)).toHaveLength(2);
  });

  it('refuses results that another process writes, under any name, until that process has ended', async () => {
    const results = files.at('locked.jsonl');
    symlinkSync('locked.jsonl', files.at('link.jsonl'));
    const jobs = files.put('two.csv', 'reference,distorted\nr.y4m,d.y4m\nr.y4m,e.y4m\n');
    let pid: number | undefined;
    const second: Promise<Outcome>[] = [];
    // It stops itself once it has the lock, so that it does not end before the second one has looked.
    const stops = `import { readdirSync } from 'node:fs';
      const wait = setInterval(() => {
        if (!readdirSync(${JSON.stringify(files.at('.'))}).some((name) => name.endsWith('.lock'))) return;
        clearInterval(wait);
        process.kill(process.pid, 'SIGSTOP');
      }, 1);`;
    await anyvmafProcess(['batch', jobs, '-o', results], {
      node: ['--import', `data:text/javascript,${encodeURIComponent(stops)}`],
      meanwhile: (child) => {
        child.stdin?.end();
        pid = child.pid;
        const watch = setInterval(() => {
          if (!readdirSync(files.at('.')).some((name) => name.endsWith('.lock'))) return;
          clearInterval(watch);
          second.push(batch(jobs, files.at('link.jsonl')));
          void second[0]?.then(() => child.kill('SIGKILL'));
        }, 20);
        child.once('exit', () => clearInterval(watch));
      },
    });
    expect(await second[0]).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`is locked: process ${pid} writes it; wait until`)),
    });
    expectRun(await batch(jobs, files.at('link.jsonl')), 0, '2 jobs');
    expect(linesOf(results)).toHaveLength(2);
    expect(readdirSync(files.at('.')).filter((name) => name.startsWith('.anyvmaf'))).toEqual([]);
  });

  it('loses and doubles nothing when killed again and again', async () => {
    const kills = tier(3, 25);
    const random = seeded(18);
    const results = files.at('killed.jsonl');
    const rows = Array.from({ length: 12 }, (_, i) => {
      const pair = { reference: 'r.y4m', distorted: i % 2 ? 'd.y4m' : 'e.y4m' };
      return JSON.stringify({ ...pair, frame_cnt: i + 1, threads: 0 });
    });
    const many = files.put('many.jsonl', rows.join('\n'));
    const args = ['batch', many, '-o', results, '--frames', '--together', '2'];
    for (let i = 0; i < kills; i++) {
      const delay = random.int(200, 900);
      await anyvmafProcess(args, {
        meanwhile: (child) => {
          child.stdin?.end();
          setTimeout(() => child.kill('SIGKILL'), delay);
        },
      });
      // Restart now and then, so that kills hit every place.
      if (i % 5 === 4 && i < kills - 1) rmSync(results, { force: true });
    }
    await passes(args);
    const lines = inOrder(results);
    expect(lines.map(({ job }) => job.line)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(readFileSync(results, 'utf8').endsWith('}\n')).toBe(true);
    const left = readdirSync(`${results}.frames`);
    expect(left.filter((name) => name.endsWith('.parquet'))).toHaveLength(12);
    expect(left).toHaveLength(12);
  }, 600_000);
});

describe('encodes of a folder', () => {
  const at = (name: string) => files.at(`film/${name}`);
  mkdirSync(files.at('film'));
  for (const name of ['film_1080p.mp4', 'film_720p.mkv', '._film_720p.mkv', 'notes.txt'])
    files.put(`film/${name}`, '');

  it.each([
    ['masters/{folder}.mov', undefined, 'masters/film.mov'],
    ['{stem}.y4m', undefined, 'film_1080p.y4m'],
    ['masters/{1}.mov', /([^/]+)_[0-9]+p/, 'masters/film.mov'],
    ['same.mov', undefined, 'same.mov'],
  ])('find their reference by the rule %s', async (reference, match, expected) => {
    const lines = await encodeLines([files.at('film')], { reference, match });
    expect(lines.map(({ distorted }) => distorted)).toEqual([at('film_1080p.mp4'), at('film_720p.mkv')]);
    expect(lines[0]?.reference).toBe(expected);
  });

  it('are not the reference itself, however it is written', async () => {
    const lines = await encodeLines([files.at('film')], { reference: `${files.at('film')}/./film_720p.mkv` });
    expect(lines.map(({ distorted }) => distorted)).toEqual([at('film_1080p.mp4')]);
  });

  it.each([
    ['*_7?0p*', 'film_720p.mkv'],
    ['.*.mkv', '._film_720p.mkv'],
  ])('are found by the pattern %s', async (pattern, found) => {
    const lines = await encodeLines([at(pattern)], { reference: 'x' });
    expect(lines.map(({ distorted }) => distorted)).toEqual([at(found)]);
  });

  it('are refused if the rule does not match', async () => {
    const wrong = (reference: string, match?: RegExp) =>
      expect(encodeLines([at('film_720p.mkv')], { reference, match })).rejects;
    await wrong('{what}').toThrow('"{what}"');
    await wrong('{2}', /(film)/).toThrow('"{2}"');
    await wrong('{1}', /(other)/).toThrow('does not match');
    await expect(encodeLines([files.at('*.x')], { reference: 'x' })).rejects.toThrow('no videos');
  });
});

it('scores and judges metrics of colour in a batch', async () => {
  const jobs = files.put(
    'colour.csv',
    'reference,distorted,feature,fail-under\nr.y4m,d.y4m,ssimulacra2,ssimulacra2>=101\nr.y4m,d.y4m,cvvdp,cvvdp>=1\n' +
      'r.y4m,d.y4m,,nothing.p5>=1\n',
  );
  const out = files.at('colour.jsonl');
  expectRun(await batch(jobs, out), 2, '3 jobs; 1 failed, 1 below');
  expect(inOrder(out)).toMatchObject([
    {
      gate: { passed: false, limits: ['ssimulacra2.mean>=101'] },
      pooled_metrics: { ssimulacra2: { mean: expect.any(Number) } },
    },
    { gate: { passed: true }, aggregate_metrics: { cvvdp: expect.any(Number) } },
    { error: { code: 'usage', message: expect.stringContaining('"nothing" is not measured') } },
  ]);
});

describe('merge', () => {
  const part = (number: number) => files.at(`part-${number}.json`);

  it('makes the report of a whole run', async () => {
    for (const number of [1, 2]) {
      const args = [reference, distorted, '--shard', `${number}/2`, '-o', part(number), '--threads', '0'];
      expect(await anyvmaf(args)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    }
    const report = [files.at('merged.json'), files.at('whole.json')] as const;
    const merged = await anyvmaf(['merge', part(2), part(1), '--precision', 'max', '-o', report[0]]);
    expect(merged).toMatchObject({ code: 0, stderr: '' });
    await anyvmaf([reference, distorted, '--precision', 'max', '-o', report[1], '--threads', '0']);
    const [one, other] = report.map((path) => readFileSync(path, 'utf8').replace(/"fps": .*/, ''));
    expect(one).toBe(other);
    const gate = ['--fail-under', '100', '--junit', files.at('merged.xml')];
    await ends(['merge', part(1), part(2), ...gate], 3, 'below --fail-under 100');
    expect(readFileSync(files.at('merged.xml'), 'utf8')).toContain('<failure ');
  });

  it('reports missing parts, and writes nothing', async () => {
    const out = files.at('none.json');
    const missing = /^anyvmaf: 1 shard of 2 is missing: 2; measure it and merge again\.\n$/;
    await refuses(['merge', part(1), '-o', out], 2, missing);
    expect(() => readFileSync(out)).toThrow('ENOENT');
  });

  it.each([
    [['--shard', '3/2', 'a', 'b'], 'a part and the number of parts'],
    [['--shard', '1/2', '--html', 'x.html', 'a', 'b'], 'anyvmaf merge'],
    [['--shard', '1/2', 'a', 'b', 'c'], 'a part of one pair'],
    [['merge'], 'no parts given'],
  ])('refuses %j', async (args, why) => {
    await ends(args, 1, why);
  });
});
