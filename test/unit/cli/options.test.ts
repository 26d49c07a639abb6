/**
 * @module test/unit/cli/options
 * Command lines are taken apart as getopt_long does it, values are read as C's strtoul reads them and never wrap, and what a
 * command line of the scoring command asks for.
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

/** Options as `name=value` and positional arguments. */
function parsed(...args: string[]) {
  const { options, positionals } = parseArguments(args, SPECS);
  return [options.map(({ name, value }) => (value === '' ? name : `${name}=${value}`)), positionals];
}

const complaint = (...args: string[]) => refusal('usage', () => parseArguments(args, SPECS));

describe('long options', () => {
  test.each([
    [['--width', '576']],
    [['--width=576']],
    [['--wid', '576']],
    [['--w=576']],
    [['-w', '576']],
    [['-w576']],
  ])('%j is width 576', (args) => {
    expect(parsed(...args)).toEqual([['width=576'], []]);
  });

  test('dashes and underscores are the same in either direction', () => {
    expect(parsed('--frame-cnt', '2', '--fail_under=3', '--pixel-f', '420')[0]).toEqual([
      'frame_cnt=2',
      'fail-under=3',
      'pixel_format=420',
    ]);
  });

  test('an exact name wins over the longer one it begins', () => {
    expect(parsed('--sub')[0]).toEqual(['sub']);
    expect(parsed('--subs', '5')[0]).toEqual(['subsample=5']);
  });

  test("an abbreviation that meant one of the vmaf tool's options still does", () => {
    expect(parsed('--p', '420', '--hei', '324', '--pre', '17')[0]).toEqual([
      'pixel_format=420',
      'height=324',
      'precision=17',
    ]);
  });

  test('what may be --help sets nothing else', () => {
    expect(() => parsed('--he', '324')).toThrow(/--he is ambiguous: it may mean --height or --help/);
  });

  test('a file name that begins with a dash is said to need its folder', () => {
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

  test('an ambiguous abbreviation is an error that names the choices', () => {
    expect(complaint('--frame_skip', '1')).toBe(
      'option --frame_skip is ambiguous: it may mean --frame_skip_ref or --frame_skip_dist',
    );
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

  test('nothing is suggested for what resembles nothing', () => {
    expect(complaint('--zzz')).toBe("unknown option --zzz; 'anyvmaf --help' lists the options");
    expect(complaint('--=3')).toBe("unknown option --; 'anyvmaf --help' lists the options");
  });

  test('a short-only option has no long spelling', () => {
    expect(parsed('-c', 'x')[0]).toEqual(['c=x']);
    expect(complaint('--c', 'x')).toContain('unknown option --c;');
  });

  test('a missing value and an unwanted one are errors', () => {
    expect(complaint('--width')).toBe('option -w/--width needs a value: -w/--width N');
    expect(complaint('--json=yes')).toBe('option --json takes no value, but "yes" was given');
    expect(complaint('--json=')).toContain('takes no value');
  });
});

describe('short options', () => {
  test('flags can be glued, also before one that takes the rest as its value', () => {
    expect(parsed('-nq', '-nb10', '-qr', '-')[0]).toEqual(
      'no_prediction quiet no_prediction bitdepth=10 quiet reference=-'.split(' '),
    );
  });

  test('an unknown letter is an error wherever it stands', () => {
    expect(complaint('-z')).toBe("unknown option -z; 'anyvmaf --help' lists the options");
    expect(complaint('-nzq')).toContain('unknown option -z;');
    expect(complaint('-é')).toContain('unknown option -é;');
  });

  test('one dash before a long name gets a hint', () => {
    expect(complaint('-json')).toContain('unknown option -j; did you mean --json?');
  });

  test('-h is height and says where help is', () => {
    expect(complaint('-h')).toBe(
      "option -h/--height needs a value: -h/--height N; for help type 'anyvmaf --help'",
    );
  });
});

describe('positional arguments', () => {
  test('they may stand anywhere, and - is one', () => {
    expect(parsed('a', '-w', '5', '-', '-q', 'b')).toEqual([
      ['width=5', 'quiet'],
      ['a', '-', 'b'],
    ]);
  });

  test('after -- everything is positional', () => {
    expect(parsed('-q', '--', '-w', '--json', '--')).toEqual([['quiet'], ['-w', '--json', '--']]);
  });
});

test('nothing after --help is looked at', () => {
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

  test.each(['', ' ', 'abc', '12a', '1.5', '1e3', '08', '0x', '0xg', '12 ', '--1', 'NaN', 'Infinity'])(
    '%j is none',
    (text) => {
      expect(() => unsignedValue(use(text), 4)).toThrow(
        `--threads is "${text}", but it must be a whole number such as 4`,
      );
    },
  );

  test('neither a sign nor an overflow wraps', () => {
    expect(() => unsignedValue(use('-1'), 4)).toThrow('--threads is "-1", but it cannot be negative');
    expect(() => unsignedValue(use('4294967296'), 4)).toThrow('must be at most 4294967295');
    expect(() => unsignedValue(use('99999999999999999999999'), 4)).toThrow('must be at most 4294967295');
    expect(unsignedValue(use('1024'), 4, 1024)).toBe(1024);
    expect(() => unsignedValue(use('1025'), 4, 1024)).toThrow(
      '--threads is "1025", but it must be at most 1024',
    );
  });

  test('a height that is no number may have been meant as help', () => {
    expect(() => unsignedValue(use('elp', '-h/--height'), 4)).toThrow('(for help type --help)');
  });

  test('a mask may be -1, all bits', () => {
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

  test.each(['', 'high', '9,5', '0x10', 'NaN', 'Infinity', '1e999', '5%'])('%j is none', (text) => {
    expect(() => numberValue(use(text))).toThrow(
      `--threads is "${text}", but it must be a number such as 93.5`,
    );
  });
});

test('a wrong choice names the right ones and the likely one', () => {
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
    expect(scoreComplaint('a', 'b', option, 'abc')).toMatch(
      new RegExp(`a whole number such as ${example}\\b`),
    );
  });

  test('the last occurrence of a scalar option wins', () => {
    const line = '-r x --json --xml --threads 1 --threads 3 -r a -d b';
    expect(settings(...line.split(' '))).toMatchObject({
      format: 'xml',
      options: { threads: 3 },
      reference: 'a',
    });
  });

  test('-n, -c and masks are taken', () => {
    const { options, ignored } = settings(...'a b -n -c whatever --cpumask -1 --gpumask 0'.split(' '));
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
    expect(scoreComplaint(...args)).toContain(message);
  });
});

test('several encodes follow the reference', () => {
  expect(settings('a', 'b', 'c', 'd').distorted).toEqual(['b', 'c', 'd']);
  expect(settings('-r', 'a', 'b', 'c').distorted).toEqual(['b', 'c']);
  expect(settings('-d', 'b', 'a', 'c')).toMatchObject({ reference: 'a', distorted: ['b', 'c'] });
  expect(scoreComplaint('a', 'b', 'c', '--xml')).toContain(
    'XML holds one report, but 2 distorted videos are given',
  );
  expect(scoreComplaint('a', 'b', 'c', '--sub')).toContain('SUB holds one report');
});

test('a page goes to a file, or to standard output when nothing else does', () => {
  expect(settings('a', 'b', '--html', 'x.html').html).toBe('x.html');
  expect(settings('a', 'b', '--html=-').html).toBe('-');
  expect(scoreComplaint('a', 'b', '--html=-', '--json')).toContain('standard output cannot take both');
  expect(scoreComplaint('a', 'b', '--html=')).toContain('--html is empty');
  expect(settings('a', 'b', '--html=x', '--no-pictures').noPictures).toBe(true);
  expect(scoreComplaint('a', 'b', '--no-pictures')).toContain('--no-pictures requires --html');
  expect(settings('a', 'b', '--html=x', '--html-size=1.5').htmlSize).toBe(1.5);
  expect(scoreComplaint('a', 'b', '--html=x', '--html-size=0')).toContain('million bytes from 0.1 to 1000');
  expect(scoreComplaint('a', 'b', '--html-size=2')).toContain('--html-size requires --html with pictures');
  expect(scoreComplaint('a', 'b', '--html=x', '--no-pictures', '--html-size=2')).toContain(
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
    expect(scoreComplaint('a', 'b', ...args)).toContain(message);
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
    expect(scoreComplaint('a', 'b', `--precision=${text}`)).toContain(
      `--precision is "${text}", but it must be`,
    );
  });

  test('--compat', () => {
    expect(settings('a', 'b', '--compat', 'libvmaf-3.0').options.compat).toBe('libvmaf-3.0');
    expect(scoreComplaint('a', 'b', '--compat', '2.3')).toContain('must be libvmaf-3.2 or libvmaf-3.0');
  });

  test('--fail-under', () => {
    expect(settings('a', 'b', '--fail-under', '93.5').failUnder).toBe(93.5);
    expect(settings('a', 'b', '--fail_under=0').failUnder).toBe(0);
    expect(scoreComplaint('a', 'b', '--fail-under', 'good')).toContain('must be a number');
    expect(scoreComplaint('a', 'b', '--fail-under', '9', '-n')).toContain('makes none');
  });

  test('--accept-untrusted goes with --fail-under only', () => {
    expect(settings('a', 'b', '--fail-under', '9').acceptUntrusted).toBeUndefined();
    expect(settings('a', 'b', '--fail-under', '9', '--accept-untrusted').acceptUntrusted).toBe(true);
    expect(scoreComplaint('a', 'b', '--accept-untrusted')).toContain(
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
  expect(scoreComplaint('a', 'b', '--aom_ctc', 'proposed')).toContain('deprecated');
  expect(scoreComplaint('a', 'b', '--aom_ctc', '6')).toContain('bad aom_ctc version "6"');
  expect(scoreComplaint('a', 'b', '--nflx_ctc=v2.0')).toContain('bad nflx_ctc version "v2.0"');
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
  expect(scoreComplaint('a', 'b', ...many(33))).toContain('"x32" is one too many: a run takes at most 32');
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
    expect(scoreComplaint('a', 'b', '--json', '-')).toMatch(/^--json takes no value, .* standard output/);
    expect(scoreComplaint('a', 'b', '--csv', '/dev/stdout')).toMatch(/^--csv takes no value/);
    expect(settings('a', '--json', '-').distorted).toEqual(['-']);
    expect(settings('a', 'b', '-', '--json').distorted).toEqual(['b', '-']);
  });

  test('--features-table has standard output for itself', () => {
    expect(settings('a', 'b', '--features-table', '-o', 'out.json').featuresTable).toBe(true);
    for (const other of [['-q'], ['--json'], ['-o', '-'], ['--html', '-']])
      expect(scoreComplaint('a', 'b', '--features-table', ...other)).toMatch(
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
    expect(scoreComplaint('a', 'b', '-o', 'x.html', '--html', 'y.html')).toMatch(
      /name two files for one page/,
    );
    expect(scoreComplaint('a', 'b', '-o', 'x.html', '--html', 'x.html')).toMatch(
      /give each a file of its own/,
    );
  });

  test('file URLs are paths', () => {
    const { reference, distorted } = settings('file:///some/a%20b.y4m', '-d', 'file:///c.mp4');
    expect([reference, ...distorted]).toEqual(['/some/a b.y4m', '/c.mp4']);
    expect(settings('FILE://localhost/a%3Fb%23.y4m', 'b').reference).toBe('/a?b#.y4m');
    expect(settings('file:/a.y4m', 'file:b').distorted).toEqual(['file:b']);
    expect(settings('file:/a.y4m', 'file:b').reference).toBe('/a.y4m');
    expect(scoreComplaint('file://elsewhere/a.y4m', 'b')).toMatch(/is not the URL of a file on this machine/);
    expect(scoreComplaint('file:///a%zz.y4m', 'b')).toMatch(/is not the URL of a file on this machine/);
    expect(scoreComplaint('file:///take#1.y4m', 'b')).toMatch(
      /"file:\/\/\/take#1\.y4m" has a "\?" or "#".*write %3F or %23/,
    );
    expect(scoreComplaint('a', '-d', 'file:///a.y4m?v=2')).toMatch(/has a "\?" or "#"/);
  });
});
