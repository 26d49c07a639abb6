/**
 * @module test/unit/models/libsvm
 * libsvm texts: how they are read, evaluated and refused.
 */
import { describe, expect, it } from 'vitest';
import { evaluate, parseLibsvm } from '../../../src/models/libsvm.js';
import { refusalOf } from '../../support/models.js';

const HEADER = 'svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\n';
const TEXT = `${HEADER}SV\n1 1:1 2:2 \n-1 2:4 \n`;

describe('parseLibsvm', () => {
  it('reads header and support vectors, absent indices as 0', () => {
    expect(parseLibsvm(TEXT, 2, 'Model')).toEqual({
      gamma: 0.5,
      rho: 0.25,
      count: 2,
      dimensions: 2,
      coefficients: Float64Array.of(1, -1),
      vectors: Float64Array.of(1, 2, 0, 4),
    });
  });

  it('takes any blanks between words, and Windows line ends', () => {
    expect(parseLibsvm(TEXT.replaceAll('\n', '\r\n'), 2, 'Model')).toEqual(parseLibsvm(TEXT, 2, 'Model'));
  });

  it('reads numbers to the nearest double', () => {
    const svm = parseLibsvm(
      TEXT.replace('1:1 ', '1:-1.110223e-16 ').replace('0.5', '0.035000000000000003'),
      2,
      'M',
    );
    expect(svm.vectors[0]).toBe(-1.110223e-16);
    expect(svm.gamma).toBe(0.035);
  });

  it.each([
    ['', /without the line "SV"/],
    [HEADER, /without the line "SV"/],
    [TEXT.replace('nu_svr', 'c_svc'), /svm_type "c_svc" instead of nu_svr/],
    [TEXT.replace('rbf', 'linear'), /kernel_type "linear" instead of rbf/],
    [TEXT.replace('nr_class 2', 'nr_class 3'), /nr_class "3" instead of 2/],
    [TEXT.replace('gamma 0.5\n', ''), /without gamma/],
    [TEXT.replace('svm_type nu_svr\n', ''), /without svm_type/],
    [TEXT.replace('gamma 0.5', 'gamma 0.5x'), /gamma "0.5x", which is not a number/],
    [TEXT.replace('gamma 0.5', 'gamma -1'), /gamma -1, which must not be negative/],
    [TEXT.replace('gamma', 'Gamma'), /unknown word "Gamma"/],
    [TEXT.replace('gamma', 'constructor'), /unknown word "constructor"/],
    [TEXT.replace('total_sv 2', 'total_sv 3'), /promises 3 support vectors but 2 follow/],
    [TEXT.replace('total_sv 2', 'total_sv 1.5'), /total_sv 1.5, which is not a count/],
    [TEXT.replace('total_sv 2', 'total_sv 1e99'), /promises 1e\+99/],
    [`${HEADER.replace('total_sv 2', 'total_sv 0')}SV\n`, /promises 0 support vectors/],
    [TEXT.replace('2:4', '3:4'), /support vector 2 has "3:4" where a value from 1 to 2 in order belongs/],
    [TEXT.replace('1:1 2:2', '2:1 1:2'), /support vector 1 has "1:2"/],
    [TEXT.replace('2:4', '0:4'), /"0:4"/],
    [TEXT.replace('2:4', '2;4'), /"2;4"/],
    [TEXT.replace('2:4', '2:'), /"2:"/],
    [TEXT.replace('2:4', '2:nan'), /"2:nan"/],
    [TEXT.replace('2:4', '2:1e999'), /"2:1e999"/],
    [TEXT.replace('-1 2:4', '2:4'), /support vector 2 has "2:4"/],
  ])('refuses a damaged text (%#)', async (text, message) => {
    expect(await refusalOf('model', () => parseLibsvm(text, 2, 'Model "x"'))).toMatch(message);
  });
});

describe('evaluate', () => {
  it('sums the kernels in order and takes away rho', () => {
    // At (1, 2) the first distance is 0, the second 1 + 4.
    const value = evaluate(parseLibsvm(TEXT, 2, 'Model'), Float64Array.of(1, 2));
    expect(value).toBeCloseTo(1 - Math.exp(-2.5) - 0.25, 15);
  });
});
