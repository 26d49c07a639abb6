/**
 * @module test/unit/media/judge
 * Which findings of a pair are causes, and which only follow from them.
 */
import { describe, expect, it } from 'vitest';
import { preflight } from '../../../src/media/preflight/index.js';
import { judge } from '../../../src/media/preflight/judge.js';
import type { Finding, FindingCode, SideFacts } from '../../../src/media/preflight/types.js';
import { trustOf } from '../../../src/report/trust.js';
import { ALIGNED, REFERENCE } from '../../support/good-pair.js';

const found = (code: FindingCode, more: Partial<Finding> = {}): Finding => ({
  code,
  severity: code === 'slip' ? 'error' : 'warning',
  message: `About ${code}.`,
  fix: `for ${code}`,
  ...more,
});

const slip = (frame: number, frames: number) => found('slip', { places: [{ frame, frames }] });
const offset = (reference: number, distorted: number) => found('offset', { reference, distorted });
const rates = (reference: string, distorted: string) => found('frame-rate', { reference, distorted });

const aligned = (similarity: number, gain = 1) => ({
  alignment: { ...ALIGNED, similarity, levels: { gain, bias: 0 } },
});

/** `cause > what follows from it`, each finding by its code. */
const story = (findings: readonly Finding[]) =>
  findings.map(({ code, follows }) => (follows ? `${follows} > ${code}` : code));

describe('a judgement of all findings', () => {
  it.each<[string, Finding[], string[], ReturnType<typeof aligned>?]>([
    ['a slip explains the offset that it makes', [offset(0, 4), slip(30, -4)], ['slip', 'slip > offset']],
    ['not another offset', [offset(0, 12), slip(30, -4)], ['slip', 'offset']],
    ['nor one that no search met', [offset(0, 4), slip(400, -4)], ['slip', 'offset']],
    [
      'borders explain that pictures look unrelated',
      [found('size'), found('unrelated'), found('swapped'), found('black-borders')],
      ['black-borders', 'black-borders > size', 'black-borders > unrelated', 'black-borders > swapped'],
    ],
    [
      'borders explain an offset of pictures that do not cover each other',
      [offset(3, 0), found('black-borders')],
      ['black-borders', 'black-borders > offset'],
      aligned(0.6),
    ],
    [
      'not one of pictures that do',
      [offset(3, 0), found('black-borders')],
      ['black-borders', 'offset'],
      aligned(0.98),
    ],
    [
      'a dynamic range explains levels and labels',
      [found('levels'), found('primaries'), found('hdr'), found('dynamic-range')],
      ['dynamic-range', 'dynamic-range > levels', 'dynamic-range > primaries', 'dynamic-range > hdr'],
    ],
    [
      'fields explain half a rate',
      [rates('50', '25'), found('interlaced')],
      ['interlaced', 'interlaced > frame-rate'],
    ],
    [
      'telecine that of a film',
      [rates('24000/1001', '30000/1001'), found('interlaced')],
      ['interlaced', 'interlaced > frame-rate'],
    ],
    ['not any other rate', [rates('60', '50'), found('interlaced')], ['interlaced', 'frame-rate']],
    [
      'a matrix explains a little contrast',
      [found('levels'), found('matrix')],
      ['matrix', 'matrix > levels'],
      aligned(0.99, 0.92),
    ],
    [
      'not that of another grade',
      [found('levels'), found('matrix')],
      ['matrix', 'levels'],
      aligned(0.99, 0.4),
    ],
    [
      'lost frames explain counts, times and an average rate',
      [found('frame-rate'), found('duration'), found('frame-count'), found('lost-frames')],
      ['lost-frames', 'lost-frames > frame-rate', 'lost-frames > duration', 'lost-frames > frame-count'],
    ],
    ['what has no cause stays as it is', [found('size'), found('chroma')], ['size', 'chroma']],
    [
      'what is only worth knowing causes nothing',
      [found('frame-rate', { severity: 'info' }), found('duration')],
      ['duration', 'frame-rate'],
    ],
  ])('%s', (_, findings, expected, evidence) => {
    expect(story(judge(findings, evidence))).toEqual(expected);
  });

  it('leaves what follows without a weight and a fix of its own', () => {
    const [, second] = judge([found('offset'), found('swapped')]);
    expect(second).toEqual({
      code: 'swapped',
      severity: 'info',
      message: 'About swapped.',
      follows: 'offset',
    });
  });

  it('is made again once the whole run was seen', () => {
    const first = judge([found('frame-count'), offset(0, 4)]);
    expect(story(first)).toEqual(['offset', 'offset > frame-count']);
    const whole = judge([...first, slip(30, -4)]);
    expect(story(whole)).toEqual(['slip', 'slip > offset', 'offset > frame-count']);
    expect(judge(whole)).toEqual(whole);
  });

  it('never passes a refusal on to another finding', () => {
    const refused = found('frame-rate', { severity: 'error' });
    expect(story(judge([refused, found('interlaced')]))).toEqual(['frame-rate', 'interlaced']);
  });
});

describe('the verdict on judged findings', () => {
  it.each<[string, Finding[], string, string[]]>([
    [
      'names the cause of pictures that look unrelated',
      [found('unrelated'), found('black-borders')],
      'untrusted',
      ['black-borders'],
    ],
    ['names a slip, not the offset that it makes', [offset(0, 4), slip(30, -4)], 'untrusted', ['slip']],
    [
      'does not count what is explained',
      [found('levels'), found('color-range')],
      'doubtful',
      ['color-range'],
    ],
    [
      'names the bars, not the sharpness of other parts',
      [found('swapped'), found('black-borders')],
      'untrusted',
      ['black-borders'],
    ],
    [
      'names causes in their order',
      [found('chroma'), found('transfer'), found('interlaced')],
      'doubtful',
      ['interlaced', 'transfer', 'chroma'],
    ],
  ])('%s', (_, findings, verdict, codes) => {
    const trust = trustOf({ preflight: judge(findings), warnings: [] });
    expect(trust).toMatchObject({ verdict, codes, fix: `for ${codes[0]}` });
  });
});

describe('the verdict on a pair', () => {
  const side = { ...REFERENCE, bitDepth: 10, codec: 'hevc', colorRange: 'limited' } as const;
  const pq = { transfer: 'smpte2084' };
  const five = { dolbyVision: 5 };
  const eight = { ...pq, dolbyVision: 8 };
  const av1 = { transfer: 'bt709', codec: 'av1' };
  const grainy = { ...av1, filmGrain: 'added' } as const;

  it.each<[string, Partial<SideFacts>, Partial<SideFacts>, string[], string]>([
    ['Dolby Vision profile 5 against PQ', five, pq, ['dolby-vision'], 'untrusted'],
    ['standard dynamic range against profile 5', { transfer: 'bt709' }, five, ['dolby-vision'], 'untrusted'],
    ['profile 5 against profile 8', five, eight, ['dolby-vision'], 'untrusted'],
    ['profile 5 against itself', five, five, ['hdr'], 'doubtful'],
    ['profile 8 against its base layer', eight, pq, ['hdr'], 'doubtful'],
    ['an encode that has its grain added', av1, grainy, ['film-grain'], 'fine'],
    ['a reference that has its grain added', grainy, av1, [], 'fine'],
  ])('of %s', (_, reference, distorted, codes, verdict) => {
    const findings = preflight({ ...side, ...reference }, { ...side, ...distorted });
    expect(findings.map(({ code }) => code)).toEqual(codes);
    expect(trustOf({ preflight: findings }).verdict).toBe(verdict);
  });
});
