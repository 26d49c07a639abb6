/**
 * @module test/unit/cli/tiny-options
 * What the options about tiny models make of a command line, in both spellings.
 */
import { describe, expect, it } from 'vitest';
import { scoreSettings } from '../../../src/cli/commands/score-options.js';

function settings(line: string) {
  const found = scoreSettings(line.split(' '));
  if (typeof found === 'string') throw new Error(found);
  return found;
}

const tiny = (line: string) => settings(`a.y4m b.y4m ${line}`).options.tiny;

describe('tiny models on the command line', () => {
  it('take every option in both spellings', () => {
    const model = {
      model: 'm.onnx',
      device: 'cuda',
      threads: 2,
      fp16: true,
      precision: 'fp32',
      verify: true,
      codec: 'h264',
      preset: 'slow',
      crf: 30,
      resize: 'bicubic',
    };
    const dashes =
      '--tiny-model m.onnx --tiny-device cuda --tiny-threads 2 --tiny-fp16 --tiny-precision fp32 --tiny-model-verify ' +
      '--tiny-codec h264 --tiny-preset slow --tiny-crf 30 --tiny-resize bicubic';
    expect(tiny(dashes)).toEqual([model]);
    expect(tiny(dashes.replaceAll(/(?<=--\S*)-(?=\w)/g, '_').replace('____', '--'))).toEqual([model]);
    expect(tiny('--tiny_model m.onnx --dnn_ep cuda')).toEqual([{ model: 'm.onnx', device: 'cuda' }]);
    expect(tiny('--tiny-crf 99 --tiny-model m')).toEqual([{ model: 'm', crf: 63 }]);
  });

  it('may be several, each with the options after it', () => {
    expect(
      tiny('--tiny-threads 3 --tiny-model a --tiny-resize nearest --tiny-model b --tiny-threads 1'),
    ).toEqual([
      { model: 'a', threads: 3, resize: 'nearest' },
      { model: 'b', threads: 1 },
    ]);
  });

  it('are refused where they contradict themselves or are about nothing', () => {
    expect(() => tiny('--tiny-device cpu --dnn-ep cuda --tiny-model m')).toThrow('two names of one option');
    expect(() => tiny('--tiny-codec h264')).toThrow('--tiny-codec is about a tiny model, but none is given');
    expect(() => tiny('--tiny-model m --tiny-device gpu')).toThrow('--tiny-device');
    expect(() => tiny('--tiny-model m --tiny-precision int4')).toThrow('--tiny-precision');
    expect(() => tiny('--tiny-model=')).toThrow('is empty');
  });

  it('score one video by itself', () => {
    const alone = settings('--no-reference b.y4m --tiny-model m');
    expect(alone).toMatchObject({
      distorted: ['b.y4m'],
      options: { noReference: true, tiny: [{ model: 'm' }] },
    });
    expect(alone.reference).toBeUndefined();
    const named = settings('--no_reference -r a.y4m -d b.y4m --tiny-model m -m version=vmaf_v0.6.1');
    expect(named.options.models).toBeUndefined();
    expect(named.ignored).toEqual([
      'The reference a.y4m was not read: --no-reference scores without one.',
      '--model has no effect with --no-reference: version=vmaf_v0.6.1 compare with a reference.',
    ]);
    expect(() => settings('--no-reference a.y4m b.y4m --tiny-model m')).toThrow('one argument too many');
    expect(() => settings('--no-reference --tiny-model m')).toThrow('no video given');
  });

  it('leave abbreviations of the vmaf tool what they are', () => {
    expect(settings('a b --no').options.noPrediction).toBe(true);
  });
});
