/**
 * @module media/shared-sources
 * Callers' own sources of frames that several runs read.
 */
import { serializeCalls } from '../core/abort.js';
import { isFrameSource } from './open.js';
import type { FrameSource, VideoInput } from './types.js';

/** The videos of a run. */
interface Videos {
  readonly reference?: VideoInput;
  readonly distorted: VideoInput;
}

/** Own sources that occur more than once in the runs: these read them one at a time, and leave them open until `close`. */
export class SharedSources {
  readonly #shared = new Map<FrameSource, FrameSource>();

  constructor(runs: readonly Videos[]) {
    const seen = new Set<VideoInput>();
    for (const video of runs.flatMap(({ reference = '', distorted }) => [reference, distorted])) {
      if (isFrameSource(video) && seen.has(video) && !this.#shared.has(video))
        this.#shared.set(video, kept(video));
      seen.add(video);
    }
  }

  within<Run extends Videos>(run: Run): Run {
    const { reference, distorted } = run;
    return {
      ...run,
      ...(reference !== undefined && { reference: this.of(reference) }),
      distorted: this.of(distorted),
    };
  }

  of(video: VideoInput): VideoInput {
    return (isFrameSource(video) && this.#shared.get(video)) || video;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#shared.keys()].map((source) => source.close()));
  }
}

function kept(source: FrameSource): FrameSource {
  const serialize = serializeCalls();
  const { info, seekable, descriptor } = source;
  return {
    info,
    seekable,
    ...(descriptor && { descriptor }),
    readFrame: (index, into) => serialize(() => source.readFrame(index, into)),
    ...(source.checkFrame && {
      checkFrame: (index: number) => serialize(() => source.checkFrame?.(index) ?? true),
    }),
    close() {},
  };
}
