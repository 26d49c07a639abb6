/**
 * @module test/node/cli/gate
 * Gates for CI: limits on pooled values, baselines, and reports of the verdicts.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { anyvmaf, ends, expectFailure, passes, refuses, videos } from '../../support/cli.js';

const files = videos();
const [ref, dis] = files.pair(['ref.y4m', 'dis.y4m'], 12);
const [, worse] = files.pair(['ref2.y4m', 'other.y4m'], 12, { seed: 62 });

interface Saved {
  readonly pooled_metrics: Readonly<Record<string, Readonly<Record<'mean' | 'min' | 'max', number>>>>;
  readonly distribution: Readonly<
    Record<string, { readonly percentiles: Readonly<Record<'p5' | 'p75', number>>; readonly stddev: number }>
  >;
}
const base = files.at('base.json');
const made = anyvmaf([ref, dis, '-o', base, '--feature', 'psnr', '--threads', '0']);
const saved = async () => {
  expect(await made).toMatchObject({ code: 0 });
  return JSON.parse(readFileSync(base, 'utf8')) as Saved;
};
const gate = (...args: string[]) => anyvmaf([ref, dis, '--threads', '0', '-q', ...args]);

/** Asserts that a run with these options ends with one line and nothing else. */
const refused = (args: readonly string[], code: number, text: string) =>
  refuses([ref, dis, '--threads', '0', '-q', ...args], code, text);

/** The tags of an XML file; fails on unbalanced tags and invalid entities. */
function tags(xml: string): string[] {
  const open: string[] = [];
  const names: string[] = [];
  const body = xml.replace(/^<\?xml[^>]*\?>\s*/, '');
  for (const [, close, name = '', , self] of body.matchAll(
    /<(\/?)([a-z-]+)((?:\s+[a-z]+="[^"<]*")*)\s*(\/?)>/g,
  )) {
    if (close) expect(open.pop()).toBe(name);
    else {
      names.push(name);
      if (!self) open.push(name);
    }
  }
  expect(open).toEqual([]);
  expect(body.replace(/&(amp|lt|gt|quot|#\d+);/g, '').includes('&')).toBe(false);
  expect((body.match(/</g) ?? []).length).toBe((body.match(/>/g) ?? []).length);
  return names;
}

describe('limits on pooled values', () => {
  test('each statistic of a report is checked by its own value', async () => {
    const { pooled_metrics: pooled, distribution } = await saved();
    const values: [string, number | undefined][] = [
      ['vmaf.mean', pooled.vmaf?.mean],
      ['vmaf.min', pooled.vmaf?.min],
      ['psnr_y.max', pooled.psnr_y?.max],
      ['vmaf.p5', distribution.vmaf?.percentiles.p5],
      ['psnr_cb.p75', distribution.psnr_cb?.percentiles.p75],
      ['integer_vif_scale0.stddev', distribution.integer_vif_scale0?.stddev],
    ];
    const passing = values.map(([name, value]) => `${name}>=${Number(value) - 0.0001}`);
    expect(await gate('--fail-under', passing.join(','), '--feature', 'psnr')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const failing = values.map(([name, value]) => `${name}>=${(Number(value) + 0.0001).toFixed(6)}`);
    const limits = failing.flatMap((limit) => ['--fail-under', limit]);
    const { code, stderr } = await gate('--feature', 'psnr', ...limits);
    expect(code).toBe(3);
    expect(stderr.trimEnd().split('\n')).toEqual(
      values.map(([name, value], i) => {
        const found = `anyvmaf: ${name} is ${Number(value).toFixed(6)}, below the limit: --fail-under '${failing[i]}'`;
        return expect.stringMatching(new RegExp(`^${found.replace(/[.()'*+?^$|[\]\\]/g, '\\$&')}$`));
      }),
    );
  });

  test('an upper limit, the short name of a metric, and a statistic of every model', async () => {
    const models = ['-m', 'vmaf_v0.6.1', '-m', 'vmaf_v0.6.1neg:name=neg'];
    const limits = ['--fail-under', 'p5>=100,ssim<=0.1', '--fail-under', 'neg.max<=100'];
    const { code, stderr } = await gate(...models, ...limits);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^anyvmaf: vmaf\.p5 is .*\nanyvmaf: neg\.p5 is .*\nanyvmaf: float_ssim\.mean is 0\.\d+, above/,
    );
  });

  test('metrics that only a limit names are measured', async () => {
    const { code, stdout } = await gate('--fail-under', 'psnr_y.mean>=1', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).pooled_metrics.psnr_y.mean).toBeCloseTo(
      Number((await saved()).pooled_metrics.psnr_y?.mean),
      5,
    );
    const apsnr = await gate('-n', '--feature', 'psnr=enable_apsnr=true', '--fail-under', 'apsnr_y>=1');
    expect(apsnr.code).toBe(0);
  });

  test.each([
    ['ssimulacra2>=100.1', /^anyvmaf: ssimulacra2\.mean is -?[\d.]+, below the limit/],
    ['ssimulacra2.p5>=-1000', undefined],
    ['butteraugli_3norm.max<=0', /^anyvmaf: butteraugli_3norm\.max is [\d.]+, above the limit/],
    ['cvvdp>=10.1', /^anyvmaf: cvvdp is \d\.\d+, below the limit/],
    ['cvvdp>=1', undefined],
    ['cvvdp_q.worst_second<=1000', undefined],
    ['sequence_xpsnr_min>=200', /^anyvmaf: sequence_xpsnr_min is [\d.]+, below the limit/],
  ])('%s measures its metric', async (limit, complaint) => {
    const { code, stderr } = await gate('-n', '--fail-under', limit);
    expect(code).toBe(complaint ? 3 : 0);
    if (complaint) expect(stderr).toMatch(complaint);
    else expect(stderr).toBe('');
  });

  test.each([
    [['--fail-under', 'vmaf.p6>=80'], 1, '"vmaf.p6" is not measured'],
    [['--fail-under', 'vmaf.p5>80'], 1, 'a pooled value and its bound such as vmaf.p5>=80'],
    [['--fail-under', 'vmaf.p5>='], 1, 'must be a number'],
    [['--fail-under', 'nothing.mean>=1'], 1, '"nothing" is not measured; this run measures '],
    [['--fail-under', '__proto__.mean>=1'], 1, '"__proto__" is not measured'],
    [['--fail-under', 'apsnr_y>=1'], 1, '"apsnr_y" is not measured'],
    [['--fail-under', 'p5>=1', '-n'], 1, 'makes none'],
  ])('%.60j is refused', refused);
});

test('long limits are refused at once, and not quoted', async () => {
  for (const limit of [
    `vmaf.${'p'.repeat(100_000)}>=1`,
    '9'.repeat(100_000),
    `${'a.'.repeat(50_000)}p5>=1`,
  ]) {
    const { code, stderr } = await gate('--fail-under', limit);
    expect(code).toBe(1);
    expect(stderr).toContain('must be a number');
    expect(stderr.length).toBeLessThan(600);
  }
});

describe('a baseline', () => {
  test('of the same encode passes without a drop, in every format that names its models', async () => {
    await saved();
    for (const [format, path] of [
      ['json', base],
      ['xml', files.at('base.xml')],
      ['ndjson', files.at('b.ndjson')],
    ] as const) {
      if (format !== 'json') await anyvmaf([ref, dis, `--${format}`, '-o', path, '--feature', 'psnr']);
      const drops = ['--max-drop', '0,vmaf.p5=0', '--max-drop', 'psnr_y.min=0'];
      expect(await gate('--baseline', path, ...drops), format).toMatchObject({ code: 0, stderr: '' });
    }
  });

  test('of a better encode fails, with the drop', async () => {
    const { pooled_metrics: pooled } = await saved();
    const better = structuredClone(pooled) as Record<string, Record<string, number>>;
    const raised = { ...better, vmaf: { ...better.vmaf, mean: Number(better.vmaf?.mean) + 0.75 } };
    const path = files.put('better.json', JSON.stringify({ ...(await saved()), pooled_metrics: raised }));
    expect(await gate('--baseline', path, '--max-drop', '0.76')).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await gate('--baseline', path, '--max-drop', '0.5');
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^anyvmaf: vmaf\.mean within 0\.5 of the baseline failed: [\d.]+, was [\d.]+: worse by 0\.75\d*\n$/,
    );
  });

  test('a metric whose lower values are better drops when it rises', async () => {
    const mse = ['-n', '--feature', 'psnr=enable_mse=true'];
    const path = files.at('mse.json');
    await anyvmaf([ref, dis, ...mse, '-o', path]);
    const report = JSON.parse(readFileSync(path, 'utf8'));
    report.pooled_metrics.mse_y.mean -= 1;
    writeFileSync(path, JSON.stringify(report));
    expect((await gate(...mse, '--baseline', path, '--max-drop', 'mse_y=0.5')).code).toBe(3);
    report.pooled_metrics.mse_y.mean += 5;
    writeFileSync(path, JSON.stringify(report));
    expect((await gate(...mse, '--baseline', path, '--max-drop', 'mse_y=0.5')).code).toBe(0);
  });

  test('of ColorVideoVDP drops with its JOD, whose higher values are better', async () => {
    const path = files.at('cvvdp.json');
    await anyvmaf([ref, dis, '-n', '--feature', 'cvvdp', '-o', path]);
    const report = JSON.parse(readFileSync(path, 'utf8'));
    report.aggregate_metrics.cvvdp += 0.2;
    writeFileSync(path, JSON.stringify(report));
    expect((await gate('-n', '--baseline', path, '--max-drop', 'cvvdp=0.1')).code).toBe(3);
    expect((await gate('-n', '--baseline', path, '--max-drop', 'cvvdp=0.3')).code).toBe(0);
  });

  test('of several encodes is the JSON array of them, matched by name', async () => {
    const path = files.at('several.json');
    await anyvmaf([ref, dis, worse, '-o', path]);
    const both = await anyvmaf([ref, worse, dis, '-q', '--baseline', path, '--max-drop', '0']);
    expect(both).toMatchObject({ code: 0, stderr: '' });
    const one = await gate('--baseline', path, '--max-drop', '0');
    expect(one).toMatchObject({ code: 0, stderr: '' });
    const unknown = files.put('new.y4m', readFileSync(dis));
    await ends([ref, unknown, '--baseline', path, '--max-drop', '0'], 2, 'no report of');
  });

  test.each([
    ['another model', ['-m', 'vmaf_v0.6.1neg'], 'its vmaf uses vmaf_v0.6.1, this run uses vmaf_v0.6.1neg'],
    ['other options of the model', ['-m', 'vmaf_v0.6.1:enable_transform'], 'with enable_transform'],
    ['other arithmetic', ['--compat', 'libvmaf-3.0'], 'its compat is libvmaf-3.2, this run has libvmaf-3.0'],
    ['other frames', ['--frame_cnt', '7'], 'it has 12 frame pairs, this run has 7'],
    ['every other frame', ['--subsample', '2'], 'its subsample is 1, this run has 2'],
    ['a metric that it lacks', ['--max-drop', 'ciede=1'], 'it has no ciede2000, only '],
    ['a metric of no run', ['--max-drop', 'nothing.p5=1'], '"nothing" is not measured'],
  ])('of %s is refused', async (_, args, text) => {
    await saved();
    const { code, stdout, stderr } = await gate('--baseline', base, '--max-drop', '0.5', ...args);
    expect([stdout, stderr]).toEqual(['', expect.stringContaining(text)]);
    expect([1, 2]).toContain(code);
    expect(stderr).toMatch(/^anyvmaf: [^\n]*\n$/);
  });

  test('that is not a report, damaged or of libvmaf is refused before scoring', async () => {
    const text = JSON.stringify(await saved());
    const lies: [string, string][] = [
      ['{"frames": []}', 'does not name the models of its scores'],
      [text.slice(0, 3000), 'base-'],
      ['[]', 'has no report'],
      ['[{]', 'is damaged'],
      ['{"frames": [{"frameNum": 0, "metrics": {"vmaf": 1}}]}', 'does not name the models of its scores'],
      ['', 'it is empty'],
    ];
    for (const [content, why] of lies) {
      const path = files.put('base-lie.json', content);
      await refuses(['no-such.y4m', dis, '--baseline', path, '--max-drop', '1'], 2, why);
    }
    await refused(['--baseline', files.at('gone.json'), '--max-drop', '1'], 2, 'there is no such file');
  });

  test('is not overwritten by the report of the same run', async () => {
    await saved();
    const drop = ['--baseline', base, '--max-drop', '1'];
    await refused([...drop, '--junit', base], 1, '--baseline and --junit are both');
    const text = readFileSync(base, 'utf8');
    symlinkSync(base, files.at('alias.json'));
    await refused([...drop, '-o', files.at('alias.json')], 1, 'alias.json');
    expect(readFileSync(base, 'utf8')).toBe(text);
  });

  test('requires --max-drop', async () => {
    await refused(['--baseline', base], 1, 'add --max-drop');
    await refused(['--max-drop', '1'], 1, '--baseline');
    for (const bad of ['-1', 'x', 'vmaf.p5', 'vmaf p5=1'])
      await refused(['--baseline', base, `--max-drop=${bad}`], 1, 'from 0');
  });
});

describe('files for CI', () => {
  const hostile = '<b> & "|` ](http:\u001b[31m @all.y4m';
  const odd = files.put(hostile.replaceAll('/', '_'), readFileSync(dis));

  test('JUnit XML has a suite per encode and a case per check', async () => {
    const path = files.at('junit.xml');
    const missing = files.at('missing.y4m');
    const options = ['--junit', path, '--fail-under', '1,vmaf.p5>=100'];
    const { code } = await anyvmaf([ref, dis, odd, missing, ...options]);
    expect(code).toBe(2);
    const xml = readFileSync(path, 'utf8');
    const names = tags(xml);
    const count = (name: string) => names.filter((one) => one === name).length;
    expect([count('testsuite'), count('failure'), count('error')]).toEqual([3, 2, 1]);
    expect(xml).toContain('<testsuites name="anyvmaf" tests="5" failures="2" errors="1">');
    expect(xml).toMatch(/name="vmaf\.p5 &gt;= 100"[\s\S]*message="vmaf\.p5 &gt;= 100: [\d.]+"/);
    expect(xml).toMatch(/worst vmaf: \d+\.\d{4} in frame \d+ at 0:00\.\d\d/);
    expect(xml).not.toContain('\u001b');
  });

  test('JUnit XML without any limit reports that each was scored', async () => {
    const path = files.at('plain.xml');
    expect(await gate('--junit', path)).toMatchObject({ code: 0 });
    expect(tags(readFileSync(path, 'utf8'))).toEqual(['testsuites', 'testsuite', 'testcase', 'system-out']);
  });

  test('the Markdown has the checks and the worst frame, and no markup from names', async () => {
    const path = files.at('summary.md');
    const { code } = await anyvmaf([ref, dis, odd, '--summary', path, '--fail-under', 'vmaf.min>=99.9']);
    expect(code).toBe(3);
    const text = readFileSync(path, 'utf8');
    const report = await saved();
    const [, frame] = /\| frame (\d+) at 0:00\.\d\d \| <code>vmaf<\/code> ([\d.]+) \|/.exec(text) ?? [];
    const full = JSON.parse(readFileSync(base, 'utf8')) as {
      frames: { frameNum: number; metrics: { vmaf: number } }[];
    };
    const found = full.frames.find(({ frameNum }) => frameNum === Number(frame))?.metrics.vmaf;
    expect(found).toBe(report.pooled_metrics.vmaf?.min);
    expect(text).toContain('## ❌ anyvmaf: 2 of 2 encodes failed');
    expect(text).toMatch(/anyvmaf heatmap .* --frame \d+/);
    // Every row of a table has the columns of its head, and only our tags.
    const tables = text.split('\n\n').filter((part) => part.startsWith('|'));
    expect(tables).toHaveLength(3);
    for (const table of tables) {
      const rows = table.trim().split('\n');
      expect(new Set(rows.map((row) => row.split('|').length)).size).toBe(1);
    }
    expect(text.replace(/<\/?code>/g, '')).not.toMatch(/[<`]|\]\(|@all/);
    expect(text).not.toContain('\u001b');
  });

  test('the summary of a GitHub step is appended to', async () => {
    const path = files.put('step.md', 'before\n');
    const env = { GITHUB_STEP_SUMMARY: path };
    const args = [ref, dis, '-q', '--github-summary'];
    await passes([...args, '--fail-under', '1'], { env });
    await passes(args, { env });
    const said = readFileSync(path, 'utf8');
    expect(said).toMatch(/^before\n## ✅ anyvmaf: 1 encode passed\n[\s\S]*\n## ✅ anyvmaf/);
    const without = await anyvmaf(args, { env: { GITHUB_STEP_SUMMARY: '' } });
    expectFailure(without, 1, 'GITHUB_STEP_SUMMARY names, which is not set');
    mkdirSync(files.at('folder'));
    const folder = await anyvmaf(args, { env: { GITHUB_STEP_SUMMARY: files.at('folder') } });
    expectFailure(folder, 2, 'GITHUB_STEP_SUMMARY');
  });

  test('each needs its own file', async () => {
    const one = files.at('one');
    await refused(['--junit', one, '--summary', one], 1, 'both');
    await refused(['-o', one, '--junit', one], 1, 'both');
    await refused(['--junit', '-'], 1, 'name of a file');
  });

  test('unwritable files are reported before scoring', async () => {
    for (const option of ['--junit', '--summary'])
      await refused([option, files.at('no/such/folder')], 2, 'its folder does not exist');
  });

  test('merged parts and batches are checked by the same limits', async () => {
    const part = files.at('part.json');
    await anyvmaf([ref, dis, '--shard', '1/1', '-o', part]);
    const options = ['-q', '--fail-under', 'vmaf.p5>=100', '--junit', files.at('m.xml')];
    await ends(['merge', part, ...options], 3, 'vmaf.p5 is ');
    expect(tags(readFileSync(files.at('m.xml'), 'utf8'))).toContain('failure');
    const table = files.put(
      'jobs.csv',
      'reference,distorted,fail-under\nref.y4m,dis.y4m,vmaf.p5>=100\nref.y4m,dis.y4m,nothing.p5>=1\n',
    );
    const results = files.at('jobs.jsonl');
    expect(await anyvmaf(['batch', table, '-o', results])).toMatchObject({ code: 2 });
    const lines = readFileSync(results, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ gate: one, error }) => [one?.passed, one?.limits?.[0], error?.code])).toEqual(
      expect.arrayContaining([
        [false, 'vmaf.p5>=100', undefined],
        [undefined, undefined, 'usage'],
      ]),
    );
  });
});

test('a sampled video passes if its whole interval does, and fails if that is undecided', async () => {
  const [long, encoded] = files.pair(['long-r.y4m', 'long-d.y4m'], 400, { width: 64, height: 64 });
  const sampled = (...args: string[]) =>
    anyvmaf([long, encoded, '--threads', '0', '-q', '--no-preflight', '--samples', '4x1s', ...args]);
  const first = await sampled('--json');
  expect(first).toMatchObject({ code: 0 });
  const report = JSON.parse(first.stdout);
  const { low } = report.sampling.intervals.find(
    (one: { metric: string; statistic: string }) => one.metric === 'vmaf' && one.statistic === 'mean',
  );
  const { mean } = report.pooled_metrics.vmaf;
  expect(await sampled('--fail-under', String(low - 1))).toMatchObject({ code: 0 });
  const untold = { code: 3, stderr: expect.stringContaining('is undecided') };
  if (low < mean) expect(await sampled('--fail-under', String((low + mean) / 2))).toMatchObject(untold);
  expect(await sampled('--fail-under', 'vmaf.min>=-5')).toMatchObject(untold);
});
