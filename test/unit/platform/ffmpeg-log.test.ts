/** What lines of ffmpeg's log say, in the words of several versions (src/platform/ffmpeg/log.ts). */
import { describe, expect, it } from 'vitest';
import { type LogEvent, parseLogLine } from '../../../src/platform/ffmpeg/log.js';
import { PacketTimes } from '../../../src/platform/ffmpeg/packet-times.js';

const lines: readonly (readonly [string, LogEvent | undefined])[] = [
  // 5.1
  [
    '[Parsed_showinfo_0 @ 0x55] [info] n:   1 pts:    512 pts_time:0.04    pos:    13236 fmt:yuv420p sar:1/1 s:320x240 i:P iskey:0 type:B ',
    { kind: 'frame', pts: 512, width: 320, height: 240, pixelFormat: 'yuv420p' },
  ],
  // 7.1
  [
    '[Parsed_showinfo_1 @ 0x55] [info] n:1000 pts: -90000 pts_time:-1     duration:   3600 duration_time:0.04    fmt:yuv420p10le cl:left sar:0/1 s:3840x2160 i:T iskey:1 type:I',
    { kind: 'frame', pts: -90000, width: 3840, height: 2160, pixelFormat: 'yuv420p10le' },
  ],
  [
    '[Parsed_showinfo_0 @ 0x55] [info] n:   0 pts:NOPTS pts_time:NOPTS pos:0 fmt:gray sar:1/1 s:32x32 i:P iskey:1 type:I ',
    { kind: 'frame', pts: undefined, width: 32, height: 32, pixelFormat: 'gray' },
  ],
  [
    '[Parsed_showinfo_0 @ 0x55cc] [info] config in time_base: 1/12800, frame_rate: 25/1',
    { kind: 'timebase', num: 1, den: 12800 },
  ],
  ['[Parsed_showinfo_0 @ 0x55cc] [info] config out time_base: 0/0, frame_rate: 0/0', undefined],
  ['[Parsed_showinfo_0 @ 0x55cc] [info] color_range:unknown color_space:unknown', undefined],
  ['[info] Stream mapping:', { kind: 'decoding' }],
  ['[info]     title           : [error] n: 1 pts: 2 fmt:x s:1x1 ', undefined],
  ['[h264 @ 0x55] [error] Reference 5 >= 3', { kind: 'damage', text: 'Reference 5 >= 3', atEnd: false }],
  [
    '[vist#0:0/h264 @ 0x1] [dec:h264 @ 0x2] [error] Error submitting packet to decoder: Invalid data found when processing input',
    {
      kind: 'damage',
      text: 'Error submitting packet to decoder: Invalid data found when processing input',
      atEnd: false,
    },
  ],
  [
    '[matroska,webm @ 0x55] [error] File ended prematurely',
    { kind: 'damage', text: 'File ended prematurely', atEnd: true },
  ],
  ['[warning] file:/a b.mp4: corrupt input packet in stream 0', { kind: 'gap' }],
  [
    '[swscaler @ 0x55] [warning] deprecated pixel format used, make sure you did set range correctly',
    undefined,
  ],
  ['[h264 @ 0x55] [error] mmco: unref short failure', undefined],
  ['anything else', undefined],
  ['', undefined],
];

describe('lines of the log', () => {
  it.each(lines)('%s', (line, event) => {
    expect(parseLogLine(line)).toEqual(event);
  });
});

describe('times of packets', () => {
  const times = (...lines: string[]) => {
    const packets = new PacketTimes();
    for (const line of lines) packets.take(line);
    return packets.finish();
  };
  const stream = 'stream|has_b_frames=2|time_base=1/1000';

  it('are put in the order in which frames are shown, from 0', () => {
    expect(
      times(
        'packet|pts=80|dts=0|flags=K_',
        'packet|pts=200|dts=40|flags=__',
        'packet|pts=120|dts=80|flags=__',
        '',
        stream,
      ),
    ).toEqual({ times: Float64Array.of(0, 0.04, 0.12), trackStart: 0.08 });
  });

  it('leave out frames that are decoded but never shown, and second fields', () => {
    expect(
      times(
        'packet|pts=0|dts=0|flags=KD',
        'packet|pts=40|dts=40|flags=_D_',
        'packet|pts=80|dts=80|flags=__',
        'packet|pts=80|dts=81|flags=__',
        stream,
      )?.times,
    ).toEqual(Float64Array.of(0));
  });

  it('are decoding times where nothing is reordered, and none where that is not known', () => {
    const packets = ['packet|pts=N/A|dts=0|flags=K_', 'packet|pts=N/A|dts=40|flags=K_'];
    expect(times(...packets, 'stream|has_b_frames=0|time_base=1/1000')?.times).toEqual(
      Float64Array.of(0, 0.04),
    );
    expect(times(...packets, stream)).toBeNull();
    expect(times(stream)).toBeNull();
  });
});
