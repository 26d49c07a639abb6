/**
 * @module tiny/session
 * A session of any ONNX library: calls one after another, and errors that name the model, the device and the runtime.
 */
import { AnyvmafError } from '../core/errors.js';
import { clause, quoted, shown } from '../core/printable.js';
import type { TinyModel, TinyPort, TinySession, TinyTensor } from './types.js';

type Named<T> = Readonly<Record<string, T>>;

/** A session of a library, with its own tensors. */
export interface LibrarySession<Tensor> {
  /** @param port absent for an input that the graph does not have */
  tensor(port: TinyPort | undefined, tensor: TinyTensor): Tensor;
  run(feeds: Named<Tensor>): Promise<Named<TinyTensor>>;
  release(): Promise<void>;
}

/**
 * Starts a session.
 * @param facts static properties of the session
 * @throws {AnyvmafError} `backend` if `start` fails
 */
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
    const more = ' No other device is taken instead; ask for auto or cpu if any will do.';
    throw failure('backend', 'does not start', cause, more);
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

/** A function that runs one call at a time. */
interface SerializedCalls<Input, Output> {
  /** Runs after all earlier calls have succeeded or failed. */
  run(input: Input): Promise<Output>;
  /** Resolves when no call is pending. */
  settled(): Promise<void>;
}

/** Makes each call wait for the one before. */
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

/** The library's message in one line. */
function reason(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return shown(clause(text.replaceAll(/\s+/g, ' ')), 300);
}
