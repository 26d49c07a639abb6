/**
 * @module test/unit/media/filters/chain
 * Chains of ffmpeg's filters that are handed on, and those that are refused: what opens files, the network or more than one
 * video, and what somebody else than the user may not ask for.
 */
import { describe, expect, it } from 'vitest';
import { checkChain } from '../../../../src/media/filters/chain.js';

const refused = (text: string, foreign = false): string => {
  try {
    checkChain('vfDistorted', text, foreign);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('checkChain', () => {
  it.each([
    ['crop=1920:800', true],
    ['yadif', true],
    ['yadif=mode=send_field', false],
    ['bwdif', false],
    ['bwdif=mode=send_frame', true],
    ['bwdif=0:-1:0', true],
    ['bwdif=1', false],
    ['fieldmatch,decimate', false],
    ['scale=iw/2:-2:flags=lanczos,eq=gamma=1.1', true],
    ["curves=all='0/0 0.5/0.6 1/1'", true],
    ['lutyuv=y=clip((val-16)*255/219\\,0\\,255)', true],
    ['fps=24000/1001', false],
    ["geq=lum='p(X,Y)':cb=128:cr=128,null", true],
    ['select=not(mod(n\\,2))', false],
  ])('takes %s', (text, keepsFrames) => {
    expect(checkChain('vfReference', text, false)).toEqual({ text, keepsFrames });
  });

  it.each([
    'movie=/etc/passwd',
    'null,movie=a.mkv',
    "'movie'=a.mkv",
    'mo\\vie=a.mkv',
    'movie@x=a.mkv',
    ' movie =a.mkv',
    'amovie=a',
    'sendcmd=f=commands.txt',
    'zmq',
    'subtitles=a.srt',
    'ass=a.ass',
    'drawtext=textfile=/etc/passwd',
    'lut3d=file=a.cube',
    'frei0r=glow',
    'libvmaf=log_path=a',
    'psnr=stats_file=a',
    'metadata=print:file=a',
    'showinfo',
    'removelogo=a.png',
    'vidstabdetect=result=a',
    'vidstabtransform=input=a',
    'program_opencl=source=a',
    'libplacebo=custom_shader_path=a',
    'nnedi=weights=a',
    'signature=filename=a',
    'concat',
    'reverse',
    'loop=-1',
    'tpad=stop=-1',
    '[in]null[out]',
    'null[out];[out]null',
    'sws_flags=bicubic;null',
    'crop=/w=/etc/passwd',
    'crop=1:\\/h=/etc/passwd',
    "crop=1:'/h'=/etc/passwd",
    'crop=w=1: /h=/etc/passwd',
    'curves=psfile=a.acv',
    'curves=plot=a',
    "crop='1",
    '',
    ' ',
    'null\nnull',
    'null\0',
    `${'null,'.repeat(500)}null`,
    'nosuchfilter',
    'null,',
    ',null',
  ])('refuses %j', (text) => {
    expect(refused(text)).toMatch(/^vfDistorted (is|names|lets) /);
  });

  it.each([
    'crop=1920:800:0:140',
    'scale=1280:-2:flags=lanczos',
    'zscale=t=linear:npl=100,format=gbrpf32le,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p',
    'fieldmatch,decimate',
    'bwdif=mode=send_frame',
    'fps=30000/1001',
  ])('takes %s of somebody else', (text) => {
    expect(refused(text, true)).toBe('');
  });

  it.each([
    'geq=lum=0',
    'nlmeans',
    'minterpolate',
    'select=1',
    'scale=100000:100000',
    'pad=99999:10',
    'crop=while(1\\,0)',
    'crop=print(1)',
    "crop='1,2'",
  ])('refuses %s of somebody else', (text) => {
    expect(refused(text, true)).toMatch(/^vfDistorted (names|gives) /);
  });

  it('says which filter was meant', () => {
    expect(refused('yadiff')).toContain('did you mean yadif?');
  });
});
