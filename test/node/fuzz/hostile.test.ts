/**
 * @module test/node/fuzz/hostile
 * Files that broke a promise once: each is refused in one line, or read rightly, by what reads its kind, in time. ONNX models
 * have a test of their own, test/tiny/onnx/size, because they are refused for what is fed to them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { evaluateModel, readReport, score } from '../../../src/index.js';
import { parseModelFile } from '../../../src/models/parse.js';
import { parseSidecar } from '../../../src/tiny/sidecar.js';
import { root } from '../../support/built.js';

const FOLDER = join(root, 'test/fixtures/hostile');
const MODEL = join(root, 'model/tiny/fr_vmaf_v0.6.1.onnx');

const read = (path: string) => readFileSync(path, 'utf8');
const video = (path: string) =>
  score({ reference: path, distorted: path }, { noPrediction: true, features: ['adm', 'vif', 'motion'] });

/** What reads a file, by the end of its name; the longest that fits. */
const READERS: Readonly<Record<string, (path: string) => unknown>> = {
  '.y4m': video,
  '.mkv': (path) => score({ reference: path, distorted: path }, { decoder: 'mediabunny' }),
  '.mp4': video,
  '.csv': (path) => readReport(read(path)),
  '.sub': (path) => readReport(read(path)),
  '.xml': (path) => readReport(read(path)),
  '.report.json': (path) => readReport(read(path)),
  '.sidecar.json': (path) => parseSidecar(read(path), path),
  '.model.json': (path) => parseModelFile(read(path), path),
  '.parquet': (path) => evaluateModel(MODEL, path, { split: 'all' }),
};

/** Files that are right, and were read wrongly. */
const RIGHT = /^narrow-|^proto/;

describe('a hostile file', () => {
  it.each(readdirSync(FOLDER).filter((name) => !name.endsWith('.onnx')))(
    '%s is dealt with in one line and in time',
    async (name) => {
      const reader = READERS[Object.keys(READERS).filter((end) => name.endsWith(end))[0] ?? ''];
      if (!reader) throw new Error(`nothing reads ${name}: add a reader`);
      let refusal: unknown;
      const started = process.cpuUsage();
      try {
        await reader(join(FOLDER, name));
      } catch (error) {
        refusal = error;
      }
      const { user } = process.cpuUsage(started);
      expect(user / 1e6).toBeLessThan(5);
      if (RIGHT.test(name)) return expect(refusal).toBeUndefined();
      expect(refusal).toBeInstanceOf(AnyvmafError);
      const { code, message } = refusal as AnyvmafError;
      expect(code).not.toBe('internal');
      expect(message).toMatch(/^[^\p{Cc}\p{Cf}\u2028\u2029]{10,3000}$/u);
    },
  );
});
