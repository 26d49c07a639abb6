/**
 * @module platform/node/ffmpeg/channel
 * Two connected sockets of this process, one of which becomes a child's output: what the child writes is read straight
 * into memory of the reader's choice. The pipes that `spawn` makes can only be read in pieces of 64 KB, each into new
 * memory.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Who owns the memory that is read into. */
export interface Receiver {
  /** Where the bytes that come next go: one byte at least, valid until others are asked for. */
  room(): Uint8Array;
  /**
   * So many bytes of the latest {@link room} are there.
   * @returns whether there is room for more; otherwise the reader is paused until its `resume`
   */
  filled(bytes: number): boolean;
}

/** A connected pair. */
export interface Channel {
  /** For the child; to be destroyed here once it is started. */
  readonly output: Socket;
  /** Feeds the receiver; ends when the child has closed its output. */
  readonly input: Socket;
}

/** Milliseconds that connecting may take; it is a matter of one. */
const PATIENCE = 2000;

/**
 * Connects a pair through an address that has no file, which only Linux has.
 * @returns `undefined` where that cannot be done
 */
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

/** Waits for the connection that shows the token: others on this machine can see the address, and connect to it. */
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
