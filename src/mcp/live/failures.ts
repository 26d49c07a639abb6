/**
 * @module mcp/live/failures
 * How the live server says no: with an error of JSON-RPC, or with a result of a tool.
 */

/** An error of the protocol. */
export class ProtocolFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** A tool that says no: to its arguments, or to what they ask for. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Codes of JSON-RPC. */
export const CODE = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 };
