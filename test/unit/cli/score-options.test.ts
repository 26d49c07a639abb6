/**
 * @module test/unit/cli/score-options
 * What a command line of the scoring command asks for.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { optionLabel } from '../../../src/cli/options.js';
import { SCORE_OPTIONS, type ScoreSettings, scoreSettings } from '../../../src/cli/score-options.js';
import { usageError } from '../../support/cli.js';

function settings(...args: string[]): ScoreSettings {
  const result = scoreSettings(args);
  if (typeof result === 'string') throw new Error(`it asked for ${result}`);
  return result;
}

const complaint = (...args: string[]) => usageError(() => scoreSettings(args));

describe('a command line for the vmaf tool', () => {
  test('means the same', () => {
    const line =
      '-r ref.yuv --distorted=dis.yuv -w 576 -h324 -p 420 -b 0xa -m version=vmaf_v0.6.1:name=a -m path=x.json ' +
      '--feature psnr --feature vif=debug=true --output out --csv --threads 2 --subsample 5 --frame_cnt 3 ' +
      '--frame_skip_ref 1 --frame_skip_dist 2 -q';
    expect(settings(...line.split(' '))).toEqual({
      reference: 'ref.yuv',
      distorted: ['dis.yuv'],
      raw: { width: 576, height: 324, chroma: '420', bitDepth: 10 },
      options: {
        models: ['version=vmaf_v0.6.1:name=a', 'path=x.json'],
        features: ['psnr', 'vif=debug=true'],
        threads: 2,
        subsample: 5,
        frameCount: 3,
        skipReference: 1,
        skipDistorted: 2,
      },
      output: 'out',
      format: 'csv',
      precision: 'legacy',
      quiet: true,
      ignored: [],
    });
  });

  test('has the same defaults', () => {
    expect(settings('-r', 'a', '-d', 'b')).toEqual({
      reference: 'a',
      distorted: ['b'],
      options: {},
      precision: 'legacy',
      quiet: false,
      ignored: [],
    });
  });

  test.each([
    ['--threads', '4'],
    ['--width', '1920'],
    ['--height', '1080'],
    ['--subsample', '5'],
    ['--frame_cnt', '100'],
    ['--frame_skip_ref', '10'],
  ])('%s without a number is told an example that fits it', (option, example) => {
    expect(complaint('a', 'b', option, 'abc')).toMatch(new RegExp(`a whole number such as ${example}\\b`));
  });

  test('the last occurrence of a scalar option wins', () => {
    const { format, options, reference } = settings(
      '-r',
      'x',
      '--json',
      '--xml',
      '--threads',
      '1',
      '--threads',
      '3',
      '-r',
      'a',
      '-d',
      'b',
    );
    expect([format, options.threads, reference]).toEqual(['xml', 3, 'a']);
  });

  test('-n, -c and masks are taken', () => {
    const { options, ignored } = settings(
      'a',
      'b',
      '-n',
      '-c',
      'whatever',
      '--cpumask',
      '-1',
      '--gpumask',
      '0',
    );
    expect(options.noPrediction).toBe(true);
    expect(ignored).toEqual(['--cpumask has no effect: the same arithmetic runs on every machine.']);
  });
});

describe('the pair', () => {
  test.each([
    [['a', 'b']],
    [['-r', 'a', 'b']],
    [['-d', 'b', 'a']],
    [['b', '-r', 'a']],
    [['--dist', 'b', '--ref', 'a']],
  ])('%j is reference a and distorted b', (args) => {
    const { reference, distorted } = settings(...args);
    expect([reference, distorted]).toEqual(['a', ['b']]);
  });

  test.each([
    [[], 'no videos given'],
    [['a'], 'only one video given, "a"'],
    [['-r', 'a'], 'only one video given, "a"'],
    [['-d', 'b'], 'the reference video is missing'],
    [['a', ...Array.from({ length: 65 }, (_, i) => `b${i}`)], '"b64" is one argument too many'],
    [['a', '-', 'b', '-'], 'only one of the videos can come from standard input'],
    [['-', '-'], 'only one of the two videos can come from standard input'],
    [['', 'b'], 'the name of a video is empty'],
    [['-r', '', 'b'], '-r/--reference is empty'],
    [['a', 'b', '-o', ''], '-o/--output is empty'],
    [['modles'], 'did you mean the command models?'],
  ])('%j is refused', (args, message) => {
    expect(complaint(...args)).toContain(message);
  });
});

test('several encodes follow the reference', () => {
  expect(settings('a', 'b', 'c', 'd').distorted).toEqual(['b', 'c', 'd']);
  expect(settings('-r', 'a', 'b', 'c').distorted).toEqual(['b', 'c']);
  expect(settings('-d', 'b', 'a', 'c')).toMatchObject({ reference: 'a', distorted: ['b', 'c'] });
  expect(complaint('a', 'b', 'c', '--xml')).toContain(
    'XML holds one report, but 2 distorted videos are given',
  );
  expect(complaint('a', 'b', 'c', '--sub')).toContain('SUB holds one report');
});

test('a page goes to a file, or to standard output when nothing else does', () => {
  expect(settings('a', 'b', '--html', 'x.html').html).toBe('x.html');
  expect(settings('a', 'b', '--html=-').html).toBe('-');
  expect(complaint('a', 'b', '--html=-', '--json')).toContain('standard output cannot take both');
  expect(complaint('a', 'b', '--html=')).toContain('--html is empty');
  expect(settings('a', 'b', '--html=x', '--no-pictures').noPictures).toBe(true);
  expect(complaint('a', 'b', '--no-pictures')).toContain('--no-pictures requires --html');
  expect(settings('a', 'b', '--html=x', '--html-size=1.5').htmlSize).toBe(1.5);
  expect(complaint('a', 'b', '--html=x', '--html-size=0')).toContain('million bytes from 0.1 to 1000');
  expect(complaint('a', 'b', '--html-size=2')).toContain('--html-size requires --html with pictures');
  expect(complaint('a', 'b', '--html=x', '--no-pictures', '--html-size=2')).toContain(
    '--html-size requires --html with pictures',
  );
});

describe('raw geometry', () => {
  test.each([
    [['-w', '576'], 'of it -h/--height, -p/--pixel_format, -b/--bitdepth are missing;'],
    [['-w', '576', '-h', '324', '-p', '420'], 'of it -b/--bitdepth is missing;'],
    [['-w', '0', '-h', '324', '-p', '420', '-b', '8'], 'of it -w/--width is missing or zero;'],
    [['-b', '9'], '-b/--bitdepth is "9", but it must be 8, 10, 12 or 16'],
    [['-b', 'ten'], '-b/--bitdepth is "ten", but it must be 8, 10, 12 or 16'],
    [['-p', '411'], '-p/--pixel_format is "411", but it must be 420, 422, 444 or 400'],
    [['-w', '576x324'], '-w/--width is "576x324", but it must be a whole number'],
    [['-w', '-576'], '-w/--width is "-576", but it cannot be negative'],
  ])('%j is refused', (args, message) => {
    expect(complaint('a', 'b', ...args)).toContain(message);
  });
});

describe('our own options', () => {
  test.each([
    ['legacy', 'legacy'],
    ['1', 1],
    ['17', 17],
    ['max', 'max'],
    ['full', 'max'],
  ])('--precision %s', (text, precision) => {
    expect(settings('a', 'b', '--precision', text).precision).toBe(precision);
  });

  test.each(['0', '18', '6.5', '', 'high', '-1'])('--precision "%s" is refused', (text) => {
    expect(complaint('a', 'b', `--precision=${text}`)).toContain(`--precision is "${text}", but it must be`);
  });

  test('--compat', () => {
    expect(settings('a', 'b', '--compat', 'libvmaf-3.0').options.compat).toBe('libvmaf-3.0');
    expect(complaint('a', 'b', '--compat', '2.3')).toContain('must be libvmaf-3.2 or libvmaf-3.0');
  });

  test('--fail-under', () => {
    expect(settings('a', 'b', '--fail-under', '93.5').failUnder).toBe(93.5);
    expect(settings('a', 'b', '--fail_under=0').failUnder).toBe(0);
    expect(complaint('a', 'b', '--fail-under', 'good')).toContain('must be a number');
    expect(complaint('a', 'b', '--fail-under', '9', '-n')).toContain('makes none');
  });

  test('--accept-untrusted goes with --fail-under only', () => {
    expect(settings('a', 'b', '--fail-under', '9').acceptUntrusted).toBeUndefined();
    expect(settings('a', 'b', '--fail-under', '9', '--accept-untrusted').acceptUntrusted).toBe(true);
    expect(complaint('a', 'b', '--accept-untrusted')).toContain(
      '--accept-untrusted requires --fail-under or --baseline',
    );
  });

  test('--help and --version end the command line', () => {
    expect(scoreSettings(['--help', '--nonsense'])).toBe('help');
    expect(scoreSettings(['a', '-v'])).toBe('version');
  });
});

test('a preset stands for its models and features at its place', () => {
  const { options } = settings('a', 'b', '--feature', 'vif', '--aom_ctc', 'v6.0', '-m', 'path=x:name=x');
  expect(options.features?.slice(0, 3)).toEqual([
    'vif',
    'psnr=reduced_hbd_peak=true:enable_apsnr=true:min_sse=0.5',
    'ciede',
  ]);
  expect(options.models).toEqual([
    'version=vmaf_v0.6.1:name=vmaf',
    'version=vmaf_v0.6.1neg:name=vmaf_neg',
    'path=x:name=x',
  ]);
  expect(options.commonBitDepth).toBe(true);
  expect(settings('a', 'b', '--nflx_ctc=v1.0').options).not.toHaveProperty('commonBitDepth');
  expect(complaint('a', 'b', '--aom_ctc', 'proposed')).toContain('deprecated');
  expect(complaint('a', 'b', '--aom_ctc', '6')).toContain('bad aom_ctc version "6"');
  expect(complaint('a', 'b', '--nflx_ctc=v2.0')).toContain('bad nflx_ctc version "v2.0"');
});

test('--aom_ctc v7.0 puts its float_ssim in the place of one that stands before it, and says so', () => {
  const preset = 'float_ssim=scale=1:enable_db=true:clip_db=true';
  const own = 'float_ssim=enable_lcs=true';
  const before = settings('a', 'b', '--feature', own, '--feature', 'vif', '--aom_ctc', 'v7.0');
  expect(before.options.features?.slice(0, 3)).toEqual([
    preset,
    'vif',
    'psnr=reduced_hbd_peak=true:enable_apsnr=true:min_sse=0.5',
  ]);
  expect(before.options.features?.filter((feature) => feature.startsWith('float_ssim'))).toEqual([preset]);
  expect(before.ignored).toEqual([
    `--feature ${own} has no effect: as in the vmaf tool, the later --aom_ctc v7.0 replaces it with its own ${preset}; ` +
      'measure it in a run without the preset.',
  ]);
  // Earlier versions leave it alone, and so does v7.0 one that stands behind it.
  const earlier = settings('a', 'b', '--feature', own, '--aom_ctc', 'v6.0');
  expect(earlier.options.features).toContain(own);
  expect(earlier.ignored).toEqual([]);
  const behind = settings('a', 'b', '--aom_ctc', 'v7.0', '--feature', own);
  expect(behind.options.features?.at(-1)).toBe(own);
  expect(behind.ignored).toEqual([]);
});

test.each(['--model', '--feature'])('32 times %s is the most', (option) => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `${option}=x${i}`);
  expect(() => settings('a', 'b', ...many(32))).not.toThrow();
  expect(complaint('a', 'b', ...many(33))).toContain('"x32" is one too many: a run takes at most 32');
});

test('docs/cli.md explains every option', () => {
  const text = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const missing = SCORE_OPTIONS.map((option) => `\`${optionLabel(option).replace('/', '`, `')}`).filter(
    (label) => !text.includes(label),
  );
  expect(missing).toEqual([]);
});

describe('the words that people try', () => {
  test('the ending of the output names the format, unless an option does', () => {
    expect(settings('a', 'b', '-o', 'out.json').format).toBe('json');
    expect(settings('a', 'b', '-o', 'out.CSV').format).toBe('csv');
    expect(settings('a', 'b', '-o', 'out.json', '--xml').format).toBe('xml');
    expect(settings('a', 'b', '-o', 'json').format).toBeUndefined();
    expect(settings('a', 'b', '-o', 'out.txt').format).toBeUndefined();
  });

  test('a - after the format of two videos is no third video', () => {
    expect(complaint('a', 'b', '--json', '-')).toMatch(/^--json takes no value, .* standard output/);
    expect(complaint('a', 'b', '--csv', '/dev/stdout')).toMatch(/^--csv takes no value/);
    expect(settings('a', '--json', '-').distorted).toEqual(['-']);
    expect(settings('a', 'b', '-', '--json').distorted).toEqual(['b', '-']);
  });

  test('--features-table has standard output for itself', () => {
    expect(settings('a', 'b', '--features-table', '-o', 'out.json').featuresTable).toBe(true);
    for (const other of [['-q'], ['--json'], ['-o', '-'], ['--html', '-']])
      expect(complaint('a', 'b', '--features-table', ...other)).toMatch(
        /^--features-table needs standard output for itself/,
      );
    // What it was an abbreviation of stays what it was.
    expect(settings('a', 'b', '--feat', 'psnr').options.features).toEqual(['psnr']);
  });

  test('a report whose name ends in .html is the page', () => {
    const page = settings('a', 'b', '-o', 'page.HTML');
    expect([page.html, page.output, page.format]).toEqual(['page.HTML', undefined, undefined]);
    const both = settings('a', 'b', '-o', 'page.html', '--json');
    expect([both.html, both.output, both.format]).toEqual([undefined, 'page.html', 'json']);
    expect(complaint('a', 'b', '-o', 'x.html', '--html', 'y.html')).toMatch(/name two files for one page/);
    expect(complaint('a', 'b', '-o', 'x.html', '--html', 'x.html')).toMatch(/give each a file of its own/);
  });

  test('file URLs are paths', () => {
    const { reference, distorted } = settings('file:///some/a%20b.y4m', '-d', 'file:///c.mp4');
    expect([reference, ...distorted]).toEqual(['/some/a b.y4m', '/c.mp4']);
    expect(settings('FILE://localhost/a%3Fb%23.y4m', 'b').reference).toBe('/a?b#.y4m');
    expect(settings('file:/a.y4m', 'file:b').distorted).toEqual(['file:b']);
    expect(settings('file:/a.y4m', 'file:b').reference).toBe('/a.y4m');
    expect(complaint('file://elsewhere/a.y4m', 'b')).toMatch(/is not the URL of a file on this machine/);
    expect(complaint('file:///a%zz.y4m', 'b')).toMatch(/is not the URL of a file on this machine/);
    expect(complaint('file:///take#1.y4m', 'b')).toMatch(
      /"file:\/\/\/take#1\.y4m" has a "\?" or "#".*write %3F or %23/,
    );
    expect(complaint('a', '-d', 'file:///a.y4m?v=2')).toMatch(/has a "\?" or "#"/);
  });
});
