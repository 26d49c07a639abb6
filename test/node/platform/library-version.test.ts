import { describe, expect, it } from 'vitest';
import { versionIn } from '../../../src/platform/node/encoding/library-version.js';

describe('the release of an encoder’s library', () => {
  it.each([
    ['x265 [info]: HEVC encoder version 3.5+1-f0c1022b6\nx265 [info]: build info [Linux]', '3.5+1-f0c1022b6'],
    ['Svt[info]: SVT [version]:\tSVT-AV1 Encoder Lib v1.4.1\nSvt[info]: SVT [build]', '1.4.1'],
    ['Output #0\n[libvpx-vp9 @ 0x55db7c7d7700] v1.12.0\n', '1.12.0'],
    ['NUT\u0001x264 - core 164 r3095 baee400 - H.264/MPEG-4 AVC codec', '164 r3095'],
    ['[mpeg2video @ 0x5] rate 1.5', undefined],
    ['', undefined],
  ])('of %j is %s', (text, version) => expect(versionIn(text)).toBe(version));
});
