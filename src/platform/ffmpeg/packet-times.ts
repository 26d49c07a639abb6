/**
 * @module platform/ffmpeg/packet-times
 * Presentation times of all frames, from what ffprobe prints of each packet.
 */

/** When frames are shown. */
export interface TrackTimes {
  /** Seconds from the first frame, ascending. */
  readonly times: Float64Array;
  /** The first frame's time in seconds on the file's clock. */
  readonly trackStart: number;
}

/** Collects the lines that `ffprobe -of compact -show_entries packet=pts,dts,flags:stream=...` prints. */
export class PacketTimes {
  readonly #pts: number[] = [];
  readonly #dts: number[] = [];
  #unit = Number.NaN;
  #reorders = true;

  take(line: string): void {
    const fields = new Map(
      line.split('|').map((field) => [field.split('=')[0], field.slice(field.indexOf('=') + 1)]),
    );
    if (line.startsWith('packet|')) {
      // Cut away by an edit list: decoded, never shown.
      if (fields.get('flags')?.includes('D')) return;
      this.#pts.push(Number(fields.get('pts') ?? Number.NaN));
      this.#dts.push(Number(fields.get('dts') ?? Number.NaN));
    } else if (line.startsWith('stream|')) {
      const [num, den] = (fields.get('time_base') ?? '').split('/').map(Number);
      this.#unit = (num ?? Number.NaN) / (den ?? Number.NaN);
      this.#reorders = fields.get('has_b_frames') !== '0';
    }
  }

  /** @returns `null` where the container does not give every frame its time */
  finish(): TrackTimes | null {
    // Without reordering, frames are shown in the order and at the times of decoding.
    const known = [this.#pts, ...(this.#reorders ? [] : [this.#dts])].find(
      (ticks) => !ticks.some(Number.isNaN),
    );
    if (!known || known.length === 0 || Number.isNaN(this.#unit)) return null;
    const sorted = Float64Array.from(known).sort();
    // The two fields of a frame may come as packets of one time.
    const distinct = sorted.filter((ticks, i) => i === 0 || ticks !== sorted[i - 1]);
    const first = distinct[0] ?? 0;
    return { times: distinct.map((ticks) => (ticks - first) * this.#unit), trackStart: first * this.#unit };
  }
}
