/**
 * @module score/dispatch
 * Shares out chunks of two random-access videos among workers that read for themselves.
 */
import type { Crew } from './crew.js';
import type { Extent } from './pair.js';
import type { Chunk } from './protocol.js';

/** Where records go as they arrive, in any order of chunks. */
export interface RecordSink {
  /** Records of `count` consecutive pairs from `first` on. */
  add(first: number, count: number, records: Float64Array): void;
  /** One more pair is measured. */
  measured(): void;
}

/**
 * Has every chunk measured. A worker that is done takes the next chunk.
 * @param gate asked before a chunk is handed out, which waits for what it returns
 */
export async function dispatch(
  crew: Crew,
  chunks: Iterator<Chunk, void>,
  sink: RecordSink,
  gate?: () => Promise<void> | undefined,
): Promise<Extent> {
  let extent: Extent = { pairs: 0, ended: null };
  let ended = false;
  let busy = 0;
  let refuse: (reason: unknown) => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });

  function assign(worker: number): void {
    const next = ended ? undefined : chunks.next().value;
    if (!next) return;
    busy++;
    const post = () => crew.post(worker, { kind: 'measure', chunk: next });
    const wait = gate?.();
    if (wait) wait.then(post).catch(refuse);
    else post();
  }

  crew.receive((worker, message) => {
    if (message.kind === 'measured') return sink.measured();
    // Workers that read for themselves are sent no history.
    if (message.kind === 'primed') return;
    busy--;
    sink.add(message.first, message.count, message.records);
    const pairs = message.first + message.count;
    if (message.ended) {
      // Chunks past the end are empty; the one with the smallest end knows which video was short.
      if (!ended || pairs < extent.pairs) extent = { pairs, ended: message.ended };
      ended = true;
    } else if (!ended) extent = { pairs: Math.max(extent.pairs, pairs), ended: null };
    assign(worker);
  });
  for (let worker = 0; worker < crew.size; worker++) assign(worker);
  await Promise.race([crew.until(() => busy === 0), refused]);
  return extent;
}
