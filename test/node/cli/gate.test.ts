/**
 * @module test/node/cli/gate
 * Gates for CI: limits on pooled values, baselines, and reports of the verdicts.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Report } from '../../../src/index.js';
import { anyvmaf, ends, expectFailure, passes, refuses, videos } from '../../support/cli.js';

const files = videos();
const [ref, dis] = files.pair(['ref.y4m', 'dis.y4m'], 12);
const [, worse] = files.pair(['ref2.y4m', 'other.y4m'], 12, { seed: 62 });

const base = files.at('base.json');
const made = anyvmaf([ref, dis, '-o', base, '--feature', 'psnr', '--threads', '0']);
const saved = async () => {
  expect(await made).toMatchObject({ code: 0 });
  return JSON.parse(readFileSync(base, 'utf8')) as Pick<Report, 'pooled_metrics' | 'frames'>;
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
    const limits = {
      'psnr_y.mean>=100': 'below',
      'ssimulacra2.mean>=100.1': 'below',
      'butteraugli_3norm.max<=0': 'above',
      'cvvdp_q.worst_second<=1000': undefined,
      'cvvdp>=10.1': 'below',
      'sequence_xpsnr_min>=200': 'below',
    };
    const { code, stderr } = await gate('-n', '--fail-under', Object.keys(limits).join());
    expect(code).toBe(3);
    expect(stderr.replaceAll(/ is -?\d+\.\d+,/g, '')).toBe(
      Object.entries(limits)
        .map(
          ([limit, side]) =>
            side && `anyvmaf: ${limit.split(/[<>]/)[0]} ${side} the limit: --fail-under '${limit}'\n`,
        )
        .join(''),
    );
    const apsnr = await gate('-n', '--feature', 'psnr=enable_apsnr=true', '--fail-under', 'apsnr_y>=1');
    expect(apsnr.code).toBe(0);
  });

  test.each([
    [['--fail-under', 'vmaf.p6>=80'], 1, '"vmaf.p6" is not measured'],
    [['--fail-under', 'nothing.mean>=1'], 1, '"nothing" is not measured; this run measures '],
    [['--fail-under', '__proto__.mean>=1'], 1, '"__proto__" is not measured'],
    [['-n', '--fail-under', 'cvvdp.min>=1'], 1, 'cvvdp is one value for the whole run and has no min'],
  ])('%.60j is refused', refused);

  test('a metric that proves not to be measured does not cost the scores', async () => {
    const { code, stdout, stderr } = await gate('--fail-under', 'apsnr_y>=1');
    expect([code, stdout]).toEqual([1, expect.stringContaining('vmaf')]);
    expect(stderr).toMatch(/^anyvmaf: "apsnr_y" is not measured[^\n]*\n$/);
  });
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

  test('that proves incomparable after scoring does not cost the printed report', async () => {
    await saved();
    const drop = ['--baseline', base, '--max-drop', '1'];
    const { code, stdout, stderr } = await gate('--json', ...drop, '--frame_cnt', '7');
    expect([code, JSON.parse(stdout).frame_count]).toEqual([2, 7]);
    expect(stderr).toContain('it has 12 frame pairs, this run has 7');
  });

  test.runIf(existsSync('/dev/full'))('is reported beside a file that cannot be written', async () => {
    await saved();
    const drop = ['--baseline', base, '--max-drop', '1'];
    const { stderr } = await gate('-o', '/dev/full', ...drop, '--frame_cnt', '7');
    expect(stderr).toContain('it has 12 frame pairs, this run has 7');
    expect(stderr).toContain('the disk is full');
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
});

describe('files for CI', () => {
  const hostile = '<b> & "|` ](http:\u001b[31m _x_ www.x @all.y4m';
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

  test('an error that ends the run is one of each encode in both files', async () => {
    const [xml, md] = [files.put('ended.xml', 'of an earlier run'), files.at('ended.md')];
    const missing = files.at('missing.y4m');
    for (const encodes of [[missing], [missing, missing], [dis, odd]]) {
      const reference = encodes.includes(missing) ? ref : missing;
      await ends([reference, ...encodes, '-q', '--junit', xml, '--summary', md], 2, 'there is no such file');
      expect(tags(readFileSync(xml, 'utf8')).filter((name) => name === 'error')).toHaveLength(encodes.length);
      expect(readFileSync(md, 'utf8')).toContain('could not be scored');
    }
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
    const { frames, pooled_metrics: pooled } = await saved();
    const [, frame] = /\| frame (\d+) at 0:00\.\d\d \| <code>vmaf<\/code> ([\d.]+) \|/.exec(text) ?? [];
    const found = frames.find(({ frameNum }) => frameNum === Number(frame))?.metrics.vmaf;
    expect(found).toBe(pooled.vmaf?.min);
    expect(text).toContain('## ❌ anyvmaf: 2 of 2 encodes failed');
    expect(text).toMatch(/anyvmaf heatmap .* --frame \d+/);
    // Every row of a table has the columns of its head, and only our tags.
    const tables = text.split('\n\n').filter((part) => part.startsWith('|'));
    expect(tables).toHaveLength(3);
    for (const table of tables) {
      const rows = table.trim().split('\n');
      expect(new Set(rows.map((row) => row.split('|').length)).size).toBe(1);
    }
    expect(text.replace(/<\/?code>/g, '')).not.toMatch(/[<`]|\]\(|@all|_x_|www\./);
    expect(text).not.toContain('\u001b');
  });

  test.each([
    [['--range', '4-9']],
    [
      [
        '--frame_skip_ref',
        '2',
        '--frame_skip_dist',
        '2',
        '--crop-ref',
        '48:32:0:0',
        '--crop-dis',
        '48:32:0:0',
      ],
    ],
    [['--offset', '-2', '--subsample', '3']],
    [['--offset', 'auto', '--window', '4']],
    [['--shard', '1/1', '--range', '0.1s-0.3s', '--matrix', 'bt601']],
    [['--model', 'neg']],
  ])('the command of a worst frame draws that frame with %j', async (options) => {
    const [path, json, part] = [files.at('look.md'), files.at('look.json'), files.at('look-part.json')];
    const outputs = ['-o', json, '--summary', path];
    if (options[0] === '--shard') {
      await passes([ref, dis, ...options, '-o', part]);
      await passes(['merge', part, ...outputs]);
    } else await passes([ref, dis, ...options, ...outputs]);
    const [, line = ''] = /<code>anyvmaf (heatmap [^<]*)<\/code>/.exec(readFileSync(path, 'utf8')) ?? [];
    const words = line.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).split(' ');
    const { stdout } = await passes([...words, '-o', files.at('look.png')]);
    const { frames }: Pick<Report, 'frames'> = JSON.parse(readFileSync(json, 'utf8'));
    const { metrics = {} } = frames.find(({ frameNum }) => frameNum === Number(words.at(-1))) ?? {};
    expect(words.includes('--neg')).toBe(options.includes('neg'));
    const limit = options.includes('neg') ? '_egl_1' : '';
    const [adm, vif] = [metrics[`integer_adm2${limit}`], metrics[`integer_vif_scale0${limit}`]];
    expect(stdout).toContain(`adm2 ${adm?.toFixed(4)}, vif ${vif?.toFixed(4)}`);
  });

  test('the command of a worst frame names what ranks it and any file, but not standard input', async () => {
    const path = files.at('any.md');
    files.put('-x.y4m', readFileSync(dis));
    const asked = ['--no-prediction', '--feature', 'butteraugli', '--summary', path];
    await passes([...asked, '--', ref, '-x.y4m'], { cwd: files.at('') });
    expect(readFileSync(path, 'utf8')).toMatch(/ \.\/-x\.y4m .*--scale-of=butteraugli --frame \d+<\/code>/);
    await passes(['-', dis, ...asked], { input: readFileSync(ref) });
    expect(readFileSync(path, 'utf8')).toContain('| – |');
  });

  test('the command of a worst frame of raw video has its geometry', async () => {
    const raw = ['-w', '64', '-h', '48', '-p', '420', '-b', '8'];
    const [one, path] = [files.put('look.yuv', Buffer.alloc((64 * 48 * 3) / 2, 90)), files.at('raw.md')];
    await passes([one, one, ...raw, '--crop-ref', '48:32', '--crop-dis', '48:32', '--summary', path]);
    expect(readFileSync(path, 'utf8')).toContain('-w 64 -h 48 -p 420 -b 8');
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
});
