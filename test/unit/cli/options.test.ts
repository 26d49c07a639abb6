/**
 * @module test/unit/cli/options
 * Command lines are taken apart as getopt_long does it, and values are read as C's strtoul reads them, and never wrap.
 */
import { describe, expect, test } from 'vitest';
import {
  choiceValue,
  maskValue,
  numberValue,
  type OptionSpec,
  parseArguments,
  unsignedValue,
} from '../../../src/cli/options.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import { usageError } from '../../support/cli.js';

const SPECS: readonly OptionSpec[] = [
  { name: 'reference', short: 'r', argument: 'FILE', help: '' },
  { name: 'width', short: 'w', argument: 'N', help: '' },
  { name: 'height', short: 'h', argument: 'N', help: '' },
  { name: 'bitdepth', short: 'b', argument: 'N', help: '' },
  { name: 'pixel_format', short: 'p', argument: 'FMT', help: '' },
  { name: 'precision', argument: 'P', ours: true, help: '' },
  { name: 'frame_cnt', argument: 'N', help: '' },
  { name: 'frame_skip_ref', argument: 'N', help: '' },
  { name: 'frame_skip_dist', argument: 'N', help: '' },
  { name: 'sub', help: '' },
  { name: 'subsample', argument: 'N', help: '' },
  { name: 'json', help: '' },
  { name: 'no_prediction', short: 'n', help: '' },
  { name: 'quiet', short: 'q', help: '' },
  { name: 'fail-under', argument: 'N', ours: true, help: '' },
  { name: 'help', ours: true, last: true, help: '' },
  { name: 'c', short: 'c', argument: 'ARG', shortOnly: true, help: '' },
];

/** Options as `name=value` and positional arguments. */
function parsed(...args: string[]) {
  const { options, positionals } = parseArguments(args, SPECS);
  return [options.map(({ name, value }) => (value === '' ? name : `${name}=${value}`)), positionals];
}

const complaint = (...args: string[]) => usageError(() => parseArguments(args, SPECS));

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
    expect(parsed('-nq', '-nb10', '-qr', '-')[0]).toEqual([
      'no_prediction',
      'quiet',
      'no_prediction',
      'bitdepth=10',
      'quiet',
      'reference=-',
    ]);
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
