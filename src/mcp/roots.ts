/**
 * @module mcp/roots
 * Roots of clients: folders that the user works in. They narrow the allowed folders of a connection and never widen them.
 * Clients of 2026-07-28 are not asked: that version advises against roots.
 */
import { fileURLToPath } from 'node:url';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { realFolder } from '../files/allowed-paths.js';
import type { ResourceScope } from './resources.js';

/** Roots of one client, at most. */
const MOST_ROOTS = 100;

/** Milliseconds for an answer, and failures after which a client is not asked again. */
const PATIENCE = 2000;
const MOST_FAILURES = 3;

/**
 * Follows the roots of one connection.
 * @returns to be awaited before files are used: asks with the first request, whose stream can carry the question, and again after a
 * change
 */
export function serveRoots(server: Server, scope: ResourceScope): (context: ServerContext) => Promise<void> {
  let reading: Promise<void> | undefined;
  let failures = 0;
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    reading = undefined;
    failures = 0;
  });
  return async (context) => {
    const isOlder = (server.getNegotiatedProtocolVersion() ?? '') < '2026';
    if (!isOlder || !server.getClientCapabilities()?.roots || failures >= MOST_FAILURES) return;
    if (!reading) {
      const mine = foldersOf(context).then(
        (folders) => {
          if (reading === mine) scope.roots = folders;
        },
        () => {
          failures++;
          if (reading === mine) reading = undefined;
        },
      );
      reading = mine;
    }
    await reading;
  };
}

/** The roots that are folders of this machine, by their real paths. */
async function foldersOf({ mcpReq }: ServerContext): Promise<readonly string[]> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: PATIENCE });
  const found = await Promise.all(roots.slice(0, MOST_ROOTS).map(({ uri }) => folderOf(uri)));
  return found.filter((folder) => folder !== undefined);
}

async function folderOf(uri: string): Promise<string | undefined> {
  try {
    return await realFolder(fileURLToPath(uri));
  } catch {
    return undefined;
  }
}
