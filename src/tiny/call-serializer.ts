/**
 * @module tiny/call-serializer
 * For what takes one call at a time: sessions of some execution providers.
 */

/** A function whose calls wait for each other. */
export interface InTurn<Input, Output> {
  /** Calls the function once every earlier call is done, whether that failed or not. */
  run(input: Input): Promise<Output>;
  /** Waits until no call is left. */
  settled(): Promise<void>;
}

/** Has calls of a function wait for each other. */
export function inTurn<Input, Output>(call: (input: Input) => Promise<Output>): InTurn<Input, Output> {
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
