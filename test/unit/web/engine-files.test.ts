/**
 * @module test/unit/web/engine-files
 * A file of the page is one object in the worker, whatever carries it there, and no file is taken for another.
 */
import { describe, expect, it } from 'vitest';
import { FileNumbers, KnownFiles } from '../../../web/src/engine/files.js';

const file = (name: string) => new File(['x'], name, { lastModified: 1 });

/** What arrives of a message: copies. */
function arrived(value: unknown): unknown {
  if (value instanceof File) return new File([value], value.name, { lastModified: value.lastModified });
  if (Array.isArray(value)) return value.map(arrived);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, arrived(inner)]));
}

describe('files between threads', () => {
  const sent = () => {
    const [page, worker] = [new FileNumbers(), new KnownFiles()];
    return <T>(argument: T): T => {
      const copy = arrived(argument);
      worker.restore(copy, page.of(argument));
      return copy as T;
    };
  };

  it('are the same object each time, wherever they stand', () => {
    const send = sent();
    const [a, b] = [file('a.mp4'), file('b.mp4')];
    const first = send({ reference: a, distorted: [b, a], options: { threads: 2 } });
    expect(first.reference).not.toBe(a);
    expect(first.distorted).toEqual([expect.any(File), first.reference]);
    expect(first.options).toEqual({ threads: 2 });
    const second = send({ source: { key: 'k', reference: a, distorted: b } });
    expect(second.source.reference).toBe(first.reference);
    expect(second.source.distorted).toBe(first.distorted[0]);
    expect(send({ files: { model: b } }).files.model).toBe(first.distorted[0]);
  });

  it('of one name, size and time are still two', () => {
    const send = sent();
    const [a, b] = [file('same.mp4'), file('same.mp4')];
    const { reference, distorted } = send({ reference: a, distorted: b });
    expect(reference).not.toBe(distorted);
    const swapped = send({ reference: b, distorted: a });
    expect([swapped.reference, swapped.distorted]).toEqual([distorted, reference]);
    expect(swapped.reference).toBe(distorted);
  });

  it('may be absent, and what is no file is left alone', () => {
    const send = sent();
    for (const argument of [
      undefined,
      null,
      3,
      'text',
      { reference: null },
      [1, 2],
      { bytes: new Uint8Array(9) },
    ])
      expect(send(argument)).toEqual(argument);
  });

  it('are remembered by hundreds, and the latest longest', () => {
    const send = sent();
    const kept = file('kept.mp4');
    const first = send({ file: kept }).file;
    for (let i = 0; i < 400; i++) {
      send({ file: file(`${i}.mp4`) });
      if (i % 100 === 0) expect(send({ file: kept }).file).toBe(first);
    }
    const old = file('old.mp4');
    const before = send({ file: old }).file;
    for (let i = 0; i < 400; i++) send({ file: file(`${i}.mp4`) });
    const after = send({ file: old }).file;
    expect(after).not.toBe(before);
    expect(after.name).toBe('old.mp4');
  });
});
