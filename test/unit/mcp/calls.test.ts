/**
 * @module test/unit/mcp/calls
 * The parts of a call: lines, checks of arguments, the pool, progress, and answers that fit their hosts.
 */
import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../../src/core/errors.js';
import { LineSplitter } from '../../../src/mcp/framing.js';
import { limitFrom, WorkPool } from '../../../src/mcp/pool.js';
import {
  answer,
  CallProgress,
  fitting,
  MOST_TOKENS,
  type ProgressNotice,
  refusal,
  tokensOf,
  USUAL_CHARACTERS,
} from '../../../src/mcp/results.js';
import { checkArguments } from '../../../src/mcp/tool.js';
import { sentenceOf } from '../../../src/mcp/wording.js';
import { fakeContext } from '../../support/mcp-tools.js';
import { seeded } from '../../support/random.js';

describe('an answer', () => {
  it('holds the document twice, with null for every number that JSON lacks', () => {
    const { content, structuredContent } = answer({
      document: { mean: Number.NaN, best: Number.POSITIVE_INFINITY, exact: 0.1, frames: [-0, undefined] },
    });
    expect(structuredContent).toEqual({ mean: null, best: null, exact: 0.1, frames: [0, null] });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  });

  it('leaves out pictures too large for clients, and keeps their links', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'x'.repeat(4 << 20) } as const;
    const [uri, name] = ['anyvmaf://results/1/a.png', 'a.png'];
    const link = { type: 'resource_link', uri, name, mimeType: 'image/png' } as const;
    const { content } = answer({ document: {}, content: [link, image, link, image] });
    expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'image', 'resource_link']);
  });
});

it('an error is a sentence in JSON, without line ends or a stack', () => {
  expect(refusal('No.')).toEqual({ content: [{ type: 'text', text: '{"error":"No."}' }], isError: true });
  expect(sentenceOf(new AnyvmafError('io', 'cannot read\n  it'))).toBe('cannot read\\x0a  it');
  expect(sentenceOf(new TypeError('x is undefined'))).toBe('anyvmaf failed unexpectedly: x is undefined');
  expect(sentenceOf('thrown text')).toBe('anyvmaf failed unexpectedly: thrown text');
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
    [{ ...good, width: '576', tiny_crf: null, models: 'hd', detail: 'true' }, 'accepted'],
    [{ ...good, width: '57x' }, '"width" is "57x", but it must be a number'],
    [{ ...good, width: '0' }, '"width" is 0, but it must be 1 or more'],
    [{ ...good, tiny_crf: null, models: 'a', detail: 'TRUE' }, 'accepted'],
    [{ ...good, width: null }, '"width" is null, but it must be a number'],
    [{ ...good, models: {} }, '"models" is an object, but it must be an array'],
    [{ ...good, models: { length: 0 } }, '"models" is an object, but it must be an array'],
    [{ ...good, reference: 'a' }, 'vmaf_score has no parameter "reference"; did you mean "ref"?'],
    [{ ...good, width: 'wide' }, '"width" is "wide", but it must be a number'],
    [{ ...good, width: 1.5 }, '"width" is 1.5, but it must be a whole number'],
    [{ ...good, pixfmt: 420 }, '"pixfmt" is 420, but it must be one of "420", "422", "444"'],
    [{ ...good, pixfmt: 'yuv420p' }, '"pixfmt" is "yuv420p", but it must be one of "420", "422", "444"'],
    [{ ...good, bitdepth: 9 }, '"bitdepth" is 9, but it must be 8 or 10 or 12 or 16'],
    [{ ...good, ref: undefined }, '"ref" is missing; it must be a string'],
    [{ ...good, tiny_crf: 64 }, '"tiny_crf" is 64, but it must be 63 or less'],
    [{ ...good, models: [] }, '"models" is an array of 0, but it must be an array of at least 1'],
    [{ ...good, models: ['a', 3] }, '"models[1]" is 3, but it must be a string'],
    [{ ...good, detail: 'yes' }, '"detail" is "yes", but it must be true or false'],
    [{ ...good, ref: null }, '"ref" is null, but it must be a string'],
    [{ ...good, widht: 3 }, 'vmaf_score has no parameter "widht"; did you mean "width"?'],
    [{ ...good, pix_fmt: '420' }, 'vmaf_score has no parameter "pix_fmt"; did you mean "pixfmt"?'],
    [[good], 'The arguments of vmaf_score must be an object, not an array of 1.'],
    ['text', 'The arguments of vmaf_score must be an object, not "text".'],
  ])('%j are checked', (args, sentence) => {
    expect(told(args)).toBe(sentence);
  });

  it('named like members of Object are unknown', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const args = { ...good, ...JSON.parse(`{"${name}": 1}`) };
      expect(told(args), name).toContain(`has no parameter "${name}"`);
    }
  });

  it('that are missing are all named, and long or deep ones are not repeated in full', () => {
    expect(told({})).toBe(
      '"ref" is missing; it must be a string; "width" is missing; it must be a number; ' +
        '"pixfmt" is missing; it must be one of "420", "422", "444"; ' +
        '"bitdepth" is missing; it must be 8 or 10 or 12 or 16',
    );
    expect(told({ ...good, width: 'x'.repeat(1e5) }).length).toBeLessThan(200);
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
    expect(told({ ...good, ref: deep })).toBe('"ref" is an array of 1, but it must be a string');
  });
});

// Counted by the o200k tokenizer.
it.each([
  ['{"frameNum":12,"metrics":{"vmaf":81.234567,"integer_adm2":0.971234}}', 27],
  ['The distorted video is scaled to the reference.', 9],
  ['aaaaaaaa', 1],
  ['日本語のファイル', 6],
])('the tokens of %s are estimated', (text, counted) => {
  expect(tokensOf(text) / counted).toBeGreaterThan(0.75);
  expect(tokensOf(text) / counted).toBeLessThan(1.5);
});

describe('long results', () => {
  const frames = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ frameNum: n, metrics: { vmaf: 80 + (n % 7) / 3 } }));

  it('are unchanged below 20,000 tokens if requested', async () => {
    const context = fakeContext('/');
    const outcome = { document: { summary: 'x', frames: frames(200) }, long: true };
    expect(await fitting('vmaf_score', outcome, context.resources)).toBe(outcome);
    expect(context.published).toEqual([]);
  });

  it('become an outline with a link to the whole', async () => {
    const context = fakeContext('/');
    const document = { summary: 'It is long.', frames: frames(6000), models: [{ name: 'vmaf' }] };
    const { document: sent, content } = await fitting('tool', { document, long: true }, context.resources);
    const outline = sent as typeof document & { left_out: string[]; full_result: { uri: string } };
    expect(tokensOf(JSON.stringify(outline))).toBeLessThanOrEqual(MOST_TOKENS);
    expect(outline).toMatchObject({ summary: 'It is long.', models: [{ name: 'vmaf' }] });
    expect(outline.frames.length).toBeGreaterThan(100);
    expect(outline.frames).toEqual(document.frames.slice(0, outline.frames.length));
    expect(outline.left_out).toEqual([`frames: the first ${outline.frames.length} of 6000 are here`]);
    expect(JSON.parse(String(context.published[0]?.data))).toEqual(document);
    expect(content).toMatchObject([{ type: 'resource_link', uri: outline.full_result.uri }]);
  });

  it('of other shapes fit too: one long text, nested lists, many members', async () => {
    const shapes: Record<string, unknown>[] = [
      { format: 'csv', output: 'Frame,vmaf\n1,2.5\n'.repeat(8000) },
      { encodes: Array(4).fill({ name: 'a', curve: Array.from({ length: 8000 }, (_, i) => i) }) },
      { one: [[Array.from({ length: 25_000 }, (_, i) => i)]] },
      { texts: Array.from({ length: 1000 }, (_, i) => `text number ${i} `.repeat(10)) },
      { deep: { er: { list: Array.from({ length: 40 }, () => 'z,1;'.repeat(4000)) } } },
    ];
    for (const document of shapes) {
      const { document: sent } = await fitting('tool', { document, long: true }, fakeContext('/').resources);
      expect(tokensOf(JSON.stringify(sent)), Object.keys(document)[0]).toBeLessThanOrEqual(MOST_TOKENS);
      expect((sent as { left_out: string[] }).left_out.length).toBeGreaterThan(0);
    }
  });
});

describe('usual results', () => {
  it('have their next call whole or not at all', async () => {
    const sent = async (count: number) => {
      const distorted = Array.from({ length: count }, (_, i) => `/films/${'e'.repeat(70)}-${i}.mp4`);
      const next_action = { tool: 'compare_encodes', arguments: { distorted, offset: 12 } };
      const document = { verdict: 'untrusted', next_action, rows: rows(400) };
      const { document: told } = await fitting('tool', { document }, fakeContext('/').resources);
      expect(JSON.stringify(told).length).toBeLessThanOrEqual(USUAL_CHARACTERS);
      return { whole: next_action, told: told as Partial<typeof document> & { left_out: string[] } };
    };
    const few = await sent(12);
    expect(few.told.next_action).toEqual(few.whole);
    const many = await sent(40);
    expect(many.told).not.toHaveProperty('next_action');
    expect(many.told.left_out).toContain('next_action');
  });

  const trust = { cause: 'w'.repeat(50), codes: [] };
  const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `encode ${i}`, trust }));

  it('have at most 1,000 tokens: they lose spare parts in order, then ends of lists', async () => {
    const context = fakeContext('/');
    const fitted = async (count: number, whole?: string) => {
      const document = { summary: 'Many.', table: 'a:b', rows: rows(count), big: 'b'.repeat(1000) };
      const spare = ['rows.[].trust.cause', 'none', { of: 'rows', names: ['nothing'] }, 'big'];
      const outcome = { document, spare, ...(whole !== undefined && { whole }) };
      const { document: sent, content } = await fitting('tool', outcome, context.resources);
      expect(JSON.stringify(sent).length).toBeLessThanOrEqual(USUAL_CHARACTERS);
      return { sent: sent as typeof document & { left_out?: string[]; full_result?: object }, content };
    };
    expect((await fitted(20)).sent.left_out).toBeUndefined();
    const less = await fitted(40);
    expect(less.sent).toMatchObject({ left_out: ['rows: trust.cause'], full_result: {} });
    expect(less.sent.rows[39]).toEqual({ name: 'encode 39', trust: { codes: [] } });
    expect(less.content).toHaveLength(1);
    const { sent, content } = await fitted(400, 'table');
    const cut = `rows: the first ${sent.rows.length} of 400 are here`;
    expect(sent.left_out).toEqual(['rows: trust.cause', 'big', cut]);
    // It cuts little more than needed.
    expect(JSON.stringify(sent).length).toBeGreaterThan(USUAL_CHARACTERS / 2);
    expect([sent.full_result, content]).toEqual([undefined, []]);
  });

  it('are short as errors too', () => {
    const [first] = refusal('a.mp4: it is "broken". '.repeat(1000)).content;
    const text = first?.type === 'text' ? first.text : '';
    expect(text).toMatch(/ \.\.\."\}$/);
    expect(text.length).toBeLessThanOrEqual(USUAL_CHARACTERS);
  });
});

describe('progress notifications', () => {
  function listen(whole?: string) {
    const heard: ProgressNotice[] = [];
    const clock = { now: 0 };
    const send = (notice: ProgressNotice) => heard.push(notice);
    return { heard, clock, progress: new CallProgress(send, whole, () => clock.now) };
  }
  const rises = (heard: readonly ProgressNotice[]) => {
    for (const [i, { progress }] of heard.entries())
      expect(progress).toBeGreaterThan(heard[i - 1]?.progress ?? -1);
  };

  it('come once a percent, each higher than the last; for a short clip, once a frame without repeats', () => {
    const { heard, progress } = listen();
    for (let done = 0; done <= 10_000; done++) progress.report({ done, total: 10_000, fps: 100 });
    expect(heard).toHaveLength(101);
    rises(heard);
    const message = '100 %: 10000/10000 frames, 100.0 fps';
    expect(heard.at(-1)).toEqual({ progress: 10_000, total: 10_000, message });
    const short = listen();
    for (const done of [1, 2, 2, 1, 3]) short.progress.report({ done, total: 3 });
    expect(short.heard.map((notice) => notice.progress)).toEqual([1, 2, 3]);
  });

  it('name no frames where others are counted', () => {
    const { heard, progress } = listen();
    progress.report({ done: 500, total: 1000, message: '2 of 4 pairs', isSteps: true });
    expect(heard).toEqual([{ progress: 500, total: 1000, message: '50 %: 2 of 4 pairs' }]);
  });

  it('come at intervals, without a total, while the number of frames is unknown', () => {
    const { heard, clock, progress } = listen();
    for (let done = 1; done <= 100; done++) {
      clock.now += 50;
      progress.report({ done, total: null, fps: 20 });
    }
    expect(heard).toHaveLength(10);
    expect(heard[0]).toEqual({ progress: 1, message: '1 frames, 20.0 fps' });
  });

  it('come within two seconds of long work, even if little of the whole is done or the whole grows', () => {
    const { heard, clock, progress } = listen();
    progress.report({ done: 90, total: 100, message: 'encoding at 24' });
    for (let done = 91; done <= 151; done++) {
      clock.now += 500;
      progress.report({ done, total: 100_000, message: 'encoding at 24' });
    }
    expect(heard).toHaveLength(1 + 15);
    progress.report({ done: 152, total: null, message: 'reading the source' });
    expect(heard.at(-1)?.message).toBe('reading the source');
  });

  it('report the queue, below all later progress', () => {
    const { heard, progress } = listen();
    for (const ahead of [2, 1, 0]) progress.wait('vmaf_score', ahead, 4);
    progress.report({ done: 1, total: 2 });
    expect(heard.map((notice) => notice.progress)).toEqual([0, 0.5, 2 / 3, 1]);
    expect(heard[0]?.message).toBe('vmaf_score is queued: 4 running, 2 calls ahead');
    expect(heard[2]?.message).toContain('next in line');
  });

  it('report some calls as one whole, from a notice of the start to one of the end', () => {
    const { heard, progress } = listen('run_compare');
    progress.wait('run_compare', 1, 4);
    for (let done = 0; done < 100; done++) progress.report({ done, total: null, message: `stage ${done}` });
    progress.report({ done: 150, total: 300, message: 'joining' });
    progress.end();
    expect(heard[0]).toEqual({ progress: 0, total: 1, message: 'starting run_compare' });
    expect(heard.at(-1)).toEqual({ progress: 1, total: 1, message: 'run_compare done' });
    expect(heard[2]?.message).toBe('stage 0');
    expect(heard.at(-2)?.message).toBe('50 %: joining, 150/300 frames');
    rises(heard);
    for (const { total } of heard) expect(total).toBe(1);
  });

  it('leave out numbers that are not finite', () => {
    const { heard, progress } = listen();
    progress.report({ done: Number.NaN, total: 10 });
    progress.report({ done: 5, total: Number.NaN, fps: Number.POSITIVE_INFINITY });
    expect(heard).toEqual([{ progress: 5, message: '5 frames' }]);
  });
});

describe('lines', () => {
  function collect(limit: number) {
    const heard: string[] = [];
    const line = (text: string) => heard.push(text);
    return { heard, splitter: new LineSplitter(limit, { line, tooLong: () => line('TOO LONG') }) };
  }

  it('are the same however the bytes are split', () => {
    const random = seeded(7);
    const text = 'first\r\n\nä€😀 third\nlast without end';
    for (let i = 0; i < 200; i++) {
      const { heard, splitter } = collect(100);
      let bytes = Buffer.from(text);
      while (bytes.length > 0) {
        const cut = random.int(1, bytes.length);
        splitter.push(bytes.subarray(0, cut));
        bytes = bytes.subarray(cut);
      }
      expect(heard, `seed ${random.seed}, run ${i}`).toEqual(['first', '', 'ä€😀 third']);
    }
  });

  it('that are too long are reported once, and the next is read', () => {
    const { heard, splitter } = collect(10);
    for (let i = 0; i < 1000; i++) splitter.push(Buffer.alloc(100, 'x'));
    splitter.push(Buffer.from('\n0123456789\nshort\n01234567890\nafter\n'));
    expect(heard).toEqual(['TOO LONG', '0123456789', 'short', 'TOO LONG', 'after']);
  });
});

const never = new AbortController().signal;
setMaxListeners(0, never);
const breathe = () => new Promise((resolve) => setImmediate(resolve));

/** A promise to open. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('the pool', () => {
  const any = { weight: null, signal: never };

  it('runs at most its limit, in the order of the calls', async () => {
    const pool = new WorkPool(2, 8);
    const started: number[] = [];
    let most = 0;
    let running = 0;
    const task = async (i: number) => {
      started.push(i);
      most = Math.max(most, ++running);
      await breathe();
      running--;
    };
    await Promise.all(Array.from({ length: 20 }, (_, i) => pool.run(any, () => task(i))));
    expect(started).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(most).toBe(2);
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('shares the cores: all for one call, a part for each of several, never more than requested', async () => {
    const pool = new WorkPool(4, 8);
    const threads: number[] = [];
    const first = gate();
    const take = (weight: number | null, until?: Promise<void>) =>
      pool.run({ weight, signal: never }, async (grant) => {
        threads.push(grant.threads);
        await until;
      });
    const calls: Promise<void>[] = [];
    for (const weight of [null, null, 1]) {
      calls.push(take(weight, first.opened));
      await breathe();
    }
    expect(threads).toEqual([8, 4, 1]);
    first.open();
    await Promise.all(calls);
    await take(3);
    expect(threads.at(-1)).toBe(3);
    // More calls than cores, all at once: one thread each.
    const small = new WorkPool(8, 2);
    const grant = async ({ threads }: { threads: number }) => {
      await breathe();
      return threads;
    };
    const grants = await Promise.all(Array.from({ length: 8 }, () => small.run(any, grant)));
    expect(grants).toEqual(Array(8).fill(1));
  });

  it('keeps a place for short calls', async () => {
    const pool = new WorkPool(1, 8);
    const [long, short] = [gate(), gate()];
    const ended: string[] = [];
    const take = (name: string, isShort: boolean, until?: Promise<void>) =>
      pool.run({ weight: 1, signal: never, short: isShort }, async () => {
        await until;
        ended.push(name);
      });
    const calls = [
      take('long', false, long.opened),
      take('second long', false),
      take('short', true, short.opened),
      take('second short', true),
    ];
    await breathe();
    expect(pool.load).toEqual({ running: 2, waiting: 2 });
    short.open();
    await breathe();
    expect(ended).toEqual(['short', 'second short']);
    expect(pool.load).toEqual({ running: 1, waiting: 1 });
    long.open();
    await Promise.all(calls);
    expect(ended).toEqual(['short', 'second short', 'long', 'second long']);
  });

  it('tells waiting calls how many are ahead', async () => {
    const pool = new WorkPool(1, 1);
    const told: number[][] = [];
    const first = gate();
    const calls = [pool.run(any, () => first.opened)];
    for (let i = 0; i < 2; i++) {
      const heard: number[] = [];
      told.push(heard);
      const onWait = (ahead: number) => heard.push(ahead);
      calls.push(pool.run({ ...any, onWait }, async () => {}));
    }
    first.open();
    await Promise.all(calls);
    expect(told).toEqual([[0], [1, 0]]);
  });

  it('removes a cancelled call from the queue at once, and passes on failures', async () => {
    const pool = new WorkPool(1, 1);
    const first = gate();
    const cancel = new AbortController();
    const running = pool.run(any, () => first.opened);
    const cancelled = pool.run({ ...any, signal: cancel.signal }, async () => 'ran');
    const after = pool.run(any, async () => 'after');
    cancel.abort(new Error('gone'));
    await expect(cancelled).rejects.toThrow('gone');
    expect(pool.load).toEqual({ running: 1, waiting: 1 });
    first.open();
    await running;
    expect(await after).toBe('after');
    const failed = pool.run(any, () => Promise.reject(new Error('failed')));
    await expect(failed).rejects.toThrow('failed');
    expect(pool.load).toEqual({ running: 0, waiting: 0 });
  });

  it('refuses a call once a thousand wait', async () => {
    const pool = new WorkPool(1, 1);
    const first = gate();
    const waiting = Array.from({ length: 1001 }, () => pool.run(any, () => first.opened));
    await expect(pool.run(any, async () => {})).rejects.toThrow('1000 calls waiting');
    first.open();
    await Promise.all(waiting);
  });
});

it('the limit is one per core from 2 to 8, or that of the variable', () => {
  expect([1, 2, 4, 64].map((cores) => limitFrom(undefined, cores))).toEqual([2, 2, 4, 8]);
  expect(limitFrom('', 4)).toBe(4);
  expect(limitFrom('12', 4)).toBe(12);
  for (const value of ['0', '-1', 'many', '1.5', '1e9'])
    expect(() => limitFrom(value, 4)).toThrow(`VMAF_MCP_MAX_CONCURRENT is "${value}"`);
});
