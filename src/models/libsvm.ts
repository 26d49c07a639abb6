/**
 * @module models/libsvm
 * Parses libsvm's text of a nu-SVR with a radial basis kernel (spec 5.2) and evaluates it.
 */
import { AnyvmafError } from '../core/errors.js';
import { decimalNumber } from '../core/numbers.js';
import { quoted } from '../core/printable.js';
import { exp } from './exp.js';
import type { SupportVectors } from './types.js';

/** Header words with their required values; `undefined` stands for any number. */
const HEADER = {
  svm_type: 'nu_svr',
  kernel_type: 'rbf',
  gamma: undefined,
  nr_class: '2',
  total_sv: undefined,
  rho: undefined,
} as const;

type HeaderWord = keyof typeof HEADER;

/**
 * @param dimensions number of inputs, the largest index that a support vector may have; omitted values are 0
 * @throws {AnyvmafError} `model`
 */
export function parseLibsvm(text: string, dimensions: number, where: string): SupportVectors {
  const fail = (problem: string): AnyvmafError =>
    new AnyvmafError('model', `${where} holds a libsvm text ${problem}; it is damaged or not a VMAF model.`);
  const start = /(?:^|\s)SV[^\S\n]*\n/.exec(text);
  if (!start) throw fail('without the line "SV" that begins the support vectors');
  const { gamma, rho, total_sv: total } = parseHeader(text.slice(0, start.index), fail);
  if (!(gamma >= 0)) throw fail(`with gamma ${gamma}, which must not be negative`);

  const lines = text.slice(start.index + start[0].length).split('\n');
  while (lines.at(-1)?.trim() === '') lines.pop();
  if (lines.length !== total || total === 0) {
    throw fail(`whose header promises ${total} support vectors but ${lines.length} follow`);
  }
  const coefficients = new Float64Array(total);
  const vectors = new Float64Array(total * dimensions);
  lines.forEach((line, row) => {
    const refuse = (token: string): AnyvmafError =>
      fail(
        `whose support vector ${row + 1} has ${quoted(token)} where a value from 1 to ${dimensions} in order belongs`,
      );
    const [coefficient = '', ...pairs] = line.trim().split(/\s+/);
    coefficients[row] = parseNumber(coefficient, () => refuse(coefficient));
    let last = 0;
    for (const pair of pairs) {
      const colon = pair.indexOf(':');
      const indexText = pair.slice(0, colon);
      const index = Number(indexText);
      if (!/^\d{1,9}$/.test(indexText) || index <= last || index > dimensions) throw refuse(pair);
      vectors[row * dimensions + index - 1] = parseNumber(pair.slice(colon + 1), () => refuse(pair));
      last = index;
    }
  });
  return { gamma, rho, count: total, dimensions, coefficients, vectors };
}

function parseHeader(
  text: string,
  fail: (problem: string) => AnyvmafError,
): { gamma: number; rho: number; total_sv: number } {
  const found = new Map<HeaderWord, string>();
  const tokens = text.split(/\s+/).filter((token) => token !== '');
  for (let i = 0; i < tokens.length; i += 2) {
    const [word = '', value = ''] = tokens.slice(i, i + 2);
    if (!isHeaderWord(word)) throw fail(`with the unknown word ${quoted(word)} in its header`);
    const expected = HEADER[word];
    if (expected !== undefined && value !== expected)
      throw fail(`with ${word} ${quoted(value)} instead of ${expected}`);
    found.set(word, value);
  }
  const number = (word: HeaderWord): number => {
    const value = found.get(word);
    if (value === undefined) throw fail(`without ${word} in its header`);
    return parseNumber(value, () => fail(`with ${word} ${quoted(value)}, which is not a number`));
  };
  for (const word of ['svm_type', 'kernel_type', 'nr_class'] as const) {
    if (!found.has(word)) throw fail(`without ${word} in its header`);
  }
  const total = number('total_sv');
  if (!Number.isInteger(total) || total < 0) throw fail(`with total_sv ${total}, which is not a count`);
  return { gamma: number('gamma'), rho: number('rho'), total_sv: total };
}

function isHeaderWord(word: string): word is HeaderWord {
  return Object.hasOwn(HEADER, word);
}

function parseNumber(text: string, refuse: () => AnyvmafError): number {
  const value = decimalNumber(text);
  if (value === undefined || !Number.isFinite(value)) throw refuse();
  return value;
}

/** The regression at `dimensions` normalised inputs, summed in libsvm's order: vectors as in the file, then indices. */
export function evaluate(svm: SupportVectors, x: Float64Array): number {
  const { gamma, rho, count, dimensions, coefficients, vectors } = svm;
  let sum = 0;
  for (let row = 0, at = 0; row < count; row++) {
    let distance = 0;
    for (let i = 0; i < dimensions; i++, at++) {
      const difference = x[i]! - vectors[at]!;
      distance += difference * difference;
    }
    sum += coefficients[row]! * exp(-gamma * distance);
  }
  return sum - rho;
}
