/**
 * @module test/unit/core/core
 * Aborts, logarithms equal to libm's, spelling suggestions, printable messages, the table of options, traps of the WebAssembly
 * core, fractions, and the generator of randomised tests.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it, test, vi } from 'vitest';
import { onAbort, TimeLimitError, unlessAborted, withinSeconds } from '../../../src/core/abort.js';
import type { Compat } from '../../../src/core/choices.js';
import { compileCore } from '../../../src/core/compile.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import { samplesOf } from '../../../src/core/frame.js';
import { log10 } from '../../../src/core/log10.js';
import { Core } from '../../../src/core/module.js';
import { nearest } from '../../../src/core/nearest.js';
import { areEqual, fractionText, magnitude, quotientOf, wholeNumber } from '../../../src/core/numbers.js';
import { checkByTable } from '../../../src/core/option-checks.js';
import { OPTION_WORDS, wordsOf } from '../../../src/core/option-words.js';
import { OPTIONS, optionsOf } from '../../../src/core/options.js';
import { printable, quoted, shown, showValue } from '../../../src/core/printable.js';
import type { ScoreOptions, ScorerOptions } from '../../../src/index.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { parseModelString } from '../../../src/models/grammar.js';
import { planOf } from '../../support/metric.js';
import { fnv1aOfDoubles, seeded } from '../../support/random.js';
import { refusal } from '../../support/refusals.js';
import { cpuTime } from '../../support/tier.js';

describe('aborts', () => {
  it('onAbort calls once with the reason, at once if aborted before, and never once it is released', () => {
    const controller = new AbortController();
    const [once, before, never] = [vi.fn(), vi.fn(), vi.fn()];
    onAbort(controller.signal, once);
    onAbort(AbortSignal.abort('before'), before);
    onAbort(controller.signal, never)();
    controller.abort('enough');
    expect([once, before, never].map(({ mock }) => mock.calls)).toEqual([[['enough']], [['before']], []]);
  });

  describe('unlessAborted', () => {
    it('settles as the work does', async () => {
      const { signal } = new AbortController();
      expect(await unlessAborted(signal, Promise.resolve(7))).toBe(7);
      await expect(unlessAborted(signal, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    });

    it.each([undefined, 'while it waits'])('rejects with the reason of an abort %s', async (when) => {
      const controller = new AbortController();
      if (when === undefined) controller.abort('enough');
      const waiting = unlessAborted(controller.signal, new Promise(() => {}));
      controller.abort('enough');
      await expect(waiting).rejects.toBe('enough');
    });
  });

  describe('withinSeconds', () => {
    const late = new TimeLimitError('It took too long.');
    const never = new Promise<never>(() => {});
    const broken = () => Promise.reject(new Error('broken'));
    const listens = (signal: AbortSignal) => unlessAborted(signal, never);

    it('settles as the work does, and rejects when it is aborted', async () => {
      expect(await withinSeconds(60, late, undefined, async () => 7)).toBe(7);
      await expect(withinSeconds(60, late, undefined, broken)).rejects.toThrow('broken');
      const stopped = new AbortController();
      const waiting = withinSeconds(60, late, stopped.signal, listens);
      stopped.abort('enough');
      await expect(waiting).rejects.toBe('enough');
    });

    it.each([
      ['listens', 20_000, listens],
      [
        'fails in its own way when it is stopped',
        20_000,
        (signal: AbortSignal) => listens(signal).catch(broken),
      ],
      ['does not listen', 21_500, () => never],
    ])('ends work that %s at the limit', async (_, most, work) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const ended = expect(withinSeconds(20, late, undefined, work)).rejects.toBe(late);
        await vi.advanceTimersByTimeAsync(most);
        await ended;
      } finally {
        vi.useRealTimers();
      }
    });
  });
});

it('reads 16-bit samples at an odd address', () => {
  const bytes = Uint8Array.of(9, 1, 2, 3, 4, 5);
  expect(samplesOf(bytes.subarray(1, 5), 10)).toEqual(Uint16Array.of(0x201, 0x403));
  expect(samplesOf(bytes, 10)).toEqual(Uint16Array.of(0x109, 0x302, 0x504));
});

describe('log10', () => {
  it.each([
    [2, 0.3010299956639812],
    [3, 0.47712125471966244],
    [10, 1],
    [0.5, -0.3010299956639812],
    [0.7, -0.15490195998574319],
    [1e-16, -16],
    [65025, 4.81308036086791],
    [65025 / 7.25, 3.9527423542969164],
    [1046529 / 33.3333, 4.4968729564386818],
    // Next to 1, where a polynomial of its own is used, and at the ends of the table.
    [1.05, 0.021189299069938092],
    [0.97, -0.01322826573375516],
    [1.0000000000000002, 9.6432746655328696e-17],
    [1.375, 0.13830269816628143],
    [0.6875, -0.16272729749769974],
    [65535 * 65535, 9.6329466075304993],
    [1e300, 300],
    [3e-310, -309.52287874528037],
    [0, Number.NEGATIVE_INFINITY],
    [-1, Number.NaN],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    [Number.NaN, Number.NaN],
  ])('of %d', (x, expected) => {
    expect(log10(x)).toBe(expected);
  });

  it('of 0.731, 1.462, ... 20000 values', () => {
    const results = Float64Array.from({ length: 20000 }, (_, i) => log10((i + 1) * 0.731));
    expect(fnv1aOfDoubles(results)).toBe('efbec87946b4cce7');
  });
});

describe('the nearest word', () => {
  const WORDS = 'vmaf_v0.6.1 vmaf_4k_v0.6.1 vmaf_b_v0.6.3 psnr motion reference_encoded no_reference'.split(
    ' ',
  );

  test.each([
    ['vmaf_v061', 'vmaf_v0.6.1'],
    ['vmaf_4k_v0.6.1neg', 'vmaf_4k_v0.6.1'],
    ['PSNR', 'psnr'],
    ['pnsr', 'psnr'],
    ['spnr', 'psnr'],
    ['moton', 'motion'],
    ['reference', 'reference_encoded'],
    ['vmaf', undefined],
    ['ssim', undefined],
    ['', undefined],
    ['p', undefined],
  ])('%j -> %j', (typed, meant) => {
    expect(nearest(typed, WORDS)).toBe(meant);
  });
});

describe('messages', () => {
  describe('text from outside', () => {
    it('shows invisible characters as codes', () => {
      const text = 'a\n\u001b[2J\u0085\u2028\u202e\u{e0041}\ud800é😀';
      expect(printable(text)).toBe('a\\x0a\\x1b[2J\\x85\\u2028\\u202e\\u{e0041}\\ud800é😀');
    });

    it('keeps its ends and states its length when cut, and never splits a character', () => {
      expect(shown('ab'.repeat(40_000), 9)).toBe('ababab…bab (80,000 characters)');
      expect(shown('😀'.repeat(10), 5)).toBe('😀😀… (20 characters)');
      // The length of escapes counts.
      expect(shown('\u2028'.repeat(100)).length).toBeLessThan(230);
      expect(quoted('\ud800'.repeat(150)).length).toBeLessThan(230);
      expect(shown('a\nb')).toBe('a\\x0ab');
      expect(quoted('"'.repeat(300)).length).toBeLessThan(450);
    });

    it('of any type is described in a few words', () => {
      const values = [undefined, null, 5n, Symbol('x'), () => {}, [1], {}, new Uint8Array(3)];
      expect(values.map((value) => showValue(value)).join('; ')).toBe(
        'undefined; null; 5n; a symbol; a function; an array of 1; an object; 3 bytes',
      );
    });
  });

  describe('an error', () => {
    it('is one printable line of bounded length, and so is its cause', () => {
      const cause = new Error(`bad\n\u001b[31m${'x'.repeat(1e6)}`);
      const error = new AnyvmafError('io', `cannot read\n\u202e${'y'.repeat(1e6)}`, { cause });
      for (const { message } of [error, error.cause as Error]) {
        expect(message).toMatch(/^[\x20-\x7e…]+$/);
        expect(message.length).toBeLessThan(3200);
      }
    });

    it.each([
      ['feature name', () => parseFeature('a'.repeat(3_900_000)), 'usage'],
      ['option', () => parseFeature(`psnr=${'a'.repeat(3000)}=1`), 'usage'],
      ['number', () => parseFeature(`cambi=window_size=${'1'.repeat(7000)}x`), 'feature'],
      ['model string', () => parseModelString('version=x:'.repeat(100_000)), 'usage'],
      ['model name', () => parseModelString(`version=x:name=${'n'.repeat(3000)}`), 'usage'],
    ] as const)('about an endless %s comes at once and is short', (_, work, code) => {
      expect(cpuTime(() => expect(refusal(code, work).length).toBeLessThan(1200))).toBeLessThan(2000);
    });

    it('refuses __proto__ like any other unknown option', () => {
      expect(() => parseFeature('psnr=__proto__=1')).toThrow('has no option "__proto__"');
    });
  });

  it('numbers are decimal or hexadecimal, and numbers of frames whole and exact', () => {
    const texts = ['1', '1.', '.5', '1e3', '1.5E-2', '0x1F', '', '.', '1e', '0x', 'e5', '1 ', '1x', '--1'];
    expect(texts.map(magnitude)).toEqual([1, 1, 0.5, 1000, 0.015, 31, ...Array(8).fill(undefined)]);
    const frames = ['0', '007', '9007199254740991', '9007199254740992', '', '1.', '-1'];
    expect(frames.map(wholeNumber)).toEqual([0, 7, 9007199254740991, ...Array(4).fill(undefined)]);
  });
});

const module = await compileCore(readFileSync(new URL('../../../wasm/anyvmaf.wasm', import.meta.url)));

describe('the table of options', () => {
  it('has every option of the API', () => {
    const rows: Readonly<Record<keyof ScoreOptions | keyof ScorerOptions, unknown>> = OPTIONS;
    expect(Object.keys(rows)).toEqual(expect.arrayContaining(['models', 'pixelFormat', 'names']));
  });

  it('lets a job of a queue set nothing that names programs, addresses or functions', () => {
    const jobs = optionsOf('job');
    expect(optionsOf('score').filter((name) => !jobs.includes(name))).toEqual(
      (
        'alsoModels aomCtc nflxCtc onFrame keep samples chunkFrames maxThreads vmafBin cpumask gpumask syclDevice ' +
        'hipDevice metalDevice gate onProgress onStart signal allowUrl rate origin'
      ).split(' '),
    );
  });

  it('gives each flag and each parameter to one option', () => {
    const words = Object.keys(OPTION_WORDS).map(wordsOf);
    for (const named of [words.map(({ flag }) => flag), words.map(({ parameter }) => parameter)])
      expect(new Set(named).size).toBe(named.length);
  });

  it('refuses unknown options, and null for each option', () => {
    const untyped = ['tiny', 'keep', 'samples', 'origin'];
    for (const name of optionsOf('score').filter((option) => !untyped.includes(option)))
      expect(() => checkByTable({ [name]: null }, 'score')).toThrow(`${name} is null`);
    expect(() => checkByTable({ frameCount: 1 }, 'scorer')).toThrow('There is no option "frameCount"');
  });

  it('refuses names that cannot be read, or that are bytes', () => {
    const names = {
      get reference() {
        throw new Error('no');
      },
    };
    const message = 'names is an object that cannot be read; pass a plain one.';
    expect(refusal('usage', () => checkByTable({ names }, 'scorer'))).toBe(message);
    expect(() => checkByTable({ names: new Uint8Array(0) }, 'scorer')).toThrow('it must be an object');
  });
});

describe('a trap of the core', () => {
  const FORMAT = { width: 18, height: 20, bitDepth: 8, chroma: '400' } as const;
  /** An address behind the end of the module's memory: reading there traps. */
  const NOWHERE = 0xffff_0000;
  const context = new Core(module).open(FORMAT, 'simd128');
  const picture = { serial: 1, planes: [{ address: NOWHERE, width: 18, height: 20 }] };
  const of = (feature: string, compat?: Compat) => {
    const [call] = planOf([feature], FORMAT, compat).extraction.calls;
    if (!call) throw new Error(`${feature} calls nothing`);
    context.setFrames({ reference: [picture, picture], distorted: [{ ...picture, serial: 2 }] });
    return context.run(call);
  };

  it.each([
    ['vif', () => of('vif')],
    ['motion', () => of('motion')],
    ['motion', () => of('motion', 'libvmaf-3.0')],
    ['psnr', () => of('psnr')],
    ['map of vif', () => context.vifMap(NOWHERE, NOWHERE, 100, 16, 16)],
    ['float_psnr', () => of('float_psnr')],
  ])('becomes an internal error that names %s, the size, and asks for a report', (metric, run) => {
    const message = refusal('internal', run);
    expect(message).toContain(
      `failed on ${metric} of 18x20 pictures of 8 bits (memory access out of bounds)`,
    );
    expect(message).toContain('please report it');
  });
});

describe('fractions of containers', () => {
  it.each([
    [30000, 1001, 30000 / 1001],
    [0, 1, undefined],
    [25, 0, undefined],
    [0, 0, undefined],
    [-25, 1, undefined],
    [Number.POSITIVE_INFINITY, 1, undefined],
    [25n as never, 1n as never, undefined],
  ])('%i/%i has a value if it is meaningful', (num, den, value) => {
    expect(quotientOf({ num, den })).toBe(value);
  });

  it('are equal by value, and written whole if possible', () => {
    expect(areEqual({ num: 50, den: 2 }, { num: 25, den: 1 })).toBe(true);
    expect(areEqual({ num: 24000, den: 1001 }, { num: 24, den: 1 })).toBe(false);
    expect(fractionText({ num: 50, den: 2 })).toBe('25');
    expect(fractionText({ num: 24000, den: 1001 })).toBe('24000/1001');
    expect(quotientOf(undefined)).toBeUndefined();
  });
});

describe('random numbers of tests', () => {
  it('repeats for the same seed and stays in range', () => {
    expect(seeded(1).next()).toBe(0.6270739405881613);
    const [a, b] = [seeded(7), seeded(7)];
    const [ofA, ofB] = [a, b].map((random) => Array.from({ length: 1000 }, () => random.int(-3, 3)));
    expect(ofA).toEqual(ofB);
    expect(new Set(ofA)).toEqual(new Set([-3, -2, -1, 0, 1, 2, 3]));
    expect(a.bytes(50)).toEqual(b.bytes(50));
    expect(new Set(Array.from({ length: 100 }, () => a.pick([1, 2, 3])))).toEqual(new Set([1, 2, 3]));
  });
});
