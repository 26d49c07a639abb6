/**
 * @module tiny/onnx/check
 * Checks a model against limits before any runtime loads it: it must not run code, read files, run endlessly, or need
 * too much memory or work, since a kilobyte of operators can require gigabytes. Refuses graphs whose needs cannot be
 * estimated.
 */
import { type AnyvmafError, modelError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import {
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxPort,
  type OnnxTensor,
  readOnnx,
  WireError,
} from './read.js';
import {
  ALLOWED_OPERATORS,
  elementsOf,
  type OperatorResult,
  type Shaped,
  ShapeError,
  shapedTensor,
  shapesOf,
} from './shapes.js';

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
/** Including weights. */
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
    throw modelError(
      `${quoted(source)} is not a valid ONNX model: ${error.message}. Export or download it again.`,
    );
  }
  const refuse = (reason: string): AnyvmafError =>
    modelError(`The tiny model ${quoted(source)} is refused: ${reason}.`);
  if (model.functions > 0) throw refuse('it defines functions; export it with its functions inlined');
  if (model.training) throw refuse('it contains a training graph; export it for inference');
  const opset = model.opsets.find(({ domain }) => DEFAULT_DOMAINS.has(domain))?.version;
  if (opset === undefined) throw refuse('it does not state its ONNX opset version');
  const limits = new Limits(refuse);
  limits.graph(model.graph, null, 0, 1);
  // Importing other domains is harmless; #node refuses to use them.
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

/** Finds the constant that the graph first subtracts from each input: the mean of a scaler. */
function centresOf({ nodes, initializers, inputs }: OnnxGraph): Pick<TinyGraph, 'centres'> {
  const constants = new Map(initializers.map(({ name, floats }) => [name, floats]));
  // Maps outputs of Identity and Cast to the input that they repeat.
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
  return modelError(
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
        // A name that is defined twice cannot be trusted.
        this.#names.set(output, this.#names.has(output) ? null : (constant ?? null));
      }
    }
  }

  constant(name: string | undefined): readonly number[] | null {
    if (name === undefined || name === '') return null;
    const own = this.#names.get(name);
    return own === undefined ? (this.outer?.constant(name) ?? null) : own;
  }
}

class Limits {
  readonly operators = new Map<string, number>();
  readonly external = new Set<string>();
  parameters = 0;
  #nodes = 0;
  #loops = 0;

  constructor(readonly refuse: (reason: string) => AnyvmafError) {}

  /** @param trips upper bound on executions of this graph */
  graph(graph: OnnxGraph, outer: Scope | null, depth: number, trips: number): void {
    if (depth > MAX_DEPTH) throw this.refuse(`its subgraphs are nested more than ${MAX_DEPTH} deep`);
    const scope = new Scope(graph, outer);
    for (const tensor of graph.initializers) this.#tensor(tensor);
    for (const node of graph.nodes) this.#node(node, scope, depth, trips);
  }

  #node(node: OnnxNode, scope: Scope, depth: number, trips: number): void {
    if (++this.#nodes > MAX_NODES) throw this.refuse(`it has more than ${MAX_NODES} operators`);
    const { operator, domain, graphs } = node;
    if (!DEFAULT_DOMAINS.has(domain))
      throw this.refuse(
        `its operator ${quoted(operator)} is in the domain ${quoted(domain)}, but only standard ONNX operators are ` +
          'allowed',
      );
    if (!ALLOWED_OPERATORS.has(operator))
      throw this.refuse(
        `its operator ${quoted(operator)} is not allowed in tiny models; docs/tiny-models.md lists those that are`,
      );
    this.operators.set(operator, (this.operators.get(operator) ?? 0) + 1);
    for (const tensor of node.tensors) this.#tensor(tensor);
    this.#shape(node, scope);
    const rounds = operator === 'Loop' ? trips * this.#trips(node, scope) : trips;
    if (rounds > MAX_NESTED_TRIPS)
      throw this.refuse(`its nested Loops run ${rounds} iterations in all, more than ${MAX_NESTED_TRIPS}`);
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

  /** Accepts paths inside the model's folder. */
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

/** Elements of one tensor. */
const MAX_ELEMENTS = 2 ** 27;
const MIB = 1024 * 1024;
/** Most bytes in use at once, weights included. */
const MAX_LIVE = 1024 * MIB;
/** Most bytes computed from constants only, which runtimes compute at start and keep. */
const MAX_CONSTANT = 256 * MIB;
/** Most multiplications or visited elements of one run. */
const MAX_WORK = 1e12;
/** The same for operators on constants. */
const MAX_CONSTANT_WORK = 2 ** 32;
const INT64 = 7;
const BOOL = 9;
/** Bytes per element by TensorProto.DataType, default 4. CPUs compute halves as floats; strings are objects. */
const BYTES: Readonly<Record<number, number>> = {
  2: 1,
  3: 1,
  4: 2,
  5: 2,
  7: 8,
  8: 32,
  9: 1,
  11: 8,
  13: 8,
  14: 8,
  15: 16,
};

/** Operators that may overwrite an input that nothing else reads. */
const IN_PLACE: ReadonlySet<string> = new Set(
  (
    'Identity Reshape Flatten Squeeze Unsqueeze Add Sub Mul Div Neg Abs Sqrt Exp Log Clip Reciprocal Relu LeakyRelu ' +
    'Sigmoid Tanh Elu Selu Softplus Softsign Gelu Erf HardSigmoid HardSwish PRelu BatchNormalization'
  ).split(' '),
);

/** Bytes in use at once, and multiplications or visited elements. */
export interface Demand {
  readonly bytes: number;
  readonly work: number;
}

interface Value {
  readonly shaped: Shaped;
  /** Computed from constants only. */
  readonly constant: boolean;
}

/** Characters of a tensor's name to show in messages. */
const NAME = 60;

/** Names of a graph and of the graphs around it, which are not copied: a file may have thousands of branches. */
class Known {
  readonly #own = new Map<string, Value>();

  constructor(readonly outer?: Known) {}

  get(name: string): Value | undefined {
    return this.#own.get(name) ?? this.outer?.get(name);
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value);
  }
}

/**
 * @param shapes of the inputs, by name
 * @throws {AnyvmafError} `model`, naming the operator that exceeds a limit or whose needs are unknown
 */
export function checkSize(
  { source, program }: { readonly source: string; readonly program: { readonly bytes: Uint8Array } },
  shapes: Readonly<Record<string, readonly number[]>>,
): Demand {
  const { graph } = readOnnx(program.bytes);
  const fed = Object.values(shapes).map((dims) => dims.join('x'));
  const refuse = (reason: string): AnyvmafError =>
    modelError(
      `The tiny model ${quoted(source)} is refused for an input of ${fed.join(' and ') || 'nothing'}: ${reason}.`,
    );
  const sizes = new Sizes(refuse);
  const inputs = new Known();
  let taken = 0;
  for (const { name, type } of graph.inputs) {
    const dims = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (!dims) continue;
    const shaped = { type: type ?? 1, dims };
    inputs.set(name, { shaped, constant: false });
    taken += bytesOf(shaped);
  }
  sizes.graph(graph, inputs, taken);
  return { bytes: sizes.peak, work: sizes.work };
}

class Sizes {
  peak = 0;
  work = 0;
  #constants = 0;
  #constantWork = 0;
  #rounds = 1;

  constructor(readonly refuse: (reason: string) => AnyvmafError) {}

  /**
   * @param scope names visible from outside, to which the graph adds its own
   * @param outside bytes in use outside the graph
   */
  graph(graph: OnnxGraph, scope: Known, outside: number): readonly Value[] {
    const own = new Set(graph.inputs.map(({ name }) => name));
    for (const tensor of graph.initializers) {
      const value = { shaped: shapedTensor(tensor), constant: true };
      if (scope.get(tensor.name) && !own.has(tensor.name)) throw this.#twice(tensor.name);
      scope.set(tensor.name, value);
      this.#constants += this.#bytes(value.shaped, `its tensor ${quoted(tensor.name, NAME)}`);
    }
    const last = lastUses(graph);
    let live = outside;
    for (const [i, node] of graph.nodes.entries()) {
      const inputs = node.inputs.map((name) => this.#value(name, node, scope));
      const before = live;
      const { outputs, work } = this.#made(node, inputs, scope, live);
      const constant = isConstant(node, inputs);
      this.#spend(work, constant, node);
      let bytes = 0;
      for (const [j, shaped] of outputs.entries()) {
        const name = node.outputs[j] ?? '';
        if (name === '') continue;
        if (scope.get(name)) throw this.#twice(name);
        scope.set(name, { shaped, constant });
        bytes += this.#bytes(shaped, `the output of ${called(node)}`);
      }
      if (constant) this.#constants += bytes;
      else live += bytes;
      const dying = [...new Set(node.inputs)].filter((name) => last.get(name) === i && !own.has(name));
      const freed = dying.reduce((sum, name) => sum + this.#held(scope.get(name)), 0);
      const reused = IN_PLACE.has(node.operator) ? Math.min(freed, bytes) : 0;
      this.#hold(Math.max(before, live - reused), node);
      live -= freed;
    }
    return graph.outputs.map(({ name }) => {
      const found = scope.get(name);
      if (found) return found;
      throw this.refuse(`no operator computes its output ${quoted(name, NAME)}`);
    });
  }

  #twice(name: string): AnyvmafError {
    return this.refuse(`two of its tensors have the name ${quoted(name, NAME)}`);
  }

  #value(name: string, node: OnnxNode, scope: Known): Value | undefined {
    if (name === '') return undefined;
    const found = scope.get(name);
    if (found) return found;
    throw this.refuse(`${called(node)} reads ${quoted(name, NAME)}, which no operator before it computes`);
  }

  #made(node: OnnxNode, inputs: readonly (Value | undefined)[], scope: Known, live: number): OperatorResult {
    try {
      if (node.operator === 'If') return this.#choice(node, scope, live);
      if (node.operator === 'Loop') return this.#loop(node, inputs, scope, live);
      const shapes = inputs.map((value) => value?.shaped);
      return shapesOf(node, shapes);
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      throw this.refuse(`the output size of ${called(node)} is not known before it runs: ${error.message}`);
    }
  }

  /** Visits both branches; one of them runs. */
  #choice({ attributes }: OnnxNode, scope: Known, live: number): OperatorResult {
    const [first, second] = ['then_branch', 'else_branch'].map((name) => {
      const branch = attributes.get(name)?.graph;
      if (!branch) throw new ShapeError(`it has no ${name}`);
      return this.graph(branch, new Known(scope), live);
    });
    const outputs = (first ?? []).map(({ shaped: { type, dims } }, i): Shaped => {
      const other = second?.[i]?.shaped.dims;
      if (String(dims) === String(other)) return { type, dims };
      throw new ShapeError(`its branches output [${dims.join(', ')}] and [${other?.join(', ') ?? ''}]`);
    });
    return { outputs, work: 0 };
  }

  /** Requires a constant number of iterations, and carried tensors that keep their shape. */
  #loop(node: OnnxNode, inputs: readonly (Value | undefined)[], scope: Known, live: number): OperatorResult {
    const body = node.attributes.get('body')?.graph;
    const [trips] = inputs[0]?.shaped.values ?? [];
    if (!body || trips === undefined) throw new ShapeError('its trip count is not constant');
    const inner = new Known(scope);
    const carried = inputs.slice(2).map((value) => value?.shaped);
    const starts: (Shaped | undefined)[] = [{ type: INT64, dims: [] }, { type: BOOL, dims: [] }, ...carried];
    for (const [i, { name }] of body.inputs.entries()) {
      const start = starts[i];
      if (!start)
        throw new ShapeError(`its body has ${body.inputs.length} inputs, but gets ${starts.length}`);
      inner.set(name, { shaped: { type: start.type, dims: start.dims }, constant: false });
    }
    const before = this.#rounds;
    this.#rounds *= Math.max(1, trips);
    const [, ...made] = this.graph(body, inner, live);
    this.#rounds = before;
    const outputs = made.map(({ shaped: { type, dims } }, i): Shaped => {
      if (i >= carried.length) return { type, dims: [trips, ...dims] };
      const start = carried[i]?.dims ?? [];
      if (String(start) === String(dims)) return { type, dims };
      throw new ShapeError(`an iteration turns [${start.join(', ')}] into [${dims.join(', ')}]`);
    });
    return { outputs, work: 0 };
  }

  #spend(work: number, constant: boolean, node: OnnxNode): void {
    this.work += work * this.#rounds;
    if (constant) this.#constantWork += work;
    const over = this.work > MAX_WORK ? [this.work, MAX_WORK] : [this.#constantWork, MAX_CONSTANT_WORK];
    const [found = 0, most = 0] = over;
    if (found <= most) return;
    throw this.refuse(
      `up to ${called(node)} it takes ${found.toPrecision(3)} operations${most === MAX_WORK ? '' : ' on constants'}, but at ` +
        `most ${most.toPrecision(3)} are allowed`,
    );
  }

  #hold(live: number, node: OnnxNode): void {
    if (this.#constants > MAX_CONSTANT)
      throw this.refuse(
        `up to ${called(node)} its constants grow to ${mebibytes(this.#constants)}, more than ${mebibytes(MAX_CONSTANT)}`,
      );
    this.peak = Math.max(this.peak, live + this.#constants);
    if (this.peak <= MAX_LIVE) return;
    throw this.refuse(
      `at ${called(node)} its tensors take ${mebibytes(this.peak)}, but at most ${mebibytes(MAX_LIVE)} are allowed; score smaller ` +
        'pictures, or use a model of a fixed size',
    );
  }

  #held(value: Value | undefined): number {
    return value && !value.constant ? bytesOf(value.shaped) : 0;
  }

  #bytes(shaped: Shaped, what: string): number {
    const count = elementsOf(shaped.dims);
    if (count <= MAX_ELEMENTS) return bytesOf(shaped);
    throw this.refuse(
      `${what} has ${count} elements (${shaped.dims.join('x')}), but at most ${MAX_ELEMENTS} are allowed`,
    );
  }
}

function bytesOf({ type, dims }: Shaped): number {
  return elementsOf(dims) * (BYTES[type] ?? 4);
}

/** True for nodes that a runtime may compute at start. Shape is one, as input shapes may be known by then. */
function isConstant({ operator, inputs }: OnnxNode, values: readonly (Value | undefined)[]): boolean {
  if (operator === 'Loop' || operator === 'If') return false;
  return operator === 'Shape' || values.every((value, i) => inputs[i] === '' || value?.constant === true);
}

/** The last node that reads each name, without outputs of the graph. */
function lastUses(graph: OnnxGraph): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  const computed = new Set(graph.nodes.flatMap(({ outputs }) => outputs));
  for (const [i, node] of graph.nodes.entries()) {
    for (const name of readBy(node)) if (computed.has(name)) last.set(name, i);
  }
  for (const { name } of graph.outputs) last.delete(name);
  return last;
}

function readBy({ inputs, graphs }: OnnxNode): readonly string[] {
  if (graphs.length === 0) return inputs;
  const inner = graphs.flatMap(({ nodes, outputs }) => [
    ...nodes.flatMap((node) => readBy(node)),
    ...outputs.map(({ name }) => name),
  ]);
  return [...inputs, ...inner];
}

function called({ operator, name, outputs }: OnnxNode): string {
  return `its operator ${operator} ${quoted(name === '' ? (outputs[0] ?? '') : name, NAME)}`;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}
