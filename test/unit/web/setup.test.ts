/**
 * @module test/unit/web/setup
 * The page's setup: file names and sizes, links, settings, findings, failures, kept results and progress.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { AnyvmafError, type Hint, type OptionHint, type Remedy } from '../../../src/core/errors.js';
import { formatRange } from '../../../src/core/frame.js';
import { loadModels } from '../../../src/models/load.js';
import type { ModelStore } from '../../../src/models/types.js';
import type { FrameMetrics } from '../../../src/report/schema.js';
import { failureOf } from '../../../web/src/engine/calls.js';
import { packed, unpacked } from '../../../web/src/last.js';
import { videosIn } from '../../../web/src/linked.js';
import { attachVideos } from '../../../web/src/results/open.js';
import {
  type ChosenFile,
  DEFAULT_SETTINGS,
  type EncodeResult,
  Session,
  settingsOf,
} from '../../../web/src/session.js';
import { absentModel, advisedSettings, failureWords, kindOfFailure } from '../../../web/src/setup/failure.js';
import { describeFacts, formatInName, guessRaw, kindOf } from '../../../web/src/setup/files.js';
import {
  applyFix,
  applyFixes,
  dropOwn,
  fixOf,
  parseArea,
  parseOffset,
  parseRange,
  setForAll,
  setOwn,
} from '../../../web/src/setup/fixes.js';
import { fromHash, toHash } from '../../../web/src/setup/link.js';
import {
  changeWords,
  differingWords,
  MODEL_KEYS,
  MODELS,
  summary,
  withModel,
} from '../../../web/src/setup/models.js';
import { alike, noReferenceOptions, runOptions } from '../../../web/src/setup/options.js';
import { Speed, Stopwatch, sumProgress } from '../../../web/src/setup/run-bar.js';
import { keeping, keptResults, scoredWith, watchChosen } from '../../../web/src/setup/score.js';
import { report } from '../../support/report.js';

const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

describe('the kind of a file', () => {
  it('is detected by content first, then by name', () => {
    expect(kindOf('clip.yuv', bytes('YUV4MPEG2 W640 '))).toBe('y4m');
    expect(kindOf('clip.y4m', bytes('\0\0\0\x18ftypisom'))).toBe('encoded');
    expect(kindOf('clip.YUV', bytes('\x10\x10\x10'))).toBe('raw');
    expect(kindOf('clip', bytes('\x10\x10\x10'))).toBe('encoded');
  });
});

describe('the format in a file name', () => {
  it.each([
    ['park_1920x1080_50fps.yuv', { width: 1920, height: 1080 }],
    ['src01_hrc00_576x324.yuv420p10le.yuv', { width: 576, height: 324, bitDepth: 10, chroma: '420' }],
    ['foreman_352_288_30.yuv', { width: 352, height: 288 }],
    ['akiyo_cif.yuv', { width: 352, height: 288 }],
    ['carphone_qcif.yuv', { width: 176, height: 144 }],
    ['Crowd_1080p50_422_10bit.yuv', { width: 1920, height: 1080, bitDepth: 10, chroma: '422' }],
    ['city-2160p-yuv444p12le.yuv', { width: 3840, height: 2160, bitDepth: 12, chroma: '444' }],
    ['a_1280X720_8b_4:2:0.yuv', { width: 1280, height: 720, bitDepth: 8, chroma: '420' }],
    [
      'Bosphorus_1920x1080_120fps_420_8bit_YUV.yuv',
      { width: 1920, height: 1080, bitDepth: 8, chroma: '420' },
    ],
    ['luma_640x360_gray.yuv', { width: 640, height: 360, chroma: '400' }],
    ['cam_1920x1080_p010.yuv', { width: 1920, height: 1080, bitDepth: 10, packed: 'p010' }],
    ['shot_2024-06-01.yuv', {}],
    ['clip.yuv', {}],
  ])('%s', (name, format) => {
    expect(formatInName(name)).toEqual(format);
  });
});

describe('guessing raw video', () => {
  const cif = 352 * 288 * 1.5;

  it('rounds chroma up at odd sizes, as ffmpeg does', () => {
    const size = 3 * (637 * 361 + 2 * 319 * 181);
    expect(guessRaw([{ name: 'a_637x361.yuv', size }]).format).toMatchObject({ bitDepth: 8, chroma: '420' });
    const wide = 3 * 2 * (637 * 361 + 2 * 319 * 361);
    expect(guessRaw([{ name: 'a_637x361_10bit.yuv', size: wide }]).format).toMatchObject({
      bitDepth: 10,
      chroma: '422',
    });
  });

  it('takes size from the name, and depth and chroma from the file size', () => {
    const size = 640 * 360 * 1.5 * 2 * 7;
    expect(guessRaw([{ name: 'a_640x360.yuv', size: size * 2 }]).format.bitDepth).toBe(8);
    // An odd number of 8-bit frames is no whole number of 10-bit frames.
    expect(guessRaw([{ name: 'a_640x360.yuv', size: 640 * 360 * 1.5 * 7 }])).toEqual({
      format: { width: 640, height: 360, bitDepth: 8, chroma: '420' },
      from: 'name',
    });
    // A whole number of 4:2:2 frames, but not of 4:2:0 frames.
    expect(guessRaw([{ name: 'a_640x360.yuv', size: 640 * 360 * 2 * 5 }]).format.chroma).toBe('422');
  });

  it('finds a common size of which all files are whole frames', () => {
    expect(
      guessRaw([
        { name: 'a.yuv', size: cif * 31 },
        { name: 'b.yuv', size: cif * 29 },
      ]),
    ).toEqual({ format: { width: 352, height: 288, bitDepth: 8, chroma: '420' }, from: 'size' });
  });

  it('applies the size in one name to the other file', () => {
    const guess = guessRaw([
      { name: 'decoded.yuv', size: 96 * 64 * 1.5 * 3 },
      { name: 'ref_96x64.yuv', size: 96 * 64 * 1.5 * 4 },
    ]);
    expect(guess).toEqual({ format: { width: 96, height: 64, bitDepth: 8, chroma: '420' }, from: 'name' });
  });

  it('fails for unusual sizes', () => {
    expect(guessRaw([{ name: 'a.yuv', size: 12_347 }]).from).toBe('none');
  });
});

describe('ranges', () => {
  it.each([
    ['0-250', { unit: 'frames', start: 0, end: 250 }],
    ['100-', { unit: 'frames', start: 100 }],
    ['1.5s-10s', { unit: 'seconds', start: 1.5, end: 10 }],
    ['2s-', { unit: 'seconds', start: 2 }],
    [' 3-4s ', { unit: 'seconds', start: 3, end: 4 }],
  ])('%s', (typed, range) => {
    expect(parseRange(typed)).toEqual(range);
  });
  it.each(['', 'all', '5', '10-5', '1.5-3', '-5', '3s-3s'])('refuses %o', (typed) => {
    expect(parseRange(typed)).toBeUndefined();
  });
  it('are formatted in the syntax that is parsed', () => {
    for (const typed of ['0-250', '100-', '1.5s-10s', '2s-'])
      expect(formatRange(parseRange(typed) ?? null)).toBe(typed);
  });
});

describe('settings as text', () => {
  it('are parsed as offsets and crops; invalid text is undefined', () => {
    expect(['12', '-3', '+4', 'auto'].map(parseOffset)).toEqual([12, -3, 4, 'auto']);
    for (const text of ['soon', '1.5', '1e3', '--3', '12345678', 'AUTO'])
      expect(parseOffset(text)).toBeUndefined();
    for (const text of ['1920:800', '1920:800:0:140']) expect(parseArea(text)).toBe(text);
    for (const text of ['1920x800', '0:10', '10:00', '10:10:5', '10:10:-1:0', '100000:10'])
      expect(parseArea(text)).toBeUndefined();
  });
});

describe('the settings link', () => {
  it('ignores models of other hosts', () => {
    const models = (...names: string[]) =>
      fromHash(`#${new URLSearchParams(names.map((name) => ['model', name]))}`).settings.models;
    expect(models('path=mine.json', 'path=/models/mine.json:name=mine')).toEqual([
      'path=mine.json',
      'path=/models/mine.json:name=mine',
    ]);
    const foreign = [
      '//evil.example/m',
      '\\\\evil.example/m',
      '/\\evil.example/m',
      '/\t/evil.example/m',
      '//[',
    ];
    for (const path of foreign) {
      // A path needs no key, and the last of several counts.
      for (const model of [path, `path=${path}`, `path=mine.json:path=${path}`])
        expect(models(model), model).toEqual(DEFAULT_SETTINGS.models);
    }
    expect(models('models/mine.json')).toEqual(['models/mine.json']);
    expect(models(`name=x:path=${foreign[0]}`, MODELS.neg)).toEqual([MODELS.neg]);
  });

  it('is empty for the defaults', () => {
    expect(toHash({ settings: DEFAULT_SETTINGS, raw: null, guess: false, ownTiny: false })).toBe('');
    const { settings, ...others } = fromHash('');
    expect(others).toEqual({ raw: null, guess: false, ownTiny: false });
    // As text, by which the form decides whether there is anything to reset.
    expect(JSON.stringify(settings)).toBe(JSON.stringify(DEFAULT_SETTINGS));
  });

  it('restores everything but the decoder', () => {
    const settings = {
      models: [MODELS.phone, MODELS.neg],
      features: ['psnr=enable_apsnr=true', 'motion'],
      scale: 'lanczos',
      scaleTo: { width: 3840, height: 2160 },
      frameRatePolicy: 'strict',
      pairBy: 'distorted',
      offset: -12,
      range: { unit: 'seconds', start: 1.5, end: 10 },
      subsample: 5,
      threads: 3,
      allowDamaged: true,
      cropReference: '320:240:16:24',
      cropDistorted: '320:240',
      colorRange: 'full',
      pixelFormat: 'yuv420p10le',
      trackReference: 1,
      trackDistorted: 0,
      decoder: 'wasm',
    } as const;
    const raw = { width: 352, height: 288, bitDepth: 10, chroma: '422' } as const;
    const tiny = { guess: true, ownTiny: true };
    const hash = toHash({ settings, raw, ...tiny });
    expect(videosIn(hash)).toEqual({ faults: [] });
    expect(fromHash(`#${hash}`)).toEqual({ settings: { ...settings, decoder: 'mediabunny' }, raw, ...tiny });
    const auto = { settings: { ...settings, offset: 'auto' as const }, raw, ...tiny };
    expect(fromHash(toHash(auto)).settings.offset).toBe('auto');
    const alone = {
      settings: { ...DEFAULT_SETTINGS, models: [], crop: 'auto' as const },
      raw: null,
      ...tiny,
    };
    expect(fromHash(toHash(alone))).toEqual(alone);
  });

  it.each([
    '#scale=nearest&offset=soon&range=9-3&subsample=0&threads=1e9&raw=axb,8,420&scale-to=big&rate=no&model=&feature=&tiny=&tiny=/etc/passwd',
    '#threads=0',
    '#threads=65',
    '#%zz=1&=&&',
    '#raw=352x288,7,420',
    '#raw=0x288,8,420&scale-to=1920x0',
    '#raw=352x99999,8,420&scale-to=16385x16',
    '#crop=yes&crop-ref=10&crop-dis=0:10&color-range=wide&pix-fmt=-i%20x&track-ref=-1&track-dis=1000',
  ])('ignores invalid values: %s', (hash) => {
    expect(fromHash(hash)).toEqual({ settings: DEFAULT_SETTINGS, raw: null, guess: false, ownTiny: false });
  });
});

describe('videos in a link', () => {
  const two = 'ref=https://a.example/r.y4m&dis=http://localhost:81/d.mp4';

  it('are http(s) URLs, with the frame to open', () => {
    const { videos, faults } = videosIn(`#model=none&${two}&frame=12`);
    expect(faults).toEqual([]);
    expect(videos?.reference?.href).toBe('https://a.example/r.y4m');
    expect(videos?.distorted.map(({ host }) => host)).toEqual(['localhost:81']);
    expect(videos?.cursor).toEqual({ encode: 0, frame: 12 });
    expect(videosIn(`${two}&dis=https://b.example/e.mp4&frame=3&encode=2`).videos?.cursor?.encode).toBe(1);
    expect(videosIn('#subsample=2')).toEqual({ faults: [] });
  });

  it.each([
    ['ref=javascript:alert(1)&dis=https://a.example/d', /ref is “javascript:alert\(1\)”, but must be a URL/],
    ['dis=file:///etc/passwd', /dis is “file:\/\/\/etc\/passwd”/],
    ['dis=data:video/mp4,x', /dis is “data:/],
    ['dis=blob:https://a.example/1', /dis is “blob:/],
    ['dis=//a.example/d.mp4', /dis is “\/\/a.example/],
    ['dis=https://me:secret@a.example/d.mp4', /has no user name or password/],
    [`dis=x${'y'.repeat(500)}`, /dis is “xy{59}…”/],
    ['ref=https://a.example/r.y4m', /names no encode/],
    [Array(17).fill('dis=https://a.example/d').join('&'), /names 17 encodes, more than 16/],
    [`dis=https://a.example/${'d'.repeat(30_000)}`, /has 30022 characters, more than the 20,000/],
  ])('are refused with one sentence: %.40s', (hash, why) => {
    const { videos, faults } = videosIn(hash);
    expect(videos).toBeUndefined();
    expect(faults).toEqual([expect.stringMatching(why)]);
  });

  it('are offered without filters, with a message that the page does not run them', () => {
    const { faults } = videosIn(`${two}&deinterlace=on&vf-dis=hqdn3d`);
    expect(faults).toEqual([expect.stringMatching(/asks for deinterlace, vf-dis: filters of ffmpeg/)]);
  });

  it('are offered without unknown parts, which the message names', () => {
    const { videos, faults } = videosIn(`${two}&<b>=1&autorun=1&frame=-1`);
    expect(videos?.cursor).toBeUndefined();
    expect(videos?.distorted.length).toBe(1);
    expect(faults).toEqual([
      expect.stringMatching(/Unknown parts of this link are ignored: <b>, autorun\./),
      expect.stringMatching(/frame is “-1 of 1”/),
    ]);
  });
});

describe('options of a run', () => {
  it('omit defaults', () => {
    expect(runOptions(DEFAULT_SETTINGS, null)).toEqual({
      models: ['version=vmaf_v0.6.1'],
      decoder: 'mediabunny',
    });
  });
});

describe('models', () => {
  it('with the same name replace each other', () => {
    expect(withModel([MODELS.hd, MODELS.neg], 'auto', true)).toEqual([MODELS.auto, MODELS.neg]);
    expect(withModel([MODELS.auto], 'hd', true)).toEqual([MODELS.hd]);
    expect(withModel([MODELS.hd], 'hd', false)).toEqual([]);
  });
  it('that are not listed stay', () => {
    expect(withModel(['path=mine.json', MODELS.hd], 'uhd', true)).toEqual([
      MODELS.hd,
      MODELS.uhd,
      'path=mine.json',
    ]);
  });
  it('are summarized in one line with other changes', () => {
    expect(summary({ ...DEFAULT_SETTINGS, features: ['psnr'], offset: 'auto', subsample: 4 })).toEqual([
      'VMAF + PSNR',
      'whole video',
      'offset detected',
      'every 4th frame',
    ]);
    expect(summary({ ...DEFAULT_SETTINGS, models: [] })[0]).toBe('metrics only');
  });
});

describe('fixes of findings', () => {
  const finding = (hint: Hint) => ({ code: 'offset', severity: 'warning', message: '', hint }) as const;
  it.each<[OptionHint['option'], OptionHint['value'], object]>([
    ['offset', 12, { offset: 12 }],
    ['offset', 'auto', { offset: 'auto' }],
    ['scale', 'bicubic', { scale: 'bicubic' }],
    ['scaleTo', { width: 1920, height: 1080 }, { scaleTo: { width: 1920, height: 1080 } }],
    ['frameRatePolicy', 'nearest', { frameRatePolicy: 'nearest' }],
    ['range', { unit: 'frames', start: 0, end: 90 }, { range: { unit: 'frames', start: 0, end: 90 } }],
    ['model', 'auto', { models: ['auto'] }],
  ])('%s %j', (option, value, change) => {
    const hint = { purpose: 'fix', option, value } as Hint;
    expect(fixOf(finding(hint))).toEqual({ kind: 'settings', change });
  });
  it('add a feature to those already chosen', () => {
    const fix = fixOf(finding({ purpose: 'fix', option: 'features', value: 'cvvdp' }));
    const session = new Session();
    session.settings.value = { ...session.settings.value, features: ['psnr'] };
    for (const _ of [1, 2]) if (fix) applyFix(session, fix, []);
    expect(session.settings.value.features).toEqual(['psnr', 'cvvdp']);
  });
  it('are absent if files must be prepared or more must be searched', () => {
    expect(fixOf(finding({ purpose: 'prepare', commands: [] }))).toBeUndefined();
    expect(fixOf(finding({ purpose: 'fix', option: 'window', value: 500 }))).toBeUndefined();
  });
});

describe('a session', () => {
  /** A session with a reference and two encodes. */
  function chosen() {
    const file = (name: string, id: number): ChosenFile => ({
      id,
      file: new File([name], name),
      kind: 'y4m',
    });
    const session = new Session();
    const [reference, first, second] = [file('ref', 1), file('a', 2), file('b', 3)] as const;
    session.reference.value = reference;
    session.distorted.value = [first, second];
    return { session, reference, first, second };
  }
  /** Adds finished results of all encodes with the current settings; the first has the reference's size, others half of it. */
  function keep(session: Session): EncodeResult[] {
    const results = session.distorted.value.map((chosen, i): EncodeResult => {
      const sides = {
        reference: { width: 640, height: 360 },
        pairing: { distorted: { width: i ? 320 : 640, height: 360 } },
      };
      return {
        name: chosen.file.name,
        frames: [],
        scored: scoredWith(session, chosen),
        report: sides as unknown as NonNullable<EncodeResult['report']>,
      };
    });
    session.kept.value = [...session.kept.value, ...results];
    return results;
  }

  it('swaps the reference with the encode of the finding, at its index', () => {
    const { session, reference, first, second } = chosen();
    applyFix(session, { kind: 'swap' }, [second.file]);
    expect([session.reference.value, session.distorted.value]).toEqual([second, [first, reference]]);
    applyFix(session, { kind: 'swap' }, []);
    expect([session.reference.value, session.distorted.value]).toEqual([first, [second, reference]]);
    applyFix(session, { kind: 'swap' }, [new File([], 'of another session')]);
    expect(session.reference.value).toBe(first);
  });

  it('applies fixes to the affected encodes only, and the form to all', () => {
    const { session, first, second } = chosen();
    const settings = () => session.distorted.value.map((chosen) => settingsOf(session, chosen));
    const scored = keep(session);
    applyFix(session, { kind: 'settings', change: { offset: 3 } }, [second.file]);
    applyFix(session, { kind: 'settings', change: { frameRatePolicy: 'strict' } }, [second.file]);
    expect(settings()).toEqual([
      DEFAULT_SETTINGS,
      { ...DEFAULT_SETTINGS, offset: 3, frameRatePolicy: 'strict' },
    ]);
    expect(changeWords(session.distorted.value[1]?.own ?? {})).toEqual(['offset 3', 'Do not compare']);
    // The result of the other encode stays.
    expect(keptResults(session)).toEqual([scored[0], undefined]);
    expect(
      alike(settings().map((each) => runOptions(each, null))).map(([{ offset }, of]) => [offset, of]),
    ).toEqual([
      [undefined, [0]],
      [3, [1]],
    ]);
    setForAll(session, { offset: 7 });
    expect(settings().map(({ offset }) => offset)).toEqual([7, 7]);
    expect(session.distorted.value).toEqual([first, { ...second, own: { frameRatePolicy: 'strict' } }]);
    dropOwn(session, second.id);
    expect(session.distorted.value).toEqual([first, second]);
    // A finding of all encodes.
    applyFix(session, { kind: 'settings', change: { offset: 2 } }, [first.file, second.file]);
    expect(session.settings.value.offset).toBe(2);
    expect(session.distorted.value).toEqual([first, second]);
  });

  it('fixes several encodes at once, with values of their own or a common one', () => {
    const { session, first, second } = chosen();
    const offset = (value: number) =>
      ({
        code: 'offset',
        severity: 'warning',
        message: '',
        hint: { purpose: 'fix', option: 'offset', value },
      }) as const;
    const own = () => session.distorted.value.map((chosen) => chosen.own);
    applyFixes(session, [
      { finding: offset(3), files: [first.file] },
      { finding: offset(5), files: [second.file] },
    ]);
    expect(own()).toEqual([{ offset: 3 }, { offset: 5 }]);
    applyFixes(session, [
      { finding: offset(4), files: [first.file] },
      { finding: offset(4), files: [second.file] },
    ]);
    expect([own(), session.settings.value.offset]).toEqual([[undefined, undefined], 4]);
  });

  it('changes settings of one encode, which alone is scored again, and restores them', () => {
    const { session, first, second } = chosen();
    const [firstResult, secondResult] = keep(session);
    const set = (change: Parameters<typeof setOwn>[2]) =>
      setOwn(session, ({ id }) => id === second.id, change);
    const own = () => session.distorted.value[1]?.own;
    for (const change of [
      { offset: 2 },
      { range: { unit: 'frames', start: 0, end: 9 } },
      { cropDistorted: '320:180' },
      { colorRange: 'full' },
      { trackDistorted: 1 },
    ] as const) {
      set(change);
      expect(own()).toEqual(change);
      expect(keptResults(session)).toEqual([firstResult, undefined]);
      dropOwn(session, second.id);
      expect(keptResults(session)).toEqual([firstResult, secondResult]);
    }
    // A value equal to the common one is not an own setting; a default that differs from the common value is.
    set({ offset: 2, crop: 'auto' });
    set({ offset: 0, crop: undefined });
    expect(session.distorted.value).toEqual([first, second]);
    setForAll(session, { crop: 'auto', range: { unit: 'frames', start: 0, end: 9 } });
    set({ crop: undefined, cropDistorted: '320:180', range: null });
    const settings = session.distorted.value.map((each) => settingsOf(session, each));
    expect(settings[1]).toMatchObject({ crop: undefined, cropDistorted: '320:180', range: null });
    expect(runOptions(settings[1] ?? DEFAULT_SETTINGS, null)).toEqual({
      decoder: 'mediabunny',
      models: DEFAULT_SETTINGS.models,
      cropDistorted: '320:180',
    });
    expect(changeWords(own() ?? {})).toEqual([
      'whole video',
      'black borders kept',
      'encode cropped to 320:180',
    ]);
    expect(differingWords(settings)).toEqual([
      'range 0-9, black borders cropped',
      'encode cropped to 320:180',
    ]);
    expect(differingWords([settings[0], settings[0], undefined])[0]).toBe('range 0-9, black borders cropped');
    expect(differingWords([settings[0], settings[0]])).toEqual(['', '']);
    expect(summary(session.settings.value)).toContain('black borders cropped');
  });

  it('keeps the results of all chosen encodes, however many, and of other settings the latest', () => {
    const { session, first } = chosen();
    const file = (_: unknown, i: number): ChosenFile => ({
      ...first,
      id: 10 + i,
      file: new File([], `${i}`),
    });
    session.distorted.value = Array.from({ length: 70 }, file);
    const scoreAll = () => {
      const results = keep(session);
      session.kept.value = session.kept.value.filter((result) => !results.includes(result));
      for (const result of results) session.kept.value = keeping(session, result);
    };
    scoreAll();
    expect(keptResults(session)).not.toContain(undefined);
    session.settings.value = { ...DEFAULT_SETTINGS, subsample: 2 };
    scoreAll();
    expect(keptResults(session)).not.toContain(undefined);
    expect(session.kept.value).toHaveLength(70 + 64);
  });

  it('scores without a reference by the settings of the encode', () => {
    const settings = {
      ...DEFAULT_SETTINGS,
      offset: 4,
      scale: 'lanczos',
      cropReference: '10:10',
      cropDistorted: '20:20',
      trackDistorted: 1,
    } as const;
    expect(noReferenceOptions(settings, null, [])).toEqual({
      noReference: true,
      decoder: 'mediabunny',
      cropDistorted: '20:20',
      trackDistorted: 1,
    });
    const cropped = noReferenceOptions({ ...DEFAULT_SETTINGS, crop: 'auto' }, null, []);
    expect(cropped).toEqual({ noReference: true, decoder: 'mediabunny', crop: 'auto' });
  });

  it('scores an encode again only for changes that affect its numbers', () => {
    const { session, first, second } = chosen();
    const [firstResult, secondResult] = keep(session);
    const both = [firstResult, secondResult];
    expect(keptResults(session)).toEqual(both);
    const { settings } = session;
    // Threads change nothing; scaling has no effect on the first encode, as both of its videos have the same size.
    settings.value = { ...settings.value, threads: 1, backend: 'webgpu' };
    expect(keptResults(session)).toEqual(both);
    settings.value = { ...settings.value, scale: 'lanczos' };
    expect(keptResults(session)).toEqual([firstResult, undefined]);
    settings.value = { ...settings.value, scaleTo: { width: 320, height: 180 } };
    expect(keptResults(session)).toEqual([undefined, undefined]);
    settings.value = DEFAULT_SETTINGS;
    // The raw format affects raw videos only.
    session.distorted.value = [first, { ...second, kind: 'raw' }];
    session.raw.value = { width: 64, height: 64, bitDepth: 8, chroma: '420' };
    expect(keptResults(session)).toEqual([firstResult, undefined]);
    session.distorted.value = [second, first, { ...first, id: 9, file: new File(['a'], 'a') }];
    expect(keptResults(session)).toEqual([secondResult, firstResult, undefined]);
    // Another model of the same name.
    const pick = () => ({ model: 'my.onnx', files: { 'my.onnx': new File([], 'my.onnx') }, resizes: false });
    session.tiny.value = [pick()];
    const scored = keep(session);
    session.tiny.value = [...session.tiny.value];
    expect(keptResults(session)).toEqual(scored);
    session.tiny.value = [pick()];
    expect(keptResults(session)).toEqual([undefined, undefined, undefined]);
  });

  it('shows finished results once all chosen encodes have one', () => {
    const { session, first, second } = chosen();
    const names = () => session.results.value.map(({ name }) => name);
    session.results.value = keep(session);
    watchChosen(session);
    session.distorted.value = [second];
    expect([names(), session.outdated.value]).toEqual([['b'], false]);
    // Another encode without a result hides nothing.
    session.distorted.value = [second, first, { ...first, id: 9, file: new File(['c'], 'c') }];
    expect([names(), session.outdated.value]).toEqual([['b'], false]);
    session.settings.value = { ...DEFAULT_SETTINGS, subsample: 2 };
    expect([names(), session.outdated.value]).toEqual([['b'], true]);
    session.settings.value = DEFAULT_SETTINGS;
    session.distorted.value = [first, second];
    expect([names(), session.outdated.value]).toEqual([['a', 'b'], false]);
    // Saved reports do not depend on chosen files.
    session.results.value = [{ name: 'saved', frames: [] }];
    session.distorted.value = [second];
    expect([names(), session.outdated.value]).toEqual([['saved'], false]);
  });

  it('shows finished results again after a run that ended before its first frame', () => {
    const { session } = chosen();
    session.results.value = keep(session);
    watchChosen(session);
    session.settings.value = { ...DEFAULT_SETTINGS, subsample: 2 };
    session.run.value = { phase: 'running', progress: [null, null] };
    session.results.value = [];
    session.run.value = { phase: 'cancelled' };
    session.results.value = [];
    expect(session.results.value).toEqual([]);
    session.settings.value = DEFAULT_SETTINGS;
    expect(session.results.value.map(({ name }) => name)).toEqual(['a', 'b']);
  });
});

describe('a stored session', () => {
  it('keeps its frames, whatever metrics some of them lack', () => {
    const frames: FrameMetrics[] = [
      { frameNum: 0, metrics: { vmaf: 90.5, psnr_y: Number.POSITIVE_INFINITY } },
      { frameNum: 3, metrics: { vmaf: 0 } },
      { frameNum: 4, metrics: { psnr_y: -1, late: 1e-300 } },
    ];
    expect(unpacked(packed(frames))).toEqual(frames);
    expect(unpacked(packed([]))).toEqual([]);
  });
});

describe('failures', () => {
  const kind = (code?: string, name = 'Error', hints: readonly Remedy[] = []) =>
    kindOfFailure({ message: '', name, code, objections: [{ message: '', hints }] }, DEFAULT_SETTINGS);
  it('are classified by their data', () => {
    expect(kind('media', 'Error', [{ purpose: 'fix', option: 'decoder', value: 'wasm' }])).toBe(
      'undecodable',
    );
    expect(kind('media')).toBe('media');
    expect(kind('mismatch')).toBe('differs');
    expect(kind('resource')).toBe('memory');
    expect(kind('internal')).toBe('died');
    expect(kind(undefined, 'NotReadableError')).toBe('io');
    expect(kind()).toBe('other');
    expect(kind('model')).toBe('model');
    expect(kind('backend')).toBe('backend');
  });

  it('offer each advised setting once, unless it is set already', () => {
    const hints: readonly Remedy[] = [
      'get the file again',
      { purpose: 'fix', option: 'frameRatePolicy', value: 'nearest' },
      { purpose: 'fix', option: 'frameRatePolicy', value: 'nearest' },
      { purpose: 'fix', option: 'allowDamaged', value: true },
      { purpose: 'fix', option: 'decoder', value: 'wasm' },
      { purpose: 'accept', option: 'scale', value: 'bicubic' },
    ];
    const failure = { message: '', name: 'Error', objections: [{ message: '', hints }] };
    expect(advisedSettings(failure, DEFAULT_SETTINGS)).toEqual([
      ['Pair by time', { frameRatePolicy: 'nearest' }],
      ['Score up to the damage', { allowDamaged: true }],
    ]);
    const settings = { ...DEFAULT_SETTINGS, allowDamaged: true };
    expect(advisedSettings(failure, settings)).toEqual([['Pair by time', { frameRatePolicy: 'nearest' }]]);
  });

  it('are memory failures only if the browser or the library says so', () => {
    const thrown = (error: Error) => kindOfFailure(failureOf(error), DEFAULT_SETTINGS);
    for (const message of [
      'Array buffer allocation failed',
      'WebAssembly.Memory(): could not allocate memory',
      'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance',
      'Out of memory',
    ]) {
      expect(thrown(new RangeError(message))).toBe('memory');
      expect(thrown(new AnyvmafError('internal', message))).toBe('memory');
      expect(thrown(new AnyvmafError('media', message))).toBe('media');
    }
    expect(thrown(new RangeError('Maximum call stack size exceeded'))).toBe('other');
    expect(thrown(new RangeError('Invalid array length'))).toBe('other');
    expect(thrown(new AnyvmafError('internal', 'there is no pair 7'))).toBe('died');
  });

  it('omit advice for options of programs', () => {
    // Cloned as by a worker's message.
    const words = (message: string, hints: readonly Remedy[]) =>
      failureWords(structuredClone(failureOf(new AnyvmafError('media', message, { hints }))));
    expect(words('a.yuv is in no container', [{ purpose: 'declare', option: 'raw' }])).toBe(
      'a.yuv is in no container.',
    );
    expect(
      words('a.mp4 is cut off at frame 27', [
        'get the file again',
        { purpose: 'fix', option: 'allowDamaged', value: true, aim: 'to score what comes before' },
      ]),
    ).toBe('a.mp4 is cut off at frame 27; get the file again.');
    const refused = new AnyvmafError('mismatch', 'it is larger; pass scale.', {
      objections: [
        { message: 'It is larger.', hints: [{ purpose: 'fix', option: 'scale', value: 'bicubic' }] },
        { message: 'It is slower.' },
      ],
    });
    expect(failureWords(structuredClone(failureOf(refused)))).toBe('It is larger. It is slower.');
    expect(words('what is fine stays.', [])).toBe('what is fine stays.');
  });

  it('name the model to pull', async () => {
    const store: ModelStore = {
      readBuiltIn: (name) => readFile(new URL(`../../../model/${name}`, import.meta.url), 'utf8'),
      readFile: () => Promise.reject(new Error('not asked for')),
    };
    const offered = MODEL_KEYS.filter((key) => key.startsWith('v1')).map((key) => MODELS[key]);
    // All VMAF v1 models, with distinct names.
    expect(offered.map((model) => /^version=(.*):name=/.exec(model)?.[1]).sort()).toEqual(
      ['', 'hfr_'].flatMap((rate) =>
        ['1d5h_2160', '3d0h', '3d0h_2160', '5d0h'].map((seen) => `vmaf_v1.0.16_${rate}${seen}`),
      ),
    );
    expect(new Set(offered.map((model) => /:name=(.*)/.exec(model)?.[1])).size).toBe(offered.length);
    for (const model of offered) {
      const failure = failureOf(await loadModels([model], store).catch((error: unknown) => error));
      expect(kindOfFailure(failure, DEFAULT_SETTINGS)).toBe('absent');
      expect(`version=${absentModel(failure)}`).toBe(model.replace(/:name=.*/, ''));
    }
  });
});

describe('progress of several encodes', () => {
  const at = (framesDone: number, framesTotal: number | null) => ({
    framesDone,
    framesTotal,
    fps: 1,
    secondsLeft: 1,
  });
  it('is the sum', () => {
    expect(sumProgress([at(10, 100), at(20, 50)])).toEqual({ done: 30, total: 150 });
  });
  it('has no total until all lengths are known', () => {
    expect(sumProgress([at(10, 100), null])).toEqual({ done: 10, total: null });
    expect(sumProgress([at(10, null)])).toEqual({ done: 10, total: null });
  });
  it('has a speed once some frames took some time, counted from the first', () => {
    const speed = new Speed();
    expect(speed.at(0, 5)).toBeUndefined();
    expect(speed.at(1, 9)).toBeUndefined();
    expect(speed.at(20, 9.9)).toBeUndefined();
    expect(speed.at(41, 11)).toBe(20);
    expect(speed.at(41, 13)).toBe(10);
  });
  it('is timed without pauses', () => {
    const watch = new Stopwatch();
    watch.run(true, 1000);
    watch.run(true, 2000);
    watch.run(false, 3000);
    watch.run(false, 60_000);
    watch.run(true, 100_000);
    expect(watch.seconds(101_500)).toBe(3.5);
  });
});

it.each([
  ['equal', 'abc', 'abc'],
  ['different', 'abc', 'abcdef'],
])('files of one name and %s sizes go to a result each, without a complaint', (_, first, second) => {
  const session = new Session();
  const chosen = (content: string, name: string, id: number): ChosenFile => ({
    id,
    file: new File([content], name),
    kind: 'y4m',
  });
  const distorted = [chosen(first, 'out.y4m', 2), chosen(second, 'out.y4m', 3)];
  session.reference.value = chosen('r', 'ref.yuv', 1);
  session.distorted.value = distorted;
  const base = report();
  session.results.value = distorted.map(({ file: { size } }, i) => ({
    name: 'out.y4m',
    frames: [],
    report: { ...base, distorted: { ...base.distorted, name: `/${i}/out.y4m`, fileSize: size } },
  }));
  expect(attachVideos(session)).toBe('2 results have their videos again.');
  for (const [i, { source }] of session.results.value.entries())
    expect(source?.distorted === distorted[i]?.file).toBe(true);
});

it('a result of the last session is not that of a file with another time', () => {
  const session = new Session();
  const chosen = (content: string, name: string, id: number, lastModified: number): ChosenFile => ({
    ...{ id, kind: 'y4m', file: new File([content], name, { lastModified }) },
  });
  session.reference.value = chosen('r', 'ref.yuv', 1, 1);
  const base = report();
  const was = { settings: DEFAULT_SETTINGS, raw: null, tiny: [], modified: { reference: 1, distorted: 2 } };
  const distorted = { ...base.distorted, name: 'out.y4m', fileSize: 3 };
  for (const [time, outcome] of [
    [3, 'out.y4m has another time than when it was scored; score it again.'],
    [2, 'The result has its videos again.'],
  ] as const) {
    session.results.value = [{ name: 'out.y4m', frames: [], report: { ...base, distorted }, was }];
    session.distorted.value = [chosen('abc', 'out.y4m', 2, time)];
    expect(attachVideos(session)).toBe(outcome);
    expect(keptResults(session)[0] !== undefined).toBe(time === 2);
  }
});

describe('facts of a video', () => {
  const plain = {
    name: 'a.mp4',
    width: 1920,
    height: 1080,
    bitDepth: 8,
    chroma: '420',
    frameCount: 1500,
    container: 'mp4',
    codec: 'h264',
    decodedBy: 'mediabunny',
    frameRate: { num: 30000, den: 1001 },
    duration: 59.6,
    bitrate: 4_213_000,
  } as const;

  it('are formatted like those of results', () => {
    expect(describeFacts(plain)).toEqual([
      ...['1920 × 1080', '29.97 fps', 'H.264', '8 bit 4:2:0', '1,500 frames', '1:00', '4.21 Mb/s'],
    ]);
  });
});
