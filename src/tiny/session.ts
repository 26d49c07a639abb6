/**
 * @module tiny/session
 * Sessions of any ONNX library: one call at a time, errors that name model, device and runtime, scores from outputs.
 */
import { AnyvmafError } from '../core/errors.js';
import { clause, quoted, shown } from '../core/printable.js';
import type { TinyBinding } from './bind.js';
import type { TinyModel, TinyPort, TinySession, TinyTensor } from './types.js';

type Named<T> = Readonly<Record<string, T>>;

export interface LibrarySession<Tensor> {
  /** @param port absent for an input that the graph does not have */
  tensor(port: TinyPort | undefined, tensor: TinyTensor): Tensor;
  run(feeds: Named<Tensor>): Promise<Named<TinyTensor>>;
  release(): Promise<void>;
}

/** @throws {AnyvmafError} `backend` if `start` fails */
export async function openSession<Tensor>(
  { source, graph }: Pick<TinyModel, 'source' | 'graph'>,
  facts: Pick<TinySession, 'runtime' | 'device' | 'adapter' | 'threads' | 'notes'>,
  start: () => Promise<LibrarySession<Tensor>>,
): Promise<TinySession> {
  const { runtime, device } = facts;
  const failure = (code: 'backend' | 'model', what: string, cause: unknown, more = '') =>
    new AnyvmafError(
      code,
      `The tiny model ${quoted(source)} ${what} on ${device} (${runtime}: ${reason(cause)}).${more}`,
      { cause },
    );
  let session: LibrarySession<Tensor> | undefined = await start().catch((cause: unknown) => {
    const others = device === 'cpu' ? 'auto' : 'auto or cpu';
    const advice = ` A named device has no fallback; ask for ${others} to use another.`;
    throw failure('backend', 'does not start', cause, advice);
  });
  const ports = new Map(graph.inputs.map((port) => [port.name, port]));
  // Some libraries do not allow concurrent calls.
  const calls = serializeCalls(async (inputs: Named<TinyTensor>) => {
    const open = session;
    if (!open) throw new AnyvmafError('usage', `The session of ${quoted(source)} is closed.`);
    const feeds = Object.entries(inputs).map(
      ([name, tensor]) => [name, open.tensor(ports.get(name), tensor)] as const,
    );
    return open.run(Object.fromEntries(feeds)).catch((cause: unknown) => {
      throw failure('model', 'failed', cause);
    });
  });
  return {
    ...facts,
    run: calls.run,
    async close() {
      const closing = session;
      session = undefined;
      await calls.settled();
      await closing?.release();
    },
  };
}

interface SerializedCalls<Input, Output> {
  /** Runs after all earlier calls have succeeded or failed. */
  run(input: Input): Promise<Output>;
  settled(): Promise<void>;
}

export function serializeCalls<Input, Output>(
  call: (input: Input) => Promise<Output>,
): SerializedCalls<Input, Output> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(input) {
      const result = last.then(() => call(input));
      last = result.catch(() => {});
      return result;
    },
    async settled() {
      await last;
    },
  };
}

function reason(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return shown(clause(text.replaceAll(/\s+/g, ' ')), 300);
}

/**
 * Extracts one value per row of every output.
 * @param into receives the scores, row-major, one column per output
 * @throws {AnyvmafError} `model` if an output has another size or is not finite
 */
export function takeScores(
  { source, outputs, reduce, range }: Pick<TinyBinding, 'source' | 'outputs' | 'reduce' | 'range'>,
  results: Readonly<Record<string, TinyTensor>>,
  rows: number,
  into: Float64Array,
  frameOf: (row: number) => number,
): void {
  outputs.forEach(({ tensor }, column) => {
    const data = results[tensor]?.data;
    const each = data === undefined ? 0 : data.length / rows;
    if (data === undefined || !Number.isInteger(each) || each === 0 || (each > 1 && reduce === undefined)) {
      throw new AnyvmafError(
        'model',
        `The tiny model ${quoted(source)} returns ${data?.length ?? 'no'} values as ${quoted(tensor)} for ` +
          `${rows === 1 ? 'one frame' : `${rows} frames`}, but must return one per frame; set output_reduce in its sidecar ` +
          'to reduce several to one.',
      );
    }
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let i = 0; i < each; i++) sum += data[row * each + i]!;
      const value = sum / each;
      if (!Number.isFinite(value)) {
        throw new AnyvmafError(
          'model',
          `The tiny model ${quoted(source)} returns ${value} for frame ${frameOf(row)}, which is not a score; the ` +
            'model does not work on such input.',
        );
      }
      into[row * outputs.length + column] = range ? Math.min(range[1], Math.max(range[0], value)) : value;
    }
  });
}
