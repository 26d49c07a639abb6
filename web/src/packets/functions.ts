/**
 * @module web/packets/functions
 * Reads a container's coded frames without decoding, in its own worker, which the page ends if a file hangs it.
 */
import { showsFrame } from 'anyvmaf/packets';
import type { InputVideoTrack } from 'mediabunny';
import type { CallContext } from '../engine/calls.js';
import { headReader, KINDS } from './headers.js';

/** Shown frames in display order. */
export interface CodedFrames {
  /** In seconds. */
  readonly times: Float64Array;
  readonly bytes: Float64Array;
  /** Indices into {@link KINDS}. */
  readonly kinds: Uint8Array;
  /** NaN if unknown. */
  readonly quantizers: Float64Array;
  /** Their kind; absent if all are unknown. */
  readonly quantizer?: Quantizer;
}

/** QP of the first slice (H.264, H.265), or the frame's index into a table of 256 (AV1, VP9). */
export type Quantizer = 'qp' | 'index';

export interface CodedCall {
  readonly file: File;
  /** 0-based; absent: the only video track. */
  readonly track?: number;
}

/** Seconds before time 0 in which a frame still counts as shown, for rounding errors. */
const TOLERANCE = 1e-6;
/** Packets per `alive` event. */
const INTERVAL = 500;

interface Packet {
  readonly time: number;
  bytes: number;
  readonly kind: number;
  readonly qp: number;
}

function bytesOf(source: AllowSharedBufferSource): Uint8Array {
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** In stored order; the bytes of frames that are never shown count for the next one. */
async function packetsOf(track: InputVideoTrack, alive: () => void): Promise<Packet[]> {
  const { EncodedPacketSink } = await import('mediabunny');
  const codec = await track.getCodec();
  const { description } = (await track.getDecoderConfig()) ?? {};
  const reader = headReader(codec, description && bytesOf(description));
  const hides = codec === 'vp8' || codec === 'vp9';
  const packets: Packet[] = [];
  let count = 0;
  let hidden = 0;
  // Most containers index sizes and key frames; read packets only if their heads are needed.
  const metadataOnly = !reader && !hides;
  const sink = new EncodedPacketSink(track);
  for await (const packet of sink.packets(undefined, undefined, { metadataOnly })) {
    if (++count % INTERVAL === 0) alive();
    // Also read the heads of hidden frames: others refer to them.
    const head = reader?.read(packet.data);
    if (packet.timestamp < -TOLERANCE) continue;
    if (hides && !showsFrame(codec, packet.data)) {
      hidden += packet.byteLength;
      continue;
    }
    const kind = packet.type === 'key' ? 'key' : (head?.kind ?? 'inter');
    packets.push({
      time: packet.timestamp,
      bytes: packet.byteLength + hidden,
      kind: KINDS.indexOf(kind),
      qp: head?.qp ?? Number.NaN,
    });
    hidden = 0;
  }
  return packets;
}

export const packetFunctions = {
  /** `null` if the file is no container, or the track is unknown. Emits `alive` now and then. */
  async codedFrames({ file, track }: CodedCall, { emit }: CallContext<'alive'>): Promise<CodedFrames | null> {
    const { ALL_FORMATS, BlobSource, HLS, Input, UnsupportedInputFormatError } = await import('mediabunny');
    // Playlists name other files, which the page does not have.
    const formats = ALL_FORMATS.filter((format) => format !== HLS);
    const input = new Input({ formats, source: new BlobSource(file) });
    try {
      const tracks = await input.getVideoTracks();
      // Only the report says which of several is scored.
      const chosen = track === undefined && tracks.length > 1 ? undefined : tracks[track ?? 0];
      if (!chosen) return null;
      const codec = await chosen.getCodec();
      const packets = (await packetsOf(chosen, () => emit('alive'))).sort((a, b) => a.time - b.time);
      const quantizers = Float64Array.from(packets, ({ qp }) => qp);
      const quantizer = codec === 'avc' || codec === 'hevc' ? 'qp' : 'index';
      return {
        times: Float64Array.from(packets, ({ time }) => time),
        bytes: Float64Array.from(packets, ({ bytes }) => bytes),
        kinds: Uint8Array.from(packets, ({ kind }) => kind),
        quantizers,
        ...(quantizers.some((qp) => qp >= 0 || qp < 0) && { quantizer }),
      };
    } catch (error) {
      if (error instanceof UnsupportedInputFormatError) return null;
      throw error;
    } finally {
      input.dispose();
    }
  },
};

export type PacketFunctions = typeof packetFunctions;
