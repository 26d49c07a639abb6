/**
 * @module test/unit/cli/options
 * Command lines are parsed as getopt_long does, numbers are read as strtoul reads them but never wrap, and what a command line
 * of the scoring command means.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  choiceValue,
  maskValue,
  numberValue,
  type OptionSpec,
  optionLabel,
  optionTable,
  parseArguments,
  unsignedValue,
} from '../../../src/cli/options.js';
import { SCORE_OPTIONS, type ScoreSettings, scoreSettings } from '../../../src/cli/score-options.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import { refusal } from '../../support/refusals.js';

const SPECS: readonly OptionSpec[] = [
  ...optionTable({
    Tool: {
      '-r, --reference FILE': [''],
      '-w, --width N': [''],
      '-h, --height N': [''],
      '-b, --bitdepth N': [''],
      '-p, --pixel_format FMT': [''],
      '--precision P': ['', undefined, { ours: true }],
      '--frame_cnt N': [''],
      '--frame_skip_ref N': [''],
      '--frame_skip_dist N': [''],
      '--sub': [''],
      '--subsample N': [''],
      '--json': [''],
      '-n, --no_prediction': [''],
      '-q, --quiet': [''],
      '--fail-under N': ['', undefined, { ours: true }],
      '--help': ['', undefined, { ours: true, last: true }],
    },
  }),
  { name: 'c', short: 'c', argument: 'ARG', shortOnly: true, help: '' },
];

/** Options as `name=value`, and positional arguments. */
const parsed = (...args: string[]) => {
  const { options, positionals } = parseArguments(args, SPECS);
  return [options.map(({ name, value }) => (value === '' ? name : `${name}=${value}`)), positionals];
};

const complaint = (...args: string[]) => refusal('usage', () => parseArguments(args, SPECS));

describe('long options', () => {
  test.each([
    [['--width', '576']],
    [['--width=576']],
    [['--wid', '576']],
    [['--w=576']],
    [['-w', '576']],
    [['-w576']],
  ])('%j sets width 576', (args) => {
    expect(parsed(...args)).toEqual([['width=576'], []]);
  });

  test.each([
    ['dashes equal underscores', '--frame-cnt 2 --fail_under=3', 'frame_cnt=2 fail-under=3'],
    ['they do in an abbreviation', '--pixel-f 420', 'pixel_format=420'],
    ['an exact name wins over a longer one', '--sub', 'sub'],
    ['an abbreviation means the only name that begins so', '--subs 5', 'subsample=5'],
    ["the vmaf tool's abbreviations keep their meaning", '--p 420 --pre 17', 'pixel_format=420 precision=17'],
    ['--hei cannot mean --help', '--hei 324', 'height=324'],
    ['a short option needs no long name', '-c x', 'c=x'],
    ['flags can be glued', '-nq', 'no_prediction quiet'],
    [
      'flags can precede an option and its value',
      '-nb10 -qr -',
      'no_prediction bitdepth=10 quiet reference=-',
    ],
  ])('%s', (_, line, expected) => {
    expect(parsed(...line.split(' '))[0]).toEqual(expected.split(' '));
  });

  test('an abbreviation that may be --help sets nothing', () => {
    expect(() => parsed('--he', '324')).toThrow(/--he is ambiguous: it may mean --height or --help/);
  });

  test('a file name that begins with a dash needs its folder', () => {
    expect(() => parsed('-x.mp4', 'b.mp4')).toThrow('for a file of that name write ./-x.mp4');
    expect(complaint('a.y4m', '-work.mp4')).toBe(
      '-work.mp4 is read as the option -w with the value "ork.mp4"; for a file of that name write ./-work.mp4',
    );
    expect(complaint('-r.y4m', 'b.y4m')).toContain('write ./-r.y4m');
    expect(parsed('-rother.y4m')[0]).toEqual(['reference=other.y4m']);
  });

  test('a value may be empty, hold "=" and start with a dash', () => {
    expect(parseArguments(['--reference=', '--reference=a=b', '--reference', '-r'], SPECS).options).toEqual([
      { name: 'reference', label: '-r/--reference', value: '' },
      { name: 'reference', label: '-r/--reference', value: 'a=b' },
      { name: 'reference', label: '-r/--reference', value: '-r' },
    ]);
  });

  const help = "'anyvmaf --help' lists the options";
  test.each([
    [
      ['--frame_skip', '1'],
      'option --frame_skip is ambiguous: it may mean --frame_skip_ref or --frame_skip_dist',
    ],
    [['--zzz'], `unknown option --zzz; ${help}`],
    [['--=3'], `unknown option --; ${help}`],
    [['--c', 'x'], `unknown option --c; ${help}`],
    [['--width'], 'option -w/--width needs a value: -w/--width N'],
    [['--json=yes'], 'option --json takes no value, but "yes" was given'],
    [['--json='], 'option --json takes no value, but "" was given'],
    [['-z'], `unknown option -z; ${help}`],
    [['-nzq'], `unknown option -z; ${help}`],
    [['-é'], `unknown option -é; ${help}`],
    [['-json'], `unknown option -j; did you mean --json? ${help}`],
    [['-h'], "option -h/--height needs a value: -h/--height N; for help type 'anyvmaf --help'"],
  ])('%j is refused', (args, message) => {
    expect(complaint(...args)).toBe(message);
  });

  test.each([
    ['--jsno', '--json'],
    ['--frame_count', '--frame_cnt'],
    ['--bit-dept', '--bitdepth'],
    ['--WIDTH', '--width'],
    ['--subsmaple', '--subsample'],
  ])('%s is unknown, %s is suggested', (typed, meant) => {
    expect(complaint(typed)).toContain(`unknown option ${typed}; did you mean ${meant}? `);
  });
});

test('positional arguments may stand anywhere, and - is one; after -- all are, and --help ends the command line', () => {
  expect(parsed('a', '-w', '5', '-', '-q', 'b')).toEqual([
    ['width=5', 'quiet'],
    ['a', '-', 'b'],
  ]);
  expect(parsed('-q', '--', '-w', '--json', '--')).toEqual([['quiet'], ['-w', '--json', '--']]);
  expect(parsed('--json', '--help', '--nonsense', '-z')).toEqual([['json', 'help'], []]);
});

const use = (value: string, label = '--threads') => ({ name: 'threads', label, value });

describe('whole numbers', () => {
  test.each([
    ['0', 0],
    ['7', 7],
    ['1080', 1080],
    ['0x1F', 31],
    ['0Xff', 255],
    ['017', 15],
    ['00', 0],
    [' 12', 12],
    ['+3', 3],
    ['4294967295', 4294967295],
    ['0xffffffff', 4294967295],
  ])('%j is %d', (text, number) => {
    expect(unsignedValue(use(text), 4)).toBe(number);
  });

  const wrong = ['', ' ', 'abc', '12a', '1.5', '1e3', '08', '0x', '0xg', '12 ', '--1', 'NaN', 'Infinity'];
  test.each(wrong)('%j is refused', (text) => {
    const message = `--threads is "${text}", but it must be a whole number such as 4`;
    expect(() => unsignedValue(use(text), 4)).toThrow(message);
  });

  test('out of range is an error that does not wrap; -1 is a mask of all bits', () => {
    const refused = (value: string, message: string, most?: number) =>
      expect(() => unsignedValue(use(value), 4, most)).toThrow(message);
    refused('-1', '--threads is "-1", but it cannot be negative');
    refused('4294967296', 'must be at most 4294967295');
    refused('99999999999999999999999', 'must be at most 4294967295');
    refused('1025', '--threads is "1025", but it must be at most 1024', 1024);
    expect(() => unsignedValue(use('elp', '-h/--height'), 4)).toThrow('(for help type --help)');
    expect(unsignedValue(use('1024'), 4, 1024)).toBe(1024);
    expect(maskValue(use('-1'))).toBe(0xffffffff);
    expect(maskValue(use('63'))).toBe(63);
    expect(() => maskValue(use('x'))).toThrow(AnyvmafError);
  });
});

describe('decimal numbers', () => {
  test.each([
    ['93', 93],
    ['93.5', 93.5],
    ['-1', -1],
    ['.5', 0.5],
    ['1e2', 100],
  ])('%j is %d', (text, number) => {
    expect(numberValue(use(text))).toBe(number);
  });

  test.each(['', 'high', '9,5', '0x10', 'NaN', 'Infinity', '1e999', '5%'])('%j is refused', (text) => {
    const message = `--threads is "${text}", but it must be a number such as 93.5`;
    expect(() => numberValue(use(text))).toThrow(message);
  });
});

test('the error for a wrong choice names the valid ones and the likely one', () => {
  expect(choiceValue(use('420'), ['420', '422'])).toBe('420');
  expect(() => choiceValue(use('libvmaf-3.1', '--compat'), ['libvmaf-3.2', 'libvmaf-3.0'])).toThrow(
    '--compat is "libvmaf-3.1", but it must be libvmaf-3.2 or libvmaf-3.0; did you mean libvmaf-3.2?',
  );
});

function settings(...args: string[]): ScoreSettings {
  const result = scoreSettings(args);
  if (typeof result === 'string') throw new Error(`it asked for ${result}`);
  return result;
}

const scoreComplaint = (...args: string[]) => refusal('usage', () => scoreSettings(args));

describe('a command line for the vmaf tool', () => {
  test('means the same, with the same defaults', () => {
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
  ])('%s without a number gets an example that fits it', (option, example) => {
    expect(scoreComplaint('a', 'b', option, 'abc')).toMatch(
      new RegExp(`a whole number such as ${example}\\b`),
    );
  });

  test('takes the last occurrence of a scalar option; -n, -c and masks are accepted', () => {
    const line = '-r x --json --xml --threads 1 --threads 3 -r a -d b';
    expect(settings(...line.split(' '))).toMatchObject({
      format: 'xml',
      options: { threads: 3 },
      reference: 'a',
    });
    const { options, ignored } = settings(...'a b -n -c whatever --cpumask -1 --gpumask 0'.split(' '));
    expect(options.noPrediction).toBe(true);
    expect(ignored).toEqual(['--cpumask has no effect: the same arithmetic runs on every machine.']);
  });
});

describe('a pair', () => {
  test.each([
    [['a', 'b']],
    [['-r', 'a', 'b']],
    [['-d', 'b', 'a']],
    [['b', '-r', 'a']],
    [['--dist', 'b', '--ref', 'a']],
  ])('%j names reference a and distorted b', (args) => {
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
    expect(scoreComplaint(...args)).toContain(message);
  });
});

test('several encodes follow the reference', () => {
  expect(settings('a', 'b', 'c', 'd').distorted).toEqual(['b', 'c', 'd']);
  expect(settings('-r', 'a', 'b', 'c').distorted).toEqual(['b', 'c']);
  expect(settings('-d', 'b', 'a', 'c')).toMatchObject({ reference: 'a', distorted: ['b', 'c'] });
  expect(settings('-d', 'b', 'a', '-d', 'c', 'd').distorted).toEqual(['b', 'c', 'd']);
  expect(scoreComplaint('a', 'b', 'c', '--xml')).toContain(
    'XML holds one report, but 2 distorted videos are given',
  );
  expect(scoreComplaint('a', 'b', 'c', '--sub')).toContain('SUB holds one report');
});

test('a page goes to a file or to standard output, if nothing else does', () => {
  const refused = (line: string, message: string) =>
    expect(scoreComplaint('a', 'b', ...line.split(' '))).toContain(message);
  expect(settings('a', 'b', '--html', 'x.html').html).toBe('x.html');
  expect(settings('a', 'b', '--html=-').html).toBe('-');
  expect(settings('a', 'b', '--html=x', '--no-pictures').noPictures).toBe(true);
  expect(settings('a', 'b', '--html=x', '--html-size=1.5').htmlSize).toBe(1.5);
  refused('--html=- --json', 'standard output cannot take both');
  refused('--html=', '--html is empty');
  refused('--no-pictures', '--no-pictures requires --html');
  refused('--html=x --html-size=0', 'million bytes from 0.1 to 1000');
  refused('--html-size=2', '--html-size requires --html with pictures');
  refused('--html=x --no-pictures --html-size=2', '--html-size requires --html with pictures');
});

describe('raw geometry', () => {
  test.each([
    [['-w', '576'], 'of it -h/--height, -p/--pixel_format, -b/--bitdepth are missing;'],
    [['-w', '576', '-h', '324', '-p', '420'], 'of it -b/--bitdepth is missing;'],
    [['-w', '0', '-h', '324', '-p', '420', '-b', '8'], 'of it -w/--width is missing or zero;'],
    [['-b', '9'], '-b/--bitdepth is "9", but it must be 8, 10, 12 or 16'],
    [['-p', '411'], '-p/--pixel_format is "411", but it must be 420, 422, 444 or 400'],
  ])('%j is refused', (args, message) => {
    expect(scoreComplaint('a', 'b', ...args)).toContain(message);
  });
});

describe('our own options', () => {
  test('--precision takes what reports take', () => {
    expect(settings('a', 'b', '--precision', '17').precision).toBe(17);
    expect(scoreComplaint('a', 'b', '--precision=18')).toContain('--precision is "18", but it must be');
  });

  test('--compat, --fail-under, and --accept-untrusted with it; --help and --version end the command line', () => {
    expect(settings('a', 'b', '--compat', 'libvmaf-3.0').options.compat).toBe('libvmaf-3.0');
    expect(scoreComplaint('a', 'b', '--compat', '2.3')).toContain('must be libvmaf-3.2 or libvmaf-3.0');
    const judged = settings('a', 'b', '--fail-under', '93.5');
    expect([judged.failUnder, judged.acceptUntrusted]).toEqual([93.5, undefined]);
    expect(settings('a', 'b', '--fail_under=0').failUnder).toBe(0);
    const long = [`vmaf.${'p'.repeat(100_000)}>=1`, '9'.repeat(100_000), `${'a.'.repeat(50_000)}p5>=1`];
    for (const limit of ['good', 'vmaf.p5>80', 'vmaf.p5>=', ...long]) {
      const refused = scoreComplaint('a', 'b', '--fail-under', limit);
      expect(refused).toContain(
        'must be a number such as 93.5, or a pooled value and its bound such as vmaf.p5>=80',
      );
      expect(refused.length).toBeLessThan(600);
    }
    for (const limit of ['9', 'p5>=1'])
      expect(scoreComplaint('a', 'b', '--fail-under', limit, '-n')).toContain('makes none');
    expect(scoreComplaint('a', 'b', '--baseline', 'c')).toContain('add --max-drop');
    expect(scoreComplaint('a', 'b', '--max-drop', '1')).toContain('--baseline');
    for (const drop of ['-1', 'x', 'vmaf.p5', 'vmaf p5=1'])
      expect(scoreComplaint('a', 'b', '--baseline', 'c', `--max-drop=${drop}`)).toContain('from 0');
    expect(settings('a', 'b', '--fail-under', '9', '--accept-untrusted').acceptUntrusted).toBe(true);
    const alone = scoreComplaint('a', 'b', '--accept-untrusted');
    expect(alone).toContain('--accept-untrusted requires --fail-under or --baseline');
    expect(scoreSettings(['--help', '--nonsense'])).toBe('help');
    expect(scoreSettings(['a', '-v'])).toBe('version');
  });
});

test('a preset expands to its models and features at its place', () => {
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
  expect(scoreComplaint('a', 'b', '--aom_ctc', 'proposed')).toContain('deprecated');
  expect(scoreComplaint('a', 'b', '--aom_ctc', '6')).toContain('bad aom_ctc version "6"');
  expect(scoreComplaint('a', 'b', '--nflx_ctc=v2.0')).toContain('bad nflx_ctc version "v2.0"');
});

test('--aom_ctc v7.0 replaces an earlier float_ssim with its own, and says so', () => {
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
  // Earlier versions leave it alone, and v7.0 one that comes after it.
  const earlier = settings('a', 'b', '--feature', own, '--aom_ctc', 'v6.0');
  expect(earlier.options.features).toContain(own);
  expect(earlier.ignored).toEqual([]);
  const behind = settings('a', 'b', '--aom_ctc', 'v7.0', '--feature', own);
  expect(behind.options.features?.at(-1)).toBe(own);
  expect(behind.ignored).toEqual([]);
});

test.each(['--model', '--feature'])('%s may be given 32 times', (option) => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `${option}=x${i}`);
  expect(() => settings('a', 'b', ...many(32))).not.toThrow();
  expect(scoreComplaint('a', 'b', ...many(33))).toContain('"x32" is one too many: a run takes at most 32');
});

test('docs/cli.md explains every option', () => {
  const text = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const labels = SCORE_OPTIONS.map((option) => `\`${optionLabel(option).replace('/', '`, `')}`);
  expect(labels.filter((label) => !text.includes(label))).toEqual([]);
});

describe('what people try', () => {
  test('the file extension of the output names the format, unless an option does', () => {
    expect(settings('a', 'b', '-o', 'out.json').format).toBe('json');
    expect(settings('a', 'b', '-o', 'out.CSV').format).toBe('csv');
    expect(settings('a', 'b', '-o', 'out.json', '--xml').format).toBe('xml');
    expect(settings('a', 'b', '-o', 'json').format).toBeUndefined();
    expect(settings('a', 'b', '-o', 'out.txt').format).toBeUndefined();
  });

  test('a - after the format of two videos is not a third video', () => {
    expect(scoreComplaint('a', 'b', '--json', '-')).toMatch(/^--json takes no value, .* standard output/);
    expect(scoreComplaint('a', 'b', '--csv', '/dev/stdout')).toMatch(/^--csv takes no value/);
    expect(settings('a', '--json', '-').distorted).toEqual(['-']);
    expect(settings('a', 'b', '-', '--json').distorted).toEqual(['b', '-']);
  });

  test('--features-table needs standard output for itself', () => {
    expect(settings('a', 'b', '--features-table', '-o', 'out.json').featuresTable).toBe(true);
    for (const other of [['-q'], ['--json'], ['-o', '-'], ['--html', '-']])
      expect(scoreComplaint('a', 'b', '--features-table', ...other)).toMatch(
        /^--features-table needs standard output for itself/,
      );
    // --feat still abbreviates --feature.
    expect(settings('a', 'b', '--feat', 'psnr').options.features).toEqual(['psnr']);
  });

  test('a report whose name ends in .html is a page', () => {
    const outputs = ({ html, output, format }: ScoreSettings) => [html, output, format];
    expect(outputs(settings('a', 'b', '-o', 'page.HTML'))).toEqual(['page.HTML', undefined, undefined]);
    expect(outputs(settings('a', 'b', '-o', 'page.html', '--json'))).toEqual([
      undefined,
      'page.html',
      'json',
    ]);
    const both = (page: string) => scoreComplaint('a', 'b', '-o', 'x.html', '--html', page);
    expect(both('y.html')).toMatch(/name two files for one page/);
    expect(both('x.html')).toMatch(/give each a file of its own/);
  });

  test('file URLs are paths', () => {
    const { reference, distorted } = settings('file:///some/a%20b.y4m', '-d', 'file:///c.mp4');
    expect([reference, ...distorted]).toEqual(['/some/a b.y4m', '/c.mp4']);
    expect(settings('FILE://localhost/a%3Fb%23.y4m', 'b').reference).toBe('/a?b#.y4m');
    expect(settings('file:/a.y4m', 'file:b')).toMatchObject({ reference: '/a.y4m', distorted: ['file:b'] });
    for (const wrong of ['file://elsewhere/a.y4m', 'file:///a%zz.y4m'])
      expect(scoreComplaint(wrong, 'b')).toMatch(/is not the URL of a file on this machine/);
    const hash = /"file:\/\/\/take#1\.y4m" has a "\?" or "#".*write %3F or %23/;
    expect(scoreComplaint('file:///take#1.y4m', 'b')).toMatch(hash);
    expect(scoreComplaint('a', '-d', 'file:///a.y4m?v=2')).toMatch(/has a "\?" or "#"/);
  });
});
