/**
 * @module test/unit/engine/native/help
 * What is understood of what programs say of themselves.
 */
import { describe, expect, it } from 'vitest';
import {
  buildFlags,
  ffmpegVersion,
  filterOptions,
  flavourOf,
  release,
  vmafOptions,
  vmafVersion,
} from '../../../../src/engine/backends/native/help.js';

const HELP = [
  "vmaf: unrecognized option '--help'",
  'Usage: vmaf [options]',
  ' --reference/-r $path:        a file',
  ' --distorted/-d $path:        a file',
  ' --gpumask: $bitmask          a mask',
  ' --no_cuda:                   off',
  ' --no-metal                   off',
  ' --sycl_device $unsigned:     a number',
].join('\n');

describe('the help of vmaf', () => {
  it('is known by its two videos', () => {
    expect(flavourOf(HELP)).toBe('vmaf');
    expect(flavourOf('ffmpeg version 6.0 Copyright')).toBe('ffmpeg');
    expect(flavourOf('ffprobe version n7.1')).toBe('ffprobe');
    expect(flavourOf('Usage: cat [OPTION]... [FILE]...')).toBeUndefined();
    expect(flavourOf('')).toBeUndefined();
  });

  it('names options however it spells them, and backends by what turns them off', () => {
    const options = vmafOptions(HELP);
    expect(options.has('reference') && options.has('sycl_device') && options.has('gpumask')).toBe(true);
    expect(buildFlags(options)).toEqual({ cpu: true, cuda: true, sycl: false, hip: false, metal: true });
  });
});

describe('versions', () => {
  it.each([
    ['3.2.0\n', '3.2.0'],
    ['v2.3.1', '2.3.1'],
    ['VMAF version 3.0.0-rc.5', '3.0.0-rc.5'],
    ['f85a8536', 'f85a8536'],
    ['\u0000\u0001garbage', null],
    ['', null],
  ])('%j is %j', (text, expected) => expect(vmafVersion(text)).toBe(expected));

  it('are those of the banner for ffmpeg, and numbers where there are any', () => {
    expect(ffmpegVersion('ffprobe version N-66595-gc2b38619c0-static https://example.org')).toBe(
      'N-66595-gc2b38619c0-static',
    );
    expect(release('3.0.0-rc.5')).toEqual([3, 0]);
    expect(release('n7.1')).toEqual([7, 1]);
    expect(release('f85a8536')).toBeUndefined();
    expect(release(null)).toBeUndefined();
  });
});

describe('the filter', () => {
  it('is there when its help is, with its options', () => {
    const text =
      'Filter libvmaf\n  text.\nlibvmaf AVOptions:\n   model   <string>  ..FV.. text\n   n_threads  <int> x\n';
    expect([...(filterOptions(text) ?? [])]).toEqual(['model', 'n_threads']);
    expect(filterOptions("Unknown filter 'libvmaf'.\n")).toBeUndefined();
  });
});
