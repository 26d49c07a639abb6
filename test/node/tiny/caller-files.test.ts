/**
 * @module test/node/tiny/caller-files
 * Models handed over as files: nothing but these is read, by whatever name.
 */
import { describe, expect, it } from 'vitest';
import { describeTinyModel, score } from '../../../src/index.js';
import { elsewhere, linear, meanOf, model, node, port } from '../../support/onnx.js';
import { seeded } from '../../support/random.js';
import { sha256 } from '../../support/tiny.js';

const RAW = { width: 32, height: 24, bitDepth: 8, chroma: '420' } as const;
const video = seeded(5).bytes(2 * 1152);
const json = (value: object) => new Blob([JSON.stringify(value)]);
const blob = (bytes: Uint8Array) => new Blob([new Uint8Array(bytes)]);

describe('files of a tiny model', () => {
  it('score with the sidecar and the weights among them', async () => {
    const files = {
      'a.onnx': blob(meanOf(['N', 1, 'H', 'W'], { factor: 255 })),
      'a.json': json({ name: 'mean' }),
    };
    const { frames } = await score(
      { distorted: video, raw: RAW },
      { noReference: true, threads: 0, tiny: [{ model: 'a.onnx', files }] },
    );
    const mean = video.subarray(0, 768).reduce((sum, value) => sum + value, 0) / 768;
    expect(frames[0]?.metrics.mean).toBeCloseTo(mean, 3);
    const split = model({
      nodes: [node('MatMul', ['x', 'w'], ['y'])],
      inputs: [port('x', ['N', 6])],
      outputs: [port('y', ['N', 1])],
      initializers: [elsewhere('w', [6, 1], 'w.data')],
    });
    const weights = blob(new Uint8Array(Float32Array.of(1, 0, 0, 0, 0, 0).buffer));
    const pair = await score(
      { reference: video, distorted: video, raw: RAW },
      {
        models: [],
        threads: 0,
        tiny: [{ model: 'split.onnx', files: { 'split.onnx': blob(split), 'w.data': weights } }],
      },
    );
    const [first] = pair.frames;
    expect(first?.metrics.vmaf_tiny_model).toBeCloseTo(first?.metrics.integer_adm2 ?? Number.NaN, 6);
  });

  it('are described, and held to a registry among them', async () => {
    const onnx = linear([1, 2, 3, 4, 5, 6], 7);
    const row = { id: 'six', kind: 'fr', onnx: 'six.onnx', sha256: sha256(onnx) };
    const registry = (sum: string) => json({ schema_version: 1, models: [{ ...row, sha256: sum }] });
    const files = { 'six.onnx': blob(onnx), 'registry.json': registry(row.sha256) };
    expect(await describeTinyModel('six.onnx', { files })).toMatchObject({
      name: 'six',
      parameters: 7,
      registry: { id: 'six' },
    });
    const changed = { ...files, 'registry.json': registry('0'.repeat(64)) };
    await expect(describeTinyModel('six.onnx', { files: changed })).rejects.toThrow('but the registry says');
  });

  it('are all that there is: not a file beside, not a built-in model', async () => {
    const files = { 'a.onnx': blob(linear([1], 0)) };
    for (const name of ['package.json', 'fr_vmaf_v0.6.1', 'toString', '../a.onnx'])
      await expect(describeTinyModel(name, { files })).rejects.toThrow(
        `has no file ${name} in the files given`,
      );
  });

  it('must be files, and of a size', async () => {
    const asked = (files: unknown) =>
      score(
        { distorted: video, raw: RAW },
        // What a caller without types may hand over.
        { noReference: true, tiny: [{ model: 'a.onnx', files: files as Record<string, Blob> }] },
      );
    await expect(asked({ 'a.onnx': 'text' })).rejects.toThrow(
      'tiny[0].files is [object Object], but it must be',
    );
    await expect(asked(null)).rejects.toThrow('tiny[0].files is null');
    const large = {
      'a.onnx': blob(linear([1, 2, 3, 4, 5, 6], 0)),
      'a.json': new Blob([new Uint8Array(2 ** 21)]),
    };
    await expect(describeTinyModel('a.onnx', { files: large })).rejects.toThrow('a.json has 2097152 bytes');
  });
});
