/**
 * @module test/support/models
 * The model folder as a store, and a small model to modify.
 */
import { readFile } from 'node:fs/promises';
import { AnyvmafError } from '../../src/core/errors.js';
import type { ModelStore } from '../../src/models/types.js';

const FOLDER = new URL('../../model/', import.meta.url);

/** Reads built-ins from the model folder, and paths from `files`. */
export function modelStore(files: Readonly<Record<string, string>> = {}): ModelStore {
  return {
    readBuiltIn: (fileName) => readFile(new URL(fileName, FOLDER), 'utf8'),
    async readFile(path) {
      const text = files[path];
      if (text === undefined) throw new AnyvmafError('io', `Cannot read ${path}.`);
      return text;
    },
  };
}

/** A model of two features and two support vectors: exp(-0.5 d1) - exp(-0.5 d2) - 0.25 on features as they are. */
export function smallModel(changes: Record<string, unknown> = {}): { model_dict: Record<string, unknown> } {
  return {
    model_dict: {
      model_type: 'LIBSVMNUSVR',
      norm_type: 'none',
      feature_names: ['VMAF_integer_feature_adm2_score', 'VMAF_integer_feature_motion2_score'],
      model:
        'svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nSV\n1 1:1 2:2 \n-1 2:4 \n',
      ...changes,
    },
  };
}
