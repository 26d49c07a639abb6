/**
 * @module test/unit/mcp/results
 * Answers say the same as text and as structure; what is wrong with a call is one sentence that a model can act on.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../../src/core/errors.js';
import { checkArguments, showValue } from '../../../src/mcp/arguments.js';
import { answer, refusal, sentenceOf } from '../../../src/mcp/results.js';

describe('an answer', () => {
  it('holds the document twice, with null for every number that JSON has not', () => {
    const { content, structuredContent } = answer({
      document: { mean: Number.NaN, best: Number.POSITIVE_INFINITY, exact: 0.1, frames: [-0, undefined] },
    });
    expect(structuredContent).toEqual({ mean: null, best: null, exact: 0.1, frames: [0, null] });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  });

  it('leaves out pictures that would make it too big for clients, and keeps the links', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'x'.repeat(4 << 20) } as const;
    const link = {
      type: 'resource_link',
      uri: 'anyvmaf://results/1/a.png',
      name: 'a.png',
      mimeType: 'image/png',
    } as const;
    const { content } = answer({ document: {}, content: [link, image, link, image] });
    expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'image', 'resource_link']);
  });
});

describe('an error', () => {
  it('is a sentence in JSON, without line ends and without a stack', () => {
    expect(refusal('No.')).toEqual({ content: [{ type: 'text', text: '{"error":"No."}' }], isError: true });
    expect(sentenceOf(new AnyvmafError('io', 'cannot read\n  it'))).toBe('cannot read\\x0a  it');
    expect(sentenceOf(new TypeError('x is undefined'))).toBe('anyvmaf failed unexpectedly: x is undefined');
    expect(sentenceOf('thrown text')).toBe('anyvmaf failed unexpectedly: thrown text');
  });
});

describe('arguments', () => {
  const schema = z.object({
    ref: z.string(),
    width: z.int().min(1),
    pixfmt: z.enum(['420', '422', '444']),
    bitdepth: z.union([z.literal(8), z.literal(10), z.literal(12), z.literal(16)]),
    tiny_crf: z.int().min(0).max(63).optional(),
    models: z.array(z.string()).min(1).optional(),
    detail: z.boolean().optional(),
  });
  const good = { ref: 'a.yuv', width: 576, pixfmt: '420', bitdepth: 8 };
  const told = (args: unknown): string => {
    try {
      checkArguments('vmaf_score', schema, args);
      return 'accepted';
    } catch (error) {
      return sentenceOf(error);
    }
  };

  it.each([
    [good, 'accepted'],
    [{ ...good, width: 0 }, '"width" is 0, but it must be 1 or more'],
    [{ ...good, width: '576' }, '"width" is "576", but it must be a number'],
    [{ ...good, width: 1.5 }, '"width" is 1.5, but it must be a whole number'],
    [{ ...good, pixfmt: 420 }, '"pixfmt" is 420, but it must be one of "420", "422", "444"'],
    [{ ...good, pixfmt: 'yuv420p' }, '"pixfmt" is "yuv420p", but it must be one of "420", "422", "444"'],
    [{ ...good, bitdepth: 9 }, '"bitdepth" is 9, but it must be 8 or 10 or 12 or 16'],
    [{ ...good, ref: undefined }, '"ref" is missing; it must be a string'],
    [{ ...good, tiny_crf: 64 }, '"tiny_crf" is 64, but it must be 63 or less'],
    [{ ...good, models: [] }, '"models" is a list of 0, but it must be a list of 1 or more'],
    [{ ...good, models: ['a', 3] }, '"models[1]" is 3, but it must be a string'],
    [{ ...good, detail: 'yes' }, '"detail" is "yes", but it must be true or false'],
    [{ ...good, ref: null }, '"ref" is null, but it must be a string'],
    [{ ...good, widht: 3 }, 'vmaf_score has no parameter "widht"; did you mean "width"?'],
    [{ ...good, reference: 'b' }, 'vmaf_score has no parameter "reference"; did you mean "ref"?'],
    [{ ...good, pix_fmt: '420' }, 'vmaf_score has no parameter "pix_fmt"; did you mean "pixfmt"?'],
    [[good], 'The arguments of vmaf_score must be an object, not a list of 1.'],
    ['text', 'The arguments of vmaf_score must be an object, not "text".'],
  ])('%j', (args, sentence) => {
    expect(told(args)).toBe(sentence);
  });

  it('with keys of objects themselves are unknown like any other', () => {
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(told({ ...good, ...JSON.parse(`{"${name}": 1}`) }), name).toContain(
        `has no parameter "${name}"`,
      );
  });

  it('name every problem, up to a point', () => {
    expect(told({})).toBe(
      '"ref" is missing; it must be a string; "width" is missing; it must be a number; ' +
        '"pixfmt" is missing; it must be one of "420", "422", "444"; ' +
        '"bitdepth" is missing; it must be 8 or 10 or 12 or 16',
    );
  });

  it('are not repeated at any length or depth', () => {
    expect(showValue('x'.repeat(1e6)).length).toBeLessThan(100);
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
    expect(told({ ...good, ref: deep })).toBe('"ref" is a list of 1, but it must be a string');
  });
});
