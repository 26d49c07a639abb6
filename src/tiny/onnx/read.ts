/**
 * @module tiny/onnx/read
 * The parts of an ONNX model that decide whether a runtime may see it: operators, subgraphs, shapes, constants, and where
 * its weights lie. Field numbers are those of onnx.proto.
 */
import { quoted } from '../../printable.js';
import { WireError, WireReader } from './protobuf.js';

/** A whole model. */
export interface OnnxModel {
  readonly irVersion: number;
  readonly producer: string;
  /** Version by operator domain. */
  readonly opsets: readonly { readonly domain: string; readonly version: number }[];
  readonly graph: OnnxGraph;
  /** Functions that the file itself defines. */
  readonly functions: number;
  readonly training: boolean;
}

/** A graph or a subgraph. */
export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxTensor[];
  readonly inputs: readonly OnnxPort[];
  readonly outputs: readonly OnnxPort[];
}

export interface OnnxNode {
  readonly operator: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Subgraphs of its attributes. */
  readonly graphs: readonly OnnxGraph[];
  /** Tensors of its attributes. */
  readonly tensors: readonly OnnxTensor[];
  /** The attribute `value_int`, and `value_ints`: what a Constant may be instead of a tensor. */
  readonly integers?: readonly number[];
}

export interface OnnxTensor {
  readonly name: string;
  readonly type: number;
  readonly dims: readonly number[];
  /** Set when its data is in another file. */
  readonly external?: { readonly location: string; readonly offset: number; readonly length: number | null };
  /** The values of an int64 tensor of at most {@link SHAPE_SIZE} elements that are in the file. */
  readonly integers?: readonly number[];
  /** The values of a float32 tensor of at most {@link ROW_SIZE} elements that are in the file. */
  readonly floats?: readonly number[];
}

/** An input or output. */
export interface OnnxPort {
  readonly name: string;
  /** `null` where it is no tensor. */
  readonly type: number | null;
  readonly dims?: readonly (number | null)[];
}

/** Subgraphs within subgraphs that are read at all; what is allowed is the check's business. */
const MAX_NESTING = 32;
/** Longest tensor whose integers are kept: a shape. */
const SHAPE_SIZE = 16;
/** Longest tensor whose floating-point values are kept: one per feature. */
const ROW_SIZE = 32;
/** Most dimensions of a tensor. */
const MAX_RANK = 64;
/** TensorProto.DataType. */
const FLOAT = 1;
const INT64 = 7;
/** TensorProto.DataLocation.EXTERNAL. */
const EXTERNAL = 1;

/**
 * Reads a model.
 * @throws {WireError} when the bytes are no ONNX model
 */
export function readOnnx(bytes: Uint8Array): OnnxModel {
  const reader = new WireReader(bytes);
  let irVersion = 0;
  let producer = '';
  let graph: OnnxGraph | undefined;
  let functions = 0;
  let training = false;
  const opsets: { domain: string; version: number }[] = [];
  while (reader.next()) {
    if (reader.field === 1) irVersion = reader.int();
    else if (reader.field === 2) producer = reader.text();
    else if (reader.field === 7) graph = once(graph, 'graph', readGraph(reader.message(), 0));
    else if (reader.field === 8) opsets.push(readOpset(reader.message()));
    else if (reader.field === 20) training = true;
    else if (reader.field === 25) functions++;
  }
  if (!graph) throw new WireError('it has no graph');
  if (irVersion < 1) throw new WireError('it does not say its version');
  return { irVersion, producer, opsets, graph, functions, training };
}

/** A message field that comes twice would be merged by some readers and replaced by others. */
function once<T>(before: T | undefined, what: string, value: T): T {
  if (before !== undefined) throw new WireError(`it has two of what may be there once: ${what}`);
  return value;
}

function readOpset(reader: WireReader): { domain: string; version: number } {
  let domain = '';
  let version = 0;
  while (reader.next()) {
    if (reader.field === 1) domain = reader.text();
    else if (reader.field === 2) version = reader.int();
  }
  return { domain, version };
}

function readGraph(reader: WireReader, depth: number): OnnxGraph {
  if (depth > MAX_NESTING) throw new WireError(`its graphs are nested more than ${MAX_NESTING} deep`);
  const nodes: OnnxNode[] = [];
  const initializers: OnnxTensor[] = [];
  const inputs: OnnxPort[] = [];
  const outputs: OnnxPort[] = [];
  while (reader.next()) {
    if (reader.field === 1) nodes.push(readNode(reader.message(), depth));
    else if (reader.field === 5) initializers.push(readTensor(reader.message()));
    else if (reader.field === 11) inputs.push(readPort(reader.message()));
    else if (reader.field === 12) outputs.push(readPort(reader.message()));
    else if (reader.field === 15)
      for (const tensor of readSparse(reader.message())) initializers.push(tensor);
  }
  return { nodes, initializers, inputs, outputs };
}

function readNode(reader: WireReader, depth: number): OnnxNode {
  const inputs: string[] = [];
  const outputs: string[] = [];
  let operator = '';
  let domain = '';
  const graphs: OnnxGraph[] = [];
  const tensors: OnnxTensor[] = [];
  let integers: readonly number[] | undefined;
  while (reader.next()) {
    if (reader.field === 1) inputs.push(reader.text());
    else if (reader.field === 2) outputs.push(reader.text());
    else if (reader.field === 4) operator = reader.text();
    else if (reader.field === 7) domain = reader.text();
    else if (reader.field === 5) {
      const found = readAttribute(reader.message(), depth, graphs, tensors);
      integers ??= found;
    }
  }
  return { operator, domain, inputs, outputs, graphs, tensors, ...(integers && { integers }) };
}

/** @returns integers that a Constant is made of */
function readAttribute(
  reader: WireReader,
  depth: number,
  graphs: OnnxGraph[],
  tensors: OnnxTensor[],
): readonly number[] | undefined {
  let name = '';
  let graph: OnnxGraph | undefined;
  let tensor: OnnxTensor | undefined;
  const integers: number[] = [];
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 3) integers.push(reader.int());
    else if (reader.field === 5) tensor = once(tensor, 'a tensor', readTensor(reader.message()));
    else if (reader.field === 6) graph = once(graph, 'a subgraph', readGraph(reader.message(), depth + 1));
    else if (reader.field === 8) reader.ints(integers, SHAPE_SIZE + 1);
    else if (reader.field === 10) tensors.push(readTensor(reader.message()));
    else if (reader.field === 11) graphs.push(readGraph(reader.message(), depth + 1));
    else if (reader.field === 22 || reader.field === 23)
      for (const tensor of readSparse(reader.message())) tensors.push(tensor);
  }
  if (tensor) tensors.push(tensor);
  if (graph) graphs.push(graph);
  return name === 'value_int' || name === 'value_ints' ? integers : undefined;
}

/** The two tensors that a sparse one is made of. */
function readSparse(reader: WireReader): OnnxTensor[] {
  const parts: OnnxTensor[] = [];
  while (reader.next()) {
    if (reader.field === 1 || reader.field === 2) parts.push(readTensor(reader.message()));
  }
  return parts;
}

function readTensor(reader: WireReader): OnnxTensor {
  const dims: number[] = [];
  let type = 0;
  let name = '';
  let location = 0;
  const entries = new Map<string, string>();
  const listed: number[] = [];
  const listedFloats: number[] = [];
  let raw: Uint8Array | undefined;
  while (reader.next()) {
    if (reader.field === 1) reader.ints(dims, MAX_RANK + 1);
    else if (reader.field === 2) type = reader.int();
    else if (reader.field === 4) reader.floats(listedFloats, ROW_SIZE + 1);
    else if (reader.field === 7) reader.ints(listed, SHAPE_SIZE + 1);
    else if (reader.field === 8) name = reader.text();
    else if (reader.field === 9) raw = reader.bytes();
    else if (reader.field === 13) readEntry(reader.message(), entries);
    else if (reader.field === 14) location = reader.int();
  }
  if (dims.length > MAX_RANK) throw new WireError(`a tensor has more than ${MAX_RANK} dimensions`);
  if (dims.some((size) => !Number.isSafeInteger(size) || size < 0))
    throw new WireError(`the tensor ${quoted(name)} has the impossible size ${dims.join('x')}`);
  const integers = type === INT64 ? shapeOf(dims, listed, raw) : undefined;
  const floats = type === FLOAT ? rowOf(dims, listedFloats, raw) : undefined;
  return {
    name,
    type,
    dims,
    ...((location === EXTERNAL || entries.size > 0) && { external: externalOf(name, entries) }),
    ...(integers && location !== EXTERNAL && { integers }),
    ...(floats && location !== EXTERNAL && { floats }),
  };
}

function readEntry(reader: WireReader, entries: Map<string, string>): void {
  let key = '';
  let value = '';
  while (reader.next()) {
    if (reader.field === 1) key = reader.text();
    else if (reader.field === 2) value = reader.text();
  }
  if (entries.has(key)) throw new WireError(`a tensor says ${quoted(key)} of its file twice`);
  entries.set(key, value);
}

function externalOf(name: string, entries: ReadonlyMap<string, string>): NonNullable<OnnxTensor['external']> {
  const number = (key: string): number | null => {
    const text = entries.get(key);
    if (text === undefined) return null;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new WireError(`the tensor ${quoted(name)} has the impossible ${key} ${quoted(text)}`);
  };
  return { location: entries.get('location') ?? '', offset: number('offset') ?? 0, length: number('length') };
}

/** Values of a small int64 tensor. */
function shapeOf(
  dims: readonly number[],
  listed: readonly number[],
  raw: Uint8Array | undefined,
): readonly number[] | undefined {
  const count = dims.reduce((product, size) => product * size, 1);
  if (count > SHAPE_SIZE) return undefined;
  if (!raw) return listed.length === count ? listed : undefined;
  if (raw.length !== 8 * count) return undefined;
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  return Array.from({ length: count }, (_, i) => Number(view.getBigInt64(8 * i, true)));
}

/** Values of a small float32 tensor. */
function rowOf(
  dims: readonly number[],
  listed: readonly number[],
  raw: Uint8Array | undefined,
): readonly number[] | undefined {
  const count = dims.reduce((product, size) => product * size, 1);
  if (count > ROW_SIZE) return undefined;
  if (!raw) return listed.length === count ? listed : undefined;
  if (raw.length !== 4 * count) return undefined;
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  return Array.from({ length: count }, (_, i) => view.getFloat32(4 * i, true));
}

function readPort(reader: WireReader): OnnxPort {
  let name = '';
  let type: Omit<OnnxPort, 'name'> | undefined;
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 2) type = once(type, 'a type', readType(reader.message()));
  }
  return { name, ...(type ?? { type: null }) };
}

function readType(reader: WireReader): Omit<OnnxPort, 'name'> {
  let tensor: Omit<OnnxPort, 'name'> | undefined;
  while (reader.next()) {
    if (reader.field === 1) tensor = once(tensor, 'a tensor type', readTensorType(reader.message()));
  }
  return tensor ?? { type: null };
}

function readTensorType(reader: WireReader): Omit<OnnxPort, 'name'> {
  let type = 0;
  let dims: (number | null)[] | undefined;
  while (reader.next()) {
    if (reader.field === 1) type = reader.int();
    else if (reader.field === 2) dims = once(dims, 'a shape', readShape(reader.message()));
  }
  return { type, ...(dims && { dims }) };
}

function readShape(reader: WireReader): (number | null)[] {
  const dims: (number | null)[] = [];
  while (reader.next()) {
    if (reader.field !== 1) continue;
    const dimension = reader.message();
    let size: number | null = null;
    while (dimension.next()) if (dimension.field === 1) size = dimension.int();
    // Some exporters write an unknown size as 0 or -1.
    dims.push(size !== null && size > 0 ? size : null);
    if (dims.length > MAX_RANK) throw new WireError(`a tensor has more than ${MAX_RANK} dimensions`);
  }
  return dims;
}
