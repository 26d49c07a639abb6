/**
 * @module platform/node/message-pipe
 * Structured messages over a pipe between two processes. Transferred buffers follow their message, unserialised.
 */
import type { Readable, Writable } from 'node:stream';
import { Deserializer, deserialize, Serializer, serialize } from 'node:v8';

/** Bun has no class `Serializer`, so messages contain their buffers there. Both ends run in the same runtime. */
const HOLDS_BUFFERS = process.versions.bun !== undefined;

/** Writes the lengths of the message and of its buffers, the message, the buffers. */
export function writeMessage(output: Writable, message: unknown, handed: readonly ArrayBuffer[] = []): void {
  const buffers = HOLDS_BUFFERS ? [] : handed;
  const body = HOLDS_BUFFERS ? serialize(message) : serialized(message, buffers);
  const lengths = Uint32Array.of(body.length, buffers.length, ...buffers.map(({ byteLength }) => byteLength));
  output.cork();
  output.write(new Uint8Array(lengths.buffer));
  output.write(body);
  for (const buffer of buffers) if (buffer.byteLength > 0) output.write(new Uint8Array(buffer));
  output.uncork();
}

function serialized(message: unknown, buffers: readonly ArrayBuffer[]): Buffer {
  const serializer = new Serializer();
  for (const [id, buffer] of buffers.entries()) serializer.transferArrayBuffer(id, buffer);
  serializer.writeHeader();
  serializer.writeValue(message);
  return serializer.releaseBuffer();
}

/** Bytes of the head: the message's length, and the number of buffers. */
const HEAD = 8;

/** Calls `take` with each message, without checking its type. @param fail called for a malformed message */
export function readMessages<T>(
  input: Readable,
  take: (message: T) => void,
  fail: (error: unknown) => void,
): void {
  const parts = messageParts(take);
  let part = parts.next();
  let filled = 0;
  input.on('data', (chunk: Buffer) => {
    try {
      for (let at = 0; at < chunk.length && !part.done; ) {
        const into = part.value;
        const count = Math.min(chunk.length - at, into.length - filled);
        into.set(chunk.subarray(at, at + count), filled);
        at += count;
        filled += count;
        if (filled < into.length) continue;
        filled = 0;
        part = parts.next();
      }
    } catch (error) {
      fail(error);
    }
  });
}

/** Yields the memory to fill next, which is never empty. */
function* messageParts<T>(take: (message: T) => void): Generator<Uint8Array, never, undefined> {
  for (;;) {
    const head = new Uint32Array(HEAD / 4);
    yield new Uint8Array(head.buffer);
    const [length = 0, count = 0] = head;
    const lengths = new Uint32Array(count);
    if (count > 0) yield new Uint8Array(lengths.buffer);
    const body = Buffer.allocUnsafeSlow(length);
    yield body;
    const buffers: ArrayBuffer[] = [];
    for (const bytes of lengths) {
      // Not zeroed: it is filled next.
      const buffer = new Uint8Array(bytes > 0 ? Buffer.allocUnsafeSlow(bytes).buffer : new ArrayBuffer(0));
      if (bytes > 0) yield buffer;
      buffers.push(buffer.buffer);
    }
    // Both ends belong to this package.
    take((HOLDS_BUFFERS ? deserialize(body) : deserialized(body, buffers)) as T);
  }
}

function deserialized(body: Buffer, buffers: readonly ArrayBuffer[]): unknown {
  const deserializer = new Deserializer(body);
  for (const [id, buffer] of buffers.entries()) deserializer.transferArrayBuffer(id, buffer);
  deserializer.readHeader();
  return deserializer.readValue();
}
