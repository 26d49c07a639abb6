/**
 * @module test/unit/media/filters
 * Chains of ffmpeg's filters that are passed on or refused, filters of this package on known samples, and kernels.
 */
import { describe, expect, it } from 'vitest';
import { filtersFor } from '../../../src/media/filters/apply.js';
import { checkChain } from '../../../src/media/filters/chain.js';
import { openVideo } from '../../../src/media/open.js';
import { filteredFormat, filteredSource } from '../../../src/media/own-filters.js';
import { makeKernel } from '../../../src/media/pairing/resample.js';
import type { OwnFilters, RawVideoFormat } from '../../../src/media/types.js';
import { noFiles } from '../../support/media.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const refused = (text: string, foreign = false): string => {
  try {
    checkChain('vfDistorted', text, foreign);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

const listed = (text: string) => text.trim().split(/\s+/);

describe('checkChain', () => {
  it.each([
    ['crop=1920:800', true],
    ['yadif', true],
    ['yadif=mode=send_field', false],
    ['bwdif', false],
    ['bwdif=mode=send_frame', true],
    ['bwdif=0:-1:0', true],
    ['bwdif=1', false],
    ['bwdif=1:0', false],
    ['bwdif=parity=tff:mode=send_frame', true],
    ['yadif=mode=1.0', false],
    ['w3fdif=simple:frame', true],
    ['fieldmatch,decimate', false],
    ['scale=iw/2:-2:flags=lanczos,eq=gamma=1.1', true],
    ["curves=all='0/0 0.5/0.6 1/1'", true],
    ['lutyuv=y=clip((val-16)*255/219\\,0\\,255)', true],
    ['fps=24000/1001', false],
    ["geq=lum='p(X,Y)':cb=128:cr=128,null", true],
    ['select=not(mod(n\\,2))', false],
  ])('takes %s', (text, keepsFrames) => {
    expect(checkChain('vfReference', text, false)).toMatchObject({ text, keepsFrames });
  });

  it.each([
    ['hqdn3d=8,scale=iw/2:-2', true],
    ['noise=alls=20:allf=t', true],
    ['hue=h=n', true],
    ["geq=lum='p(X,Y)+N':cb=128:cr=128", true],
    ['bwdif=mode=send_frame,crop=iw-2:ih:in_w-out_w,scale=in_range=full', false],
    ["eq=contrast='1+t/10':eval=frame,nlmeans", false],
  ])('knows whether pictures of %s depend on all before: %s', (text, remembers) => {
    expect(checkChain('vfReference', text, false)).toMatchObject({ remembers });
  });

  it.each([
    ...listed(String.raw`
      movie=/etc/passwd null,movie=a.mkv 'movie'=a.mkv mo\vie=a.mkv movie@x=a.mkv amovie=a
      sendcmd=f=commands.txt zmq subtitles=a.srt ass=a.ass drawtext=textfile=/etc/passwd
      lut3d=file=a.cube frei0r=glow libvmaf=log_path=a psnr=stats_file=a metadata=print:file=a showinfo
      removelogo=a.png vidstabdetect=result=a vidstabtransform=input=a program_opencl=source=a
      libplacebo=custom_shader_path=a nnedi=weights=a signature=filename=a concat reverse loop=-1
      tpad=stop=-1 [in]null[out] null[out];[out]null sws_flags=bicubic;null crop=/w=/etc/passwd
      crop=1:\/h=/etc/passwd crop=1:'/h'=/etc/passwd curves=psfile=a.acv curves=plot=a crop='1
      nosuchfilter null, ,null
    `),
    ...[' movie =a.mkv', 'crop=w=1: /h=/etc/passwd', '', ' ', 'null\nnull', 'null\0'],
    `${'null,'.repeat(500)}null`,
  ])('refuses %j', (text) => {
    expect(refused(text)).toMatch(/^vfDistorted (is|names|makes) /);
  });

  it.each(
    listed(`
      crop=1920:800:0:140 scale=1280:-2:flags=lanczos
      zscale=t=linear:npl=100,format=gbrpf32le,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p
      fieldmatch,decimate bwdif=mode=send_frame fps=30000/1001 fps=fps=59.94:round=up
      scale=trunc(iw*sar/2)*2:ih,setsar=1 scale=w=2*iw:h=ih*.5:flags=bicubic+accurate_rnd
      scale=-2:ih*16/9 scale=1280x720 scale=s=hd720 pad=iw:ow*9/16:(ow-iw)/2:(oh-ih)/2:black
      pad=aspect=16/9 yadif=1,hqdn3d,eq=contrast=1.1 zscale=1280:720:filter=lanczos
    `),
  )('takes %s from another person', (text) => {
    expect(refused(text, true)).toBe('');
  });

  it.each([
    ...listed(String.raw`
      geq=lum=0 nlmeans minterpolate select=1 scale=100000:100000 pad=99999:10 crop=while(1\,0)
      crop=print(1) crop='1,2'
    `),
    // Frames.
    ...listed(`
      fps=100000000 fps=1001 fps=fps=1000000/3 fps=25/0 fps=2.5e7 fps=1M fps=source_fps*1000
      fps=25:start_time=-1000000 fps=25:0 loop=-1:1 tpad=stop=1000 zoompan=d=100000 framerate=1000
      telecine bwdif,bwdif,bwdif,bwdif bwdif=1:0,bwdif=1:0,bwdif=1:0,bwdif=1:0
      yadif=1+0,yadif=1+0,yadif=1+0,yadif=1+0 bwdif=send_field,yadif=mode=1,yadif=3,fps=10
    `),
    // Pictures.
    ...listed(String.raw`
      scale=16384:16384 scale=16384x16384 scale=s=16384x8192 scale=iw*8:ih scale=iw*2*2*2:ih
      scale=iw*ih:1 scale=iw+iw+iw+iw+iw:ih scale=iw/0.001:ih scale=iw/(ih-ih+0.01):ih
      scale=pow(iw\:2):ih scale=exp(12):16 scale=st(0)*iw:ih zscale=w=iw*5 pad=iw*9:ih*9 pad=aspect=9000
      tile=100x100 scale=iw*2:-2,scale=iw*2:-2,scale=iw*2:-2,scale=iw/8:-2
    `),
    // Numbers that are larger than their digits say.
    ...listed(String.raw`
      scale=0x7fff:100 scale=0X7FFF:100 scale=9e4:100 scale=1.E4:100 scale=99k:100 scale=99Ki:100
      scale=200h:100 scale=9999B:100 scale=9'9'999:100 scale=9\9999:100
    `),
    `${'null,'.repeat(24)}null`,
  ])('refuses %s from another person', (text) => {
    expect(refused(text, true)).toMatch(/^vfDistorted (names|uses) /);
  });

  it('suggests a filter', () => {
    expect(refused('yadiff')).toContain('did you mean yadif?');
  });
});

async function first(bytes: Uint8Array, raw: RawVideoFormat, filters: OwnFilters) {
  const stored = await openVideo(bytes, { raw, platform: noFiles });
  const source = filteredSource(stored, filters);
  const { width, height, bitDepth, chroma } = filteredFormat(raw, filters);
  expect(source.info).toMatchObject({ width, height, bitDepth, chroma });
  const unit = bitDepth > 8 ? 2 : 1;
  const y = new Uint8Array(width * height * unit);
  const cb = new Uint8Array((y.length / 4) | 0);
  const cr = new Uint8Array(cb.length);
  expect(await source.readFrame(0, { y, cb, cr })).toBe(true);
  expect(await source.readFrame(1, { y, cb, cr })).toBe(false);
  await source.close();
  const samples = (plane: Uint8Array) => [...(unit === 2 ? new Uint16Array(plane.buffer) : plane)];
  return { y: samples(y), cb: samples(cb), cr: samples(cr) };
}

const RAW = { width: 4, height: 4, bitDepth: 8, chroma: '420' } as const;
const FRAME = Uint8Array.from([
  ...[0, 1, 2, 3, 16, 17, 126, 127, 128, 129, 234, 235, 236, 253, 254, 255],
  ...[0, 128, 16, 255],
  ...[1, 127, 240, 129],
]);

it.each([
  [1216, 512, 'bt601'],
  [1024, 577, 'bt709'],
  [1280, 512, 'bt709'],
] as const)('filters take untagged video of %ix%i for %s, as colour metrics do', (width, height, from) => {
  const facts = { width, height, bitDepth: 8, chroma: '420' } as const;
  expect(filtersFor('distorted', facts, { matrix: 'bt2020' })).toEqual({ matrix: { from, to: 'bt2020' } });
});

describe('filters of this package', () => {
  it('crop every plane', async () => {
    const found = await first(FRAME, RAW, { crop: { width: 2, height: 2, x: 2, y: 2 } });
    expect(found).toEqual({ y: [234, 235, 254, 255], cb: [255], cr: [129] });
  });

  it('reduce full range to limited, and expand limited range with clipping', async () => {
    const found = await first(FRAME, RAW, { range: { from: 'full', to: 'limited' } });
    expect(found.y).toEqual([16, 17, 18, 19, 30, 31, 124, 125, 126, 127, 217, 218, 219, 233, 234, 235]);
    expect(found.cb).toEqual([16, 128, 30, 240]);
    const expanded = await first(FRAME, RAW, { range: { from: 'limited', to: 'full' } });
    expect(expanded.y).toEqual([0, 0, 0, 0, 0, 1, 128, 129, 130, 132, 254, 255, 255, 255, 255, 255]);
    expect(expanded.cb).toEqual([0, 128, 0, 255]);
    expect(expanded.cr).toEqual([0, 127, 255, 129]);
  });

  it('raise the bit depth by a shift, in full range to the same white', async () => {
    const format = { bitDepth: 10, chroma: '420' } as const;
    const shifted = await first(FRAME, RAW, { format });
    expect(shifted.y).toEqual([...FRAME.subarray(0, 16)].map((sample) => sample << 2));
    const full = await first(FRAME, RAW, { format, range: { from: 'limited', to: 'full' } });
    expect(full.y.at(-1)).toBe(1023);
    expect(full.cb).toEqual([0, 512, 0, 1020]);
  });
});

describe('a kernel', () => {
  it('is the cubic with B = 0 and C = 0.6, or a triangle when bilinear', () => {
    // Twice the size: samples lie a quarter beside the source's. By hand from (a+2)x^3-(a+3)x^2+1 and
    // a(x^3-5x^2+8x-4) with a = -0.6.
    const byHand = [-0.028125, 0.240625, 0.871875, -0.084375];
    const { taps, start, weights } = makeKernel(100, 200, { filter: 'bicubic', bits: 14 });
    expect(taps).toBe(4);
    expect(start[100]).toBe(48);
    const found = [...weights.subarray(400, 404)].map((weight) => weight / 16384);
    for (const [i, value] of byHand.entries()) expect(found[i]).toBeCloseTo(value, 4);
    const bilinear = makeKernel(100, 200, { filter: 'bilinear', bits: 14 });
    expect(bilinear.taps).toBe(4);
    expect([...bilinear.weights.subarray(400, 404)]).toEqual([4096, 12288, 0, 0]);
  });

  it('sums to one everywhere, with all taps inside the source', () => {
    const random = seeded(20);
    const faults: string[] = [];
    for (let i = 0; i < tier(15, 60); i++) {
      const from = random.int(17, 417);
      const to = random.int(17, 417);
      const filter = random.pick(['bilinear', 'bicubic', 'lanczos'] as const);
      const { taps, start, weights } = makeKernel(from, to, { filter, bits: 12 });
      for (let x = 0; x < to; x++) {
        const sum = weights.subarray(x * taps, (x + 1) * taps).reduce((total, weight) => total + weight, 0);
        const inside = (start[x] ?? -1) >= 0 && (start[x] ?? from) + taps <= from;
        if (sum !== 4096 || !inside) faults.push(`${filter} ${from} to ${to} at ${x}, seed ${random.seed}`);
      }
    }
    expect(faults).toEqual([]);
  });
});
