/**
 * @module mcp/live/failures
 * Errors of the protocol. A tool that says no throws an `AnyvmafError`, as everywhere.
 */

/** An error of the protocol. */
export class ProtocolFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

/** Codes of JSON-RPC. */
export const CODE = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 };
