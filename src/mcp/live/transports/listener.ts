/**
 * @module mcp/live/transports/listener
 * What every transport gives: where it listens, and how to end it.
 */

/** A transport that listens. */
export interface Listener {
  /** A URL or a path. */
  readonly address: string;
  /** Ends its connections and releases what it bound. */
  close(): Promise<void>;
}
