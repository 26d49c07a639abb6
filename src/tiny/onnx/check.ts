/**
 * @module tiny/onnx/check
 * Checks a model against limits before any runtime sees it: it must not run code, read files or run endlessly.
 */
import { AnyvmafError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { WireError } from './protobuf.js';
import {
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxPort,
  type OnnxTensor,
  readOnnx,
} from './read.js';
import { ALLOWED_OPERATORS } from './shapes.js';
import { MAX_ELEMENTS } from './size.js';

/** An input or output of a graph. */
export interface TinyPort {
  readonly name: string;
  /** Numbers of ONNX's TensorProto.DataType: 1 float32, 7 int64, 10 float16, 11 float64. */
  readonly type: number;
  /** `null` for symbolic or unknown sizes; absent if the rank is unknown. */
  readonly dims?: readonly (number | null)[];
}

export interface TinyGraph {
  readonly irVersion: number;
  /** Version of the default operator domain. */
  readonly opset: number;
  readonly producer: string;
  /** Inputs without initializers. */
  readonly inputs: readonly TinyPort[];
  readonly outputs: readonly TinyPort[];
  /** Number of uses of each operator in the graph and its subgraphs. */
  readonly operators: Readonly<Record<string, number>>;
  readonly parameters: number;
  readonly external: readonly string[];
  /** By input, the small constant that the graph subtracts first: the mean of a scaler. */
  readonly centres?: Readonly<Record<string, readonly number[]>>;
}

const DEFAULT_DOMAINS: ReadonlySet<string> = new Set(['', 'ai.onnx']);

/** With its weights. */
export const MAX_MODEL_BYTES = 50 * 1024 * 1024;
const MAX_DEPTH = 8;
const MAX_LOOPS = 16;
/** Most iterations of one Loop. */
const MAX_TRIPS = 1024;
/** Most iterations of nested Loops, multiplied. */
const MAX_NESTED_TRIPS = 65_536;
const MAX_NODES = 20_000;

/** @throws {AnyvmafError} `model`, naming the first violated limit */
export function checkOnnx(bytes: Uint8Array, source: string): TinyGraph {
  if (bytes.length > MAX_MODEL_BYTES) throw tooLarge(source, bytes.length);
  let model: OnnxModel;
  try {
    model = readOnnx(bytes);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new AnyvmafError(
      'model',
      `${quoted(source)} is not a valid ONNX model: ${error.message}. Export or download it again.`,
    );
  }
  const refuse = (reason: string): AnyvmafError =>
    new AnyvmafError('model', `The tiny model ${quoted(source)} is refused: ${reason}.`);
  if (model.functions > 0) throw refuse('it defines functions; export it with its functions inlined');
  if (model.training) throw refuse('it contains a training graph; export it for inference');
  const opset = model.opsets.find(({ domain }) => DEFAULT_DOMAINS.has(domain))?.version;
  if (opset === undefined) throw refuse('it does not state its ONNX opset version');
  const limits = new Limits(refuse);
  limits.graph(model.graph, null, 0, 1);
  // Importing other domains is harmless; #node refuses their use.
  const fed = new Set(model.graph.initializers.map(({ name }) => name));
  return {
    irVersion: model.irVersion,
    opset,
    producer: model.producer,
    inputs: model.graph.inputs.filter(({ name }) => !fed.has(name)).map((port) => portOf(port, refuse)),
    outputs: model.graph.outputs.map((port) => portOf(port, refuse)),
    operators: Object.fromEntries([...limits.operators].sort(([a], [b]) => (a < b ? -1 : 1))),
    parameters: limits.parameters,
    external: [...limits.external],
    ...centresOf(model.graph),
  };
}

/** Finds the constant that the graph subtracts from each input first: the mean of a scaler. */
function centresOf({ nodes, initializers, inputs }: OnnxGraph): Pick<TinyGraph, 'centres'> {
  const constants = new Map(initializers.map(({ name, floats }) => [name, floats]));
  // Maps the outputs of Identity and Cast to the input that they repeat.
  const origins = new Map(inputs.map(({ name }) => [name, name]));
  const centres: Record<string, readonly number[]> = {};
  for (const { operator, inputs: taken, outputs, tensors } of nodes) {
    const [first = '', second = ''] = taken;
    const [output = ''] = outputs;
    const origin = origins.get(first);
    if (operator === 'Constant') constants.set(output, tensors[0]?.floats);
    else if (origin === undefined) continue;
    else if (operator === 'Identity' || operator === 'Cast') origins.set(output, origin);
    else if (operator === 'Sub') {
      const centre = constants.get(second);
      if (centre) centres[origin] ??= centre;
    }
  }
  return Object.keys(centres).length > 0 ? { centres } : {};
}

export function tooLarge(source: string, bytes: number): AnyvmafError {
  return new AnyvmafError(
    'model',
    `The tiny model ${quoted(source)} has ${bytes} bytes with its weights, but at most ${MAX_MODEL_BYTES} (50 MiB) are ` +
      'allowed.',
  );
}

function portOf({ name, type, dims }: OnnxPort, refuse: (reason: string) => AnyvmafError): TinyPort {
  if (type === null) throw refuse(`${quoted(name)} is not a tensor`);
  return { name, type, ...(dims && { dims }) };
}

/** Names in a graph, with the values of constant integers. */
class Scope {
  readonly #names = new Map<string, readonly number[] | null>();

  constructor(
    graph: OnnxGraph,
    readonly outer: Scope | null,
  ) {
    for (const { name } of graph.inputs) this.#names.set(name, null);
    for (const tensor of graph.initializers) this.#names.set(tensor.name, tensor.integers ?? null);
    for (const node of graph.nodes) {
      const constant =
        node.operator === 'Constant' ? (node.tensors[0]?.integers ?? node.integers) : undefined;
      for (const output of node.outputs) {
        // Do not trust a name that is defined twice.
        this.#names.set(output, this.#names.has(output) ? null : (constant ?? null));
      }
    }
  }

  constant(name: string | undefined): readonly number[] | null {
    if (name === undefined || name === '') return null;
    const here = this.#names.get(name);
    return here === undefined ? (this.outer?.constant(name) ?? null) : here;
  }
}

class Limits {
  readonly operators = new Map<string, number>();
  readonly external = new Set<string>();
  parameters = 0;
  #nodes = 0;
  #loops = 0;

  constructor(readonly refuse: (reason: string) => AnyvmafError) {}

  /** @param trips most executions of this graph */
  graph(graph: OnnxGraph, outer: Scope | null, depth: number, trips: number): void {
    if (depth > MAX_DEPTH) throw this.refuse(`its subgraphs are nested more than ${MAX_DEPTH} deep`);
    const scope = new Scope(graph, outer);
    for (const tensor of graph.initializers) this.#tensor(tensor);
    for (const node of graph.nodes) this.#node(node, scope, depth, trips);
  }

  #node(node: OnnxNode, scope: Scope, depth: number, trips: number): void {
    if (++this.#nodes > MAX_NODES) throw this.refuse(`it has more than ${MAX_NODES} operators`);
    const { operator, domain, graphs } = node;
    if (!DEFAULT_DOMAINS.has(domain)) {
      throw this.refuse(
        `its operator ${quoted(operator)} is in the domain ${quoted(domain)}, but only standard ONNX operators are ` +
          'allowed',
      );
    }
    if (!ALLOWED_OPERATORS.has(operator)) {
      throw this.refuse(
        `its operator ${quoted(operator)} is not allowed in tiny models; docs/tiny-models.md lists those that are`,
      );
    }
    this.operators.set(operator, (this.operators.get(operator) ?? 0) + 1);
    for (const tensor of node.tensors) this.#tensor(tensor);
    this.#shape(node, scope);
    const rounds = operator === 'Loop' ? trips * this.#trips(node, scope) : trips;
    if (rounds > MAX_NESTED_TRIPS) {
      throw this.refuse(`its nested Loops run ${rounds} iterations in all, more than ${MAX_NESTED_TRIPS}`);
    }
    for (const inner of graphs) this.graph(inner, scope, depth + 1, rounds);
  }

  /** Number of iterations of a Loop, which must be constant. */
  #trips(node: OnnxNode, scope: Scope): number {
    if (++this.#loops > MAX_LOOPS) throw this.refuse(`it has more than ${MAX_LOOPS} Loops`);
    const values = scope.constant(node.inputs[0]);
    const [trips] = values?.length === 1 ? values : [];
    if (trips === undefined) throw this.refuse('the trip count of its Loop is not a constant 64-bit integer');
    if (trips >= 0 && trips <= MAX_TRIPS) return trips;
    throw this.refuse(`its Loop runs ${trips} iterations, but 0 to ${MAX_TRIPS} are allowed`);
  }

  #shape({ operator, inputs }: OnnxNode, scope: Scope): void {
    if (operator !== 'ConstantOfShape' && operator !== 'Expand') return;
    const shape = scope.constant(inputs[operator === 'Expand' ? 1 : 0]);
    if (shape) this.#size(shape, `its operator ${operator} makes`);
  }

  #tensor({ name, dims, external }: OnnxTensor): void {
    this.parameters += this.#size(dims, `its tensor ${quoted(name)} has`);
    if (external) this.external.add(this.#location(external.location));
  }

  #size(dims: readonly number[], what: string): number {
    const count = dims.reduce((product, size) => product * Math.max(0, size), 1);
    if (count <= MAX_ELEMENTS) return count;
    throw this.refuse(`${what} ${count} elements, more than ${MAX_ELEMENTS}`);
  }

  /** Accepts paths in the model's folder or below it. */
  #location(location: string): string {
    const parts = location.split('/');
    const plain =
      location !== '' &&
      !/[\\:\0]/.test(location) &&
      parts.every((part) => part !== '' && part !== '.' && part !== '..');
    if (plain) return location;
    throw this.refuse(
      `it reads weights from ${quoted(location)}, but only files in its own folder are allowed`,
    );
  }
}
