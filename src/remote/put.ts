/**
 * @module remote/put
 * Puts a result to a URL on an allowed host.
 */
import { usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { AllowedHosts } from './allowed-hosts.js';
import { exchange, PATIENCE, type Patience, Permanent, persist, refusedStatus } from './request.js';

/** A place that a result may be put to. */
export interface RemotePlace {
  /**
   * Sends the whole result; again if that may help, since putting twice is the same as once.
   * @throws {AnyvmafError} `io`, also for an answer that is no success
   */
  put(bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
}

/**
 * Makes sure that a result may be put to a URL, without connecting to it.
 * @throws {AnyvmafError} `usage`
 */
export function openPlace(
  text: string,
  hosts: readonly string[],
  patience: Patience = PATIENCE,
): RemotePlace {
  const allowed = new AllowedHosts(hosts);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usageError(`${shown(text)} is not a URL.`);
  }
  allowed.require(url);
  return {
    async put(body, signal) {
      await persist(`${shown(text)} did not take the result`, patience, async () => {
        signal?.throwIfAborted();
        const headers = { 'content-type': 'application/octet-stream' };
        const answer = await exchange(url, { method: 'PUT', headers, body }, allowed, patience, signal);
        answer.body.destroy();
        const { status } = answer;
        if (status >= 300 && status < 400)
          throw new Permanent(`the server answered ${status}, which a PUT does not follow`);
        if (status < 200 || status >= 300) throw refusedStatus(answer);
      });
    },
  };
}
