/**
 * @module tiny/call-serializer
 * Serializes calls of a function, for sessions that do not allow concurrent calls.
 */

/** A function that runs one call at a time. */
export interface SerializedCalls<Input, Output> {
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
