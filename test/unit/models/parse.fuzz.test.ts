/**
 * @module test/unit/models/parse.fuzz
 * Damaged model files: whatever is done to one, reading it ends in a model that predicts or in an error of ours.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { evaluate } from '../../../src/models/libsvm.js';
import { parseModelFile } from '../../../src/models/parse.js';
import { smallModel } from '../../support/models.js';
import { type SeededRandom, seeded } from '../../support/random.js';

const SEED = 20260801;

/** Pieces that mean something to the parsers. */
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\n',
  ' ',
  'SV',
  'null',
  'true',
  '0',
  '-',
  '1e999',
  '1e-999',
];
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x',
  'true',
  [],
  {},
  [[]],
  [null],
  { 0: {} },
];

/** Cuts, doubles, moves or overwrites parts of a text. */
function mutateText(text: string, random: SeededRandom): string {
  let result = text;
  for (let n = random.int(1, 4); n > 0; n--) {
    const at = random.int(0, result.length);
    const end = Math.min(result.length, at + random.int(0, 12));
    const put = random.pick([
      '',
      random.pick(PIECES),
      String.fromCharCode(random.int(0, 0x2ff)),
      result.slice(at, end).repeat(2),
    ]);
    result = result.slice(0, at) + put + result.slice(random.pick([at, end]));
  }
  return random.int(0, 20) === 0 ? result.slice(0, random.int(0, result.length)) : result;
}

/** Replaces, removes or adds a member somewhere in a JSON value. */
function mutateValue(value: unknown, random: SeededRandom): unknown {
  if (typeof value !== 'object' || value === null || random.int(0, 3) === 0) return random.pick(VALUES);
  const entries = Object.entries(value);
  const at = random.int(0, entries.length);
  const entry = entries[at];
  const action = random.int(0, 4);
  if (!entry || action === 0) entries.push([random.pick(['0', '1', 'model', 'x']), random.pick(VALUES)]);
  else if (action === 1) entries.splice(at, 1);
  else entries[at] = [entry[0], mutateValue(entry[1], random)];
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** Reads the text; true when it is a model, and then predicts with it. */
function survives(text: string, what: string): boolean {
  try {
    for (const { svm, inputs } of parseModelFile(text, 'fuzz').members) {
      expect(svm.dimensions, what).toBe(inputs.length);
      expect(typeof evaluate(svm, new Float64Array(inputs.length).fill(0.5)), what).toBe('number');
    }
    return true;
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw new Error(`${what}: ${String(error)}`, { cause: error });
    expect(error.code, what).toBe('model');
    expect(error.message, what).toMatch(/^[^\n\r]+$/);
    return false;
  }
}

const complete = smallModel({
  norm_type: 'linear_rescale',
  slopes: [0.5, 1, 2],
  intercepts: [-1, 0, 1],
  score_clip: [0, 100],
  score_transform: {
    enabled: true,
    p0: 1,
    knots: [
      [0, 0],
      [1, 2],
    ],
    out_gte_in: 'true',
  },
  feature_opts_dicts: [{ adm_enhn_gain_limit: 1 }, {}],
});
const collection = { 0: complete, 1: smallModel() };

describe('a damaged model file is refused or read', () => {
  it('damaged as text', () => {
    const random = seeded(SEED);
    let models = 0;
    for (let round = 0; round < 6000; round++) {
      const base = JSON.stringify(random.pick([complete, collection]));
      if (survives(mutateText(base, random), `seed ${SEED}, round ${round}`)) models++;
    }
    // Some damage leaves a model: the generator must reach both outcomes.
    expect(models).toBeGreaterThan(100);
    expect(models).toBeLessThan(5000);
  });

  it('damaged as JSON', () => {
    const random = seeded(SEED + 1);
    let models = 0;
    for (let round = 0; round < 6000; round++) {
      const value = mutateValue(random.pick<unknown>([complete, collection]), random);
      if (survives(JSON.stringify(value) ?? '', `seed ${SEED + 1}, round ${round}`)) models++;
    }
    expect(models).toBeGreaterThan(100);
    expect(models).toBeLessThan(5000);
  });

  it('damaged in its libsvm text', () => {
    const random = seeded(SEED + 2);
    let models = 0;
    for (let round = 0; round < 6000; round++) {
      const model = mutateText(String(complete.model_dict.model), random);
      const text = JSON.stringify({ model_dict: { ...complete.model_dict, model } });
      if (survives(text, `seed ${SEED + 2}, round ${round}`)) models++;
    }
    expect(models).toBeGreaterThan(100);
    expect(models).toBeLessThan(5000);
  });

  it('a damaged built-in model', () => {
    const random = seeded(SEED + 3);
    const base = readFileSync(new URL('../../../model/vmaf_v0.6.1.json', import.meta.url), 'utf8');
    for (let round = 0; round < 200; round++)
      survives(mutateText(base, random), `seed ${SEED + 3}, round ${round}`);
  });

  it('nested beyond all reason', () => {
    survives(`${'['.repeat(200_000)}${']'.repeat(200_000)}`, 'arrays');
    survives(`{"model_dict":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}`, 'objects');
  });
});
