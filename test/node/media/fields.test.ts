/**
 * @module test/node/media/fields
 * Pictures of fields, labelled rightly, wrongly or not at all: what preflight finds, and that what it advises gives the
 * score of pairs that ffmpeg prepared by hand.
 */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Finding, inspect, type ScoreOptions, score } from '../../../src/index.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

const LOSSLESS = ['-pix_fmt', 'yuv420p', '-c:v', 'ffv1', '-threads', '1'];

/** A picture that moves to the side as a whole, for 0.8 s. */
function scene(name: string, rate: string, filters: string, output: readonly string[] = LOSSLESS): string {
  const source = `mandelbrot=size=320x240:rate=${rate}:start_scale=0.5`;
  // It moves as far in a second at any rate.
  const moves = `scroll=h=${(0.5 / Number(rate)).toFixed(6)}`;
  const chain = ['format=yuv420p', moves, filters].filter((part) => part !== '').join(',');
  const input = ['-f', 'lavfi', '-t', '0.8', '-i', source];
  return ffmpeg(join(encodeFolder(), name), [...input, '-vf', chain, ...output]);
}

const filtered = (path: string, name: string, filters: string, output = LOSSLESS): string =>
  ffmpeg(join(encodeFolder(), name), ['-i', path, '-vf', filters, ...output]);

const whole = () => scene('whole.mkv', '25', '');
const unlabelled = () => scene('unlabelled.mkv', '50', 'tinterlace=interleave_top,setfield=prog');
const film = () => scene('film.mkv', '24', '');
const telecined = () => filtered(film(), 'telecined.mkv', 'telecine,setfield=prog');
const exchanged = () => filtered(whole(), 'exchanged.mkv', 'il=ls=1:cs=1');

const found = async (reference: string, distorted: string, options: ScoreOptions = {}) =>
  (await inspect({ reference, distorted }, { models: [], ...options })).findings.filter(({ code }) =>
    ['interlaced', 'frame-rate', 'swapped'].includes(code),
  );

const psnr = async (reference: string, distorted: string, options: ScoreOptions = {}) => {
  const asked = { noPrediction: true, features: ['psnr'], preflight: false, ...options };
  const { frames } = await score({ reference, distorted }, asked);
  return frames.map(({ metrics }) => metrics.psnr_y);
};

const severities = (findings: readonly Finding[]) => findings.map(({ code, severity }) => [code, severity]);

/** Options as a hint gives them. */
function advised({ hint }: Finding): ScoreOptions {
  const options = hint?.purpose === 'prepare' ? (hint.instead ?? []) : hint ? [hint] : [];
  return Object.fromEntries(options.map(({ option, value }) => [option, value]));
}

describe.runIf(hasFfmpeg)(`fields, ${needsFfmpeg}`, () => {
  const WHOLE = 'bwdif=mode=send_frame:parity=tff';
  let prepared: ReturnType<typeof psnr> | undefined;
  /** The score of the unlabelled fields after ffmpeg has made them whole. */
  const byHand = () => {
    prepared ??= psnr(whole(), filtered(unlabelled(), 'made-whole.mkv', WHOLE));
    return prepared;
  };

  it('are found in pictures without a label, and made whole as advised', async () => {
    const [finding, ...others] = await found(whole(), unlabelled());
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ code: 'interlaced', severity: 'warning', distorted: 'top-first' });
    expect(finding?.message).toContain('although it is not labelled');
    if (finding) expect(advised(finding)).toEqual({ deinterlace: true });
    const options = { deinterlace: true, models: [], features: ['psnr'] };
    const after = await score({ reference: whole(), distorted: unlabelled() }, options);
    expect(after.frames.map(({ metrics }) => metrics.psnr_y)).toEqual(await byHand());
    expect(after.pairing?.distorted.conversions).toContain(`deinterlaced by ${WHOLE}, as its pictures show`);
    expect(after.preflight?.filter(({ code }) => code === 'interlaced')).toEqual([]);
  });

  const sides = [
    ['the distorted video', film, telecined, { vfDistorted: 'fieldmatch=order=tff,decimate' }],
    ['the reference', telecined, film, { vfReference: 'fieldmatch=order=tff,decimate' }],
  ] as const;
  it.each(sides.slice(0, tier(1, 2)))('repeated for film at 29.97 are removed from %s', async (_, ...row) => {
    const [reference, distorted, fix] = row;
    const findings = await found(reference(), distorted());
    const [cause, ...others] = findings;
    const expected = [
      ['interlaced', 'warning'],
      ['frame-rate', 'info'],
    ];
    expect(severities(findings)).toEqual(expected);
    expect(others.map(({ follows }) => follows)).toEqual(['interlaced']);
    if (cause) expect(advised(cause)).toEqual(fix);
    const scored = await psnr(reference(), distorted(), fix);
    expect(Math.min(...scored.slice(0, -1).map(Number))).toBeGreaterThan(50);
    expect(await found(reference(), distorted(), fix)).toEqual([]);
  });

  it('that are exchanged are put back', async () => {
    const [finding] = await found(whole(), exchanged());
    expect(finding).toMatchObject({ severity: 'warning', distorted: 'exchanged' });
    const fix = { vfDistorted: 'il=ls=1:cs=1' };
    if (finding) expect(advised(finding)).toEqual(fix);
    for (const value of await psnr(whole(), exchanged(), fix)) expect(value).toBe(60);
  });
});
