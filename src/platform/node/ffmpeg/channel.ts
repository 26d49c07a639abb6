/**
 * @module platform/node/ffmpeg/channel
 * Two connected sockets of this process, one of which becomes a child's output: what the child writes is read straight
 * into memory of the reader's choice. Pipes of `spawn` can only be read in pieces of 64 KB, each into new memory.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Provides the memory that is read into. */
export interface Receiver {
  /** Where the next bytes go: at least one byte, valid until the next call. */
  room(): Uint8Array;
  /**
   * Called when so many bytes of the latest {@link room} are there.
   * @returns true if there is room for more; otherwise the reader is paused until its `resume`
   */
  filled(bytes: number): boolean;
}

export interface Channel {
  /** For the child; destroy it here once the child is started. */
  readonly output: Socket;
  /** Feeds the receiver; ends when the child closes its output. */
  readonly input: Socket;
}

/** Milliseconds allowed for connecting, which takes about one. */
const PATIENCE = 2000;

/** Connects a pair through an address without a file, which only Linux has; `undefined` if that is not possible. */
export async function openChannel(receiver: Receiver): Promise<Channel | undefined> {
  if (process.platform !== 'linux') return undefined;
  const path = `\0anyvmaf-${randomBytes(16).toString('hex')}`;
  const token = randomBytes(16);
  const server = createServer();
  let input: Socket | undefined;
  try {
    server.listen(path);
    await once(server, 'listening');
    input = connect({
      path,
      onread: { buffer: () => receiver.room(), callback: (bytes) => receiver.filled(bytes) },
    });
    // A broken connection shows as the end of the stream.
    input.on('error', () => {});
    input.write(token);
    return { input, output: await accept(server, token) };
  } catch {
    input?.destroy();
    return undefined;
  } finally {
    server.close();
  }
}

/** Waits for the connection with the token: others on this machine can see the address, and connect to it. */
async function accept(server: Server, token: Buffer): Promise<Socket> {
  const strangers = new Set<Socket>();
  let late: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      late = setTimeout(() => reject(new Error('nobody connected')), PATIENCE);
      server.once('error', reject);
      server.on('connection', (socket) => {
        strangers.add(socket);
        let shown = Buffer.alloc(0);
        socket
          .on('error', () => {})
          .on('data', (piece: Buffer) => {
            shown = Buffer.concat([shown, piece]);
            if (shown.length < token.length) return;
            if (!shown.equals(token)) {
              socket.destroy();
              return;
            }
            strangers.delete(socket);
            socket.pause();
            resolve(socket);
          });
      });
    });
  } finally {
    clearTimeout(late);
    for (const stranger of strangers) stranger.destroy();
  }
}
