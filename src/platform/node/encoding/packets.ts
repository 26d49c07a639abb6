/**
 * @module platform/node/encoding/packets
 * When the frames of a file are shown, and what each takes, from its packets.
 */
import type { TrackFacts } from '../../../media/decoder.js';
import type { ToolSource } from '../../ffmpeg/access.js';
import { packetsArgs } from '../../ffmpeg/commands.js';
import { compactFields } from '../../ffmpeg/packet-times.js';
import type { FfmpegInput } from '../ffmpeg/input.js';
import { runOn } from '../ffmpeg/launch.js';

/** Frames in presentation order. */
export interface PacketTable {
  /** Seconds from the first frame. */
  readonly times: Float64Array;
  /** Bytes. */
  readonly sizes: Float64Array;
  /** Frames that decoding can begin with, ascending. */
  readonly keys: readonly number[];
}

interface Packet {
  readonly time: number;
  readonly size: number;
  readonly key: boolean;
}

/**
 * Reads the packets of the video track.
 * @throws {AnyvmafError} `io`; the signal's reason
 */
export async function readPackets(
  file: FfmpegInput,
  track: Pick<TrackFacts, 'frameRate'>,
  signal?: AbortSignal,
): Promise<PacketTable> {
  const packets: Packet[] = [];
  const take = (line: string) => {
    const fields = compactFields(line);
    // What an edit list cuts away is decoded and never shown.
    if (!line.startsWith('packet|') || fields.get('flags')?.includes('D')) return;
    packets.push({
      time: Number(fields.get('pts_time') ?? Number.NaN),
      size: Number(fields.get('size') ?? Number.NaN),
      key: fields.get('flags')?.startsWith('K') ?? false,
    });
  };
  const args = (source: ToolSource) => packetsArgs(source, 0, 'packet=pts_time,size,flags');
  await runOn('ffprobe', file, args, { signal, onLine: take });
  return tableOf(packets, track);
}

function tableOf(packets: readonly Packet[], { frameRate }: Pick<TrackFacts, 'frameRate'>): PacketTable {
  // Streams without times are shown in the order of decoding, as evenly as they say.
  const timed = !packets.some(({ time }) => Number.isNaN(time));
  const period = frameRate ? frameRate.den / frameRate.num : 1 / 25;
  const shown = timed
    ? packets.toSorted((a, b) => a.time - b.time)
    : packets.map((packet, i) => ({ ...packet, time: i * period }));
  const start = shown[0]?.time ?? 0;
  return {
    times: Float64Array.from(shown, ({ time }) => time - start),
    sizes: Float64Array.from(shown, ({ size }) => size),
    keys: shown.flatMap(({ key }, i) => (key ? [i] : [])),
  };
}
