/**
 * @module test/unit/tiny/onnx
 * What a model may be before a runtime sees it. The fuzzer feeds it any bytes.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { checkOnnx } from '../../../src/tiny/onnx/check.js';
import {
  bytes,
  elsewhere,
  floats,
  type GraphParts,
  graph,
  int,
  linear,
  longs,
  model,
  node,
  port,
  TYPE,
  varint,
} from '../../support/onnx.js';

/** What the check says of a model made of these parts. */
function refusal(parts: GraphParts | Uint8Array): string {
  try {
    checkOnnx(parts instanceof Uint8Array ? parts : model(parts), 'a.onnx');
  } catch (error) {
    expect(error).toBeInstanceOf(AnyvmafError);
    expect(error).toMatchObject({ code: 'model' });
    return error instanceof Error ? error.message : '';
  }
  return 'accepted';
}

/** A file that says its versions around a graph. */
const versioned = (graph: readonly number[]) =>
  Uint8Array.from([...int(1, 8), ...bytes(7, graph), ...bytes(8, int(2, 17))]);

/** What the check says of a sound model with one more field. */
const refusalOfMore = (field: number, of: readonly number[]) =>
  refusal(Uint8Array.from([...linear([1], 0), ...bytes(field, of)]));

const inputs = [port('x', ['N', 1])];
const outputs = [port('y', ['N', 1])];

/** A Loop whose body is given, with the trip count under a name. */
const loop = (trips: string, body: readonly number[]) =>
  node('Loop', [trips, '', 'x'], ['y'], { body: { graph: body } });

const body = graph({
  nodes: [node('Identity', ['c'], ['d']), node('Identity', ['v'], ['w'])],
  inputs: [port('i', [], TYPE.int64), port('c', [], 9), port('v', ['N', 1])],
  outputs: [port('d', [], 9), port('w', ['N', 1])],
});

describe('what is read of a model', () => {
  it('knows inputs, outputs, shapes, opset, operators and the number of weights', () => {
    expect(checkOnnx(linear([1, 2, 3], 4), 'a.onnx')).toEqual({
      ...{ irVersion: 8, opset: 17, producer: 'anyvmaf tests', operators: { Gemm: 1 }, parameters: 4 },
      inputs: [{ name: 'features', type: 1, dims: [null, 3] }],
      outputs: [{ name: 'score', type: 1, dims: [null, 1] }],
      external: [],
    });
  });

  it('does not count an input that is initialised', () => {
    const graphInputs = [port('x', ['N', 1]), port('w', [1, 1])];
    const parts = { inputs: graphInputs, outputs, initializers: [floats('w', [1, 1], [2])] };
    const found = checkOnnx(model({ ...parts, nodes: [node('MatMul', ['x', 'w'], ['y'])] }), 'a.onnx');
    expect(found.inputs.map(({ name }) => name)).toEqual(['x']);
  });

  it('counts the weights that a sparse tensor stands for, of a graph and of an attribute', () => {
    // Values, their places, and the dimensions of the whole.
    const [values, places] = [bytes(1, floats('w', [1], [2])), bytes(2, longs('', [1], [0]))];
    const sparse = [...values, ...places, ...int(3, 1), ...int(3, 1)];
    const added = (to: readonly number[]) => model({ inputs, outputs, nodes: [to] });
    const held = [...node('Identity', ['x'], ['y'])];
    const initialised = graph({ nodes: [node('MatMul', ['x', 'w'], ['y'])], inputs, outputs });
    const whole = versioned([...initialised, ...bytes(15, sparse)]);
    expect(checkOnnx(whole, 'a.onnx')).toMatchObject({ operators: { MatMul: 1 }, parameters: 2 });
    const attribute = (field: number) => bytes(5, [...bytes(1, 'value'), ...bytes(field, sparse)]);
    for (const field of [22, 23])
      expect(checkOnnx(added([...held, ...attribute(field)]), 'a.onnx').operators).toEqual({ Identity: 1 });
    // Without values it stands for nothing.
    const empty = versioned([...initialised, ...bytes(15, int(3, 1))]);
    expect(checkOnnx(empty, 'a.onnx').parameters).toBe(0);
  });

  const bare = bytes(7, graph({ inputs, outputs }));
  const own = bytes(8, [...bytes(1, 'own'), ...int(2, 1)]);
  const deep = model({ initializers: [floats('w', Array(65).fill(1), [2])] });

  it.each([
    ['says no version of its own', [...bare, ...bytes(8, int(2, 17))], 'it has no IR version'],
    ['says no version of the operators', [...int(1, 8), ...bare, ...own], 'its ONNX opset version'],
    ['has a tensor of too many dimensions', deep, 'more than'],
  ])('is refused if it %s', (_, file, why) => {
    expect(refusal(Uint8Array.from(file))).toContain(why);
  });

  it('takes fields in any order and skips those it does not know', () => {
    const strange = Uint8Array.from([...bytes(99, 'later versions'), ...int(77, -1), ...linear([1], 0)]);
    expect(checkOnnx(strange, 'a.onnx').operators).toEqual({ Gemm: 1 });
  });
});

describe('what is refused', () => {
  it('is what is no model', () => {
    expect(refusal(new Uint8Array())).toMatch(/not a valid ONNX model.*it has no graph/);
    expect(refusal(new TextEncoder().encode('<!DOCTYPE html><html>'))).toMatch(/not a valid ONNX model/);
    expect(refusal(Uint8Array.from(linear([1], 0).subarray(0, 60)))).toMatch(/not a valid ONNX model/);
    expect(refusalOfMore(7, graph({}))).toContain('it has two graphs');
  });

  it('is an operator that is not listed, and one of another domain under a listed name', () => {
    const scan = node('Scan', ['x'], ['y'], { body: { graph: body } });
    expect(refusal({ nodes: [scan], inputs, outputs })).toContain('operator "Scan" is not allowed');
    const own = node('Relu', ['x'], ['y'], {}, 'com.evil');
    expect(refusal({ nodes: [own], inputs, outputs })).toContain('in the domain "com.evil"');
    expect(refusal({ nodes: [node('Relu', ['x'], ['y'], {}, 'ai.onnx')], inputs, outputs })).toBe('accepted');
  });

  it('is an operator within a branch', () => {
    const then = graph({ nodes: [node('RandomNormal', [], ['t'])], outputs: [port('t', [1])] });
    const other = graph({ nodes: [node('Identity', ['x'], ['e'])], outputs: [port('e', [1])] });
    const choice = node('If', ['c'], ['y'], { then_branch: { graph: then }, else_branch: { graph: other } });
    expect(refusal({ nodes: [choice], inputs, outputs })).toContain('"RandomNormal" is not allowed');
  });

  it('is a function of its own, and a training graph', () => {
    expect(refusalOfMore(25, bytes(1, 'Relu'))).toContain('functions');
    expect(refusalOfMore(20, [])).toContain('training');
  });

  /** What the check says of Loops whose trip count is the constant m. */
  const refusalOfLoops = (trips: number, nodes = [loop('m', body)]) =>
    refusal({ nodes, inputs, outputs, initializers: [longs('m', [], [trips])] });

  it('is a Loop of too many rounds, of an unknown number, or too many Loops', () => {
    expect(refusalOfLoops(1024)).toBe('accepted');
    expect(refusalOfLoops(1025)).toContain('runs 1025 iterations');
    expect(refusalOfLoops(-1)).toContain('runs -1 iterations');
    const loops = (count: number) => Array.from({ length: count }, () => loop('m', body));
    expect(refusalOfLoops(1, loops(16))).toBe('accepted');
    expect(refusalOfLoops(1, loops(17))).toContain('more than 16 Loops');
    expect(refusalOfLoops(1, [loop('x', body)])).toContain('not a constant');
    expect(refusalOfLoops(1, [loop('', body)])).toContain('not a constant');
    const made = [node('Constant', [], ['k'], { value: { tensor: longs('', [], [3]) } }), loop('k', body)];
    expect(refusalOfLoops(1, made)).toBe('accepted');
    const shadowed = [node('Identity', ['x'], ['m']), loop('m', body)];
    expect(refusalOfLoops(1, shadowed)).toContain('not a constant');
  });

  it('is a Loop within a Loop whose rounds multiply', () => {
    const inner = graph({ nodes: [loop('m', body)], outputs: [port('y', [1])] });
    expect(refusalOfLoops(256, [loop('m', inner)])).toBe('accepted');
    expect(refusalOfLoops(257, [loop('m', inner)])).toContain('66049 iterations in all');
  });

  it('is a nesting deeper than eight', () => {
    const choice = (then: number[]) => node('If', ['c'], ['y'], { then_branch: { graph: then } });
    const nested = (depth: number): number[] =>
      graph({ nodes: [depth === 0 ? node('Identity', ['x'], ['y']) : choice(nested(depth - 1))] });
    expect(refusal(versioned(nested(8)))).toBe('accepted');
    expect(refusal(versioned(nested(9)))).toContain('more than 8 deep');
    expect(refusal(versioned(nested(40)))).toContain('nested more than 32 deep');
  });

  it('is a file of weights anywhere but beside the model', () => {
    const nodes = [node('MatMul', ['x', 'w'], ['y'])];
    const from = (location: string) =>
      refusal({ nodes, inputs, outputs, initializers: [elsewhere('w', [1, 1], location)] });
    expect(from('a.onnx.data')).toBe('accepted');
    for (const location of ['../w', '/etc/passwd', 'a/../../w', 'C:\\w', 'a\\w', '', 'a//b', './w', 'a\0b'])
      expect(from(location)).toContain('only files in its own folder');
    const hidden = node('Constant', [], ['k'], { value: { tensor: elsewhere('', [1], '../w') } });
    expect(refusal({ nodes: [hidden], inputs, outputs })).toContain('only files in its own folder');
  });

  it('is a tensor that a few bytes make huge', () => {
    const shape = longs('s', [2], [100_000, 100_000]);
    const bomb = { nodes: [node('ConstantOfShape', ['s'], ['y'])], inputs, outputs, initializers: [shape] };
    expect(refusal(bomb)).toContain('10000000000 elements');
    const claimed = floats('w', [2 ** 40], []);
    expect(refusal({ nodes: [], inputs, outputs, initializers: [claimed] })).toContain('elements, more than');
  });

  it('is an input that is no tensor, and a size that none has', () => {
    const sequence = [...bytes(1, 'x'), ...bytes(2, bytes(4, []))];
    expect(refusal({ inputs: [sequence], outputs })).toContain('"x" is not a tensor');
    expect(refusal({ inputs, outputs, initializers: [floats('w', [-1], [])] })).toContain('invalid size');
  });

  it('is a length beyond the end, a number without an end, and a group', () => {
    expect(refusal(Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0x7f))).toContain('but 0 bytes are left');
    const endless = Uint8Array.from([0x08, ...Array<number>(11).fill(0x80), 0]);
    expect(refusal(endless)).toContain('more than 10 bytes');
    expect(refusal(Uint8Array.of(0x3b, 0x3c))).toContain('the field at byte 0 is invalid');
    expect(refusal(Uint8Array.of(0x00, 0x00))).toContain('the field at byte 0 is invalid');
    const negative = Uint8Array.from([0x3a, ...varint(-5)]);
    expect(refusal(negative)).toContain('is negative, but 0 bytes are left');
  });

  it('is a file of more than 50 MiB, and one of millions of fields', () => {
    expect(refusal(new Uint8Array(50 * 1024 * 1024 + 1))).toContain('at most 52428800 (50 MiB) are allowed');
    // Field 1 again and again: the version.
    expect(refusal(new Uint8Array(10_000_000).fill(8))).toContain('more than 2000000 fields');
  });
});
