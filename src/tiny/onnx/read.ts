/**
 * @module tiny/onnx/read
 * Reads what checks need of an ONNX model: operators, shapes, small constants, weight files. Fields are those of
 * onnx.proto. Reads the wire format of Protocol Buffers strictly: checks every length, copies nothing, limits the number
 * of fields.
 */
import { quoted } from '../../core/printable.js';

export interface OnnxModel {
  readonly irVersion: number;
  readonly producer: string;
  readonly opsets: readonly { readonly domain: string; readonly version: number }[];
  readonly graph: OnnxGraph;
  readonly functions: number;
  readonly training: boolean;
}

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxTensor[];
  readonly inputs: readonly OnnxPort[];
  readonly outputs: readonly OnnxPort[];
}

export interface OnnxNode {
  readonly name: string;
  readonly operator: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly graphs: readonly OnnxGraph[];
  readonly tensors: readonly OnnxTensor[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
  /** A Constant's `value_int` or `value_ints`, which may replace its tensor. */
  readonly integers?: readonly number[];
}

/** Lists keep their first {@link SHAPE_SIZE} + 1 elements. */
export interface OnnxAttribute {
  readonly int?: number;
  readonly ints?: readonly number[];
  readonly float?: number;
  readonly floats?: readonly number[];
  readonly text?: string;
  readonly tensor?: OnnxTensor;
  readonly graph?: OnnxGraph;
}

export interface OnnxTensor {
  readonly name: string;
  readonly type: number;
  readonly dims: readonly number[];
  readonly external?: { readonly location: string; readonly offset: number; readonly length: number | null };
  /** Values of an int32 or int64 tensor in the file, up to {@link SHAPE_SIZE} elements. */
  readonly integers?: readonly number[];
  /** Values of a float32 tensor in the file, up to {@link ROW_SIZE} elements. */
  readonly floats?: readonly number[];
}

export interface OnnxPort {
  readonly name: string;
  /** `null` if it is not a tensor. */
  readonly type: number | null;
  readonly dims?: readonly (number | null)[];
}

/** Deepest nesting of subgraphs to read; `check` has its own limit. */
const MAX_NESTING = 32;
/** Longest integer tensor to keep: a shape. */
const SHAPE_SIZE = 16;
/** Longest float tensor to keep: one value per feature. */
const ROW_SIZE = 32;
/** Bytes to keep of a text attribute; modes of operators are short words. */
const MAX_WORD = 64;
/** Text attributes need not be valid UTF-8. */
const LATIN = new TextDecoder('latin1');
const MAX_RANK = 64;
/** TensorProto.DataType. */
const FLOAT = 1;
const INT32 = 6;
const INT64 = 7;
/** TensorProto.DataLocation.EXTERNAL. */
const EXTERNAL = 1;

/** @throws {WireError} if the bytes are not an ONNX model */
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
    else if (reader.field === 7) graph = once(graph, 'it has two graphs', readGraph(reader.message(), 0));
    else if (reader.field === 8) opsets.push(readOpset(reader.message()));
    else if (reader.field === 20) training = true;
    else if (reader.field === 25) functions++;
  }
  if (!graph) throw new WireError('it has no graph');
  if (irVersion < 1) throw new WireError('it has no IR version');
  return { irVersion, producer, opsets, graph, functions, training };
}

/** Refuses a repeated message field, which some readers merge and others replace. */
function once<T>(before: T | undefined, problem: string, value: T): T {
  if (before !== undefined) throw new WireError(problem);
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
  let name = '';
  let operator = '';
  let domain = '';
  const graphs: OnnxGraph[] = [];
  const tensors: OnnxTensor[] = [];
  const attributes = new Map<string, OnnxAttribute>();
  while (reader.next()) {
    if (reader.field === 1) inputs.push(reader.text());
    else if (reader.field === 2) outputs.push(reader.text());
    else if (reader.field === 3) name = reader.text();
    else if (reader.field === 4) operator = reader.text();
    else if (reader.field === 7) domain = reader.text();
    else if (reader.field === 5) {
      const [key, value] = readAttribute(reader.message(), depth, graphs, tensors);
      if (attributes.has(key)) throw new WireError(`an operator has two attributes ${quoted(key)}`);
      attributes.set(key, value);
    }
  }
  const single = attributes.get('value_int')?.int;
  const integers = single === undefined ? attributes.get('value_ints')?.ints : [single];
  return { name, operator, domain, inputs, outputs, graphs, tensors, attributes, integers };
}

const TWO_TENSORS = 'an attribute has two tensors';

/** Reads an attribute with its name, and appends its tensors and subgraphs to the lists. */
function readAttribute(
  reader: WireReader,
  depth: number,
  graphs: OnnxGraph[],
  tensors: OnnxTensor[],
): readonly [string, OnnxAttribute] {
  let name = '';
  let graph: OnnxGraph | undefined;
  let tensor: OnnxTensor | undefined;
  let int: number | undefined;
  let text: string | undefined;
  const single: number[] = [];
  const ints: number[] = [];
  const floats: number[] = [];
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 2) {
      // The last value of a repeated scalar counts.
      single.length = 0;
      reader.floats(single, 1);
    } else if (reader.field === 3) int = reader.int();
    else if (reader.field === 4) text = LATIN.decode(reader.bytes().subarray(0, MAX_WORD));
    else if (reader.field === 5) tensor = once(tensor, TWO_TENSORS, readTensor(reader.message()));
    else if (reader.field === 6)
      graph = once(graph, 'an attribute has two subgraphs', readGraph(reader.message(), depth + 1));
    else if (reader.field === 7) reader.floats(floats, SHAPE_SIZE + 1);
    else if (reader.field === 8) reader.ints(ints, SHAPE_SIZE + 1);
    else if (reader.field === 10) tensors.push(readTensor(reader.message()));
    else if (reader.field === 11) graphs.push(readGraph(reader.message(), depth + 1));
    else if (reader.field === 22) {
      const [values, ...places] = readSparse(reader.message());
      tensor = once(tensor, TWO_TENSORS, values);
      for (const place of places) tensors.push(place);
    } else if (reader.field === 23) for (const part of readSparse(reader.message())) tensors.push(part);
  }
  if (tensor) tensors.push(tensor);
  if (graph) graphs.push(graph);
  const nonEmpty = (list: readonly number[]) => (list.length > 0 ? list : undefined);
  return [
    name,
    { int, ints: nonEmpty(ints), float: single[0], floats: nonEmpty(floats), text, tensor, graph },
  ];
}

/** Reads a sparse tensor as the dense tensor that it represents and the indices of its values. */
function readSparse(reader: WireReader): OnnxTensor[] {
  const parts: OnnxTensor[] = [];
  const dims: number[] = [];
  while (reader.next()) {
    if (reader.field === 1 || reader.field === 2) parts.push(readTensor(reader.message()));
    else if (reader.field === 3) reader.ints(dims, MAX_RANK + 1);
  }
  const [values, ...places] = parts;
  if (!values) return [];
  checkDims(values.name, dims);
  const { name, type, external } = values;
  return [{ name, type, dims, external }, ...places];
}

/** @throws {WireError} for an impossible shape */
function checkDims(name: string, dims: readonly number[]): void {
  if (dims.length > MAX_RANK) throw new WireError(`a tensor has more than ${MAX_RANK} dimensions`);
  if (dims.some((size) => !Number.isSafeInteger(size) || size < 0))
    throw new WireError(`the tensor ${quoted(name)} has the invalid size ${dims.join('x')}`);
}

function readTensor(reader: WireReader): OnnxTensor {
  const dims: number[] = [];
  let type = 0;
  let name = '';
  let location = 0;
  const entries = new Map<string, string>();
  const listed: number[] = [];
  const listedShort: number[] = [];
  const listedFloats: number[] = [];
  let raw: Uint8Array | undefined;
  while (reader.next()) {
    if (reader.field === 1) reader.ints(dims, MAX_RANK + 1);
    else if (reader.field === 2) type = reader.int();
    else if (reader.field === 4) reader.floats(listedFloats, ROW_SIZE + 1);
    else if (reader.field === 5) reader.ints(listedShort, SHAPE_SIZE + 1);
    else if (reader.field === 7) reader.ints(listed, SHAPE_SIZE + 1);
    else if (reader.field === 8) name = reader.text();
    else if (reader.field === 9) raw = reader.bytes();
    else if (reader.field === 13) readEntry(reader.message(), entries);
    else if (reader.field === 14) location = reader.int();
  }
  checkDims(name, dims);
  const here = location === EXTERNAL ? undefined : type;
  const integers =
    here === INT64
      ? valuesOf(dims, listed, raw, SHAPE_SIZE, 8, (view, at) => Number(view.getBigInt64(at, true)))
      : here === INT32
        ? valuesOf(dims, listedShort, raw, SHAPE_SIZE, 4, (view, at) => view.getInt32(at, true))
        : undefined;
  const floats =
    here === FLOAT
      ? valuesOf(dims, listedFloats, raw, ROW_SIZE, 4, (view, at) => view.getFloat32(at, true))
      : undefined;
  const external = location === EXTERNAL || entries.size > 0 ? externalOf(name, entries) : undefined;
  return { name, type, dims, external, integers, floats };
}

function readEntry(reader: WireReader, entries: Map<string, string>): void {
  let key = '';
  let value = '';
  while (reader.next()) {
    if (reader.field === 1) key = reader.text();
    else if (reader.field === 2) value = reader.text();
  }
  if (entries.has(key)) throw new WireError(`a tensor states ${quoted(key)} of its file twice`);
  entries.set(key, value);
}

function externalOf(name: string, entries: ReadonlyMap<string, string>): NonNullable<OnnxTensor['external']> {
  const number = (key: string): number | null => {
    const text = entries.get(key);
    if (text === undefined) return null;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new WireError(`the tensor ${quoted(name)} has the invalid ${key} ${quoted(text)}`);
  };
  return { location: entries.get('location') ?? '', offset: number('offset') ?? 0, length: number('length') };
}

/** Values of a tensor of up to `limit` elements of `size` bytes, from its list or its raw bytes. */
function valuesOf(
  dims: readonly number[],
  listed: readonly number[],
  raw: Uint8Array | undefined,
  limit: number,
  size: number,
  get: (view: DataView, at: number) => number,
): readonly number[] | undefined {
  const count = dims.reduce((product, length) => product * length, 1);
  if (count > limit) return undefined;
  if (!raw) return listed.length === count ? listed : undefined;
  if (raw.length !== size * count) return undefined;
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  return Array.from({ length: count }, (_, i) => get(view, size * i));
}

function readPort(reader: WireReader): OnnxPort {
  let name = '';
  let type: Omit<OnnxPort, 'name'> | undefined;
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 2)
      type = once(type, 'an input or output has two types', readType(reader.message()));
  }
  return { name, ...(type ?? { type: null }) };
}

function readType(reader: WireReader): Omit<OnnxPort, 'name'> {
  let tensor: Omit<OnnxPort, 'name'> | undefined;
  while (reader.next()) {
    if (reader.field === 1)
      tensor = once(tensor, 'a type has two tensor types', readTensorType(reader.message()));
  }
  return tensor ?? { type: null };
}

function readTensorType(reader: WireReader): Omit<OnnxPort, 'name'> {
  let type = 0;
  let dims: (number | null)[] | undefined;
  while (reader.next()) {
    if (reader.field === 1) type = reader.int();
    else if (reader.field === 2)
      dims = once(dims, 'a tensor type has two shapes', readShape(reader.message()));
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
    // Some exporters write 0 or -1 for an unknown size.
    dims.push(size !== null && size > 0 ? size : null);
    if (dims.length > MAX_RANK) throw new WireError(`a tensor has more than ${MAX_RANK} dimensions`);
  }
  return dims;
}

/** Invalid encoding; the message is the end of a sentence. */
export class WireError extends Error {}

/** Most fields in all messages of a file, far more than any model within the size limit has. */
const MAX_FIELDS = 2_000_000;
/** Most bytes of a 64-bit varint. */
const MAX_VARINT = 10;

/** State shared by all messages of a file. */
class Budget {
  fields = 0;
  /** Refuses invalid UTF-8, which readers could decode to different names. */
  readonly text = new TextDecoder('utf-8', { fatal: true });
}

/** Reads one message: `next` moves to a field; another method reads its value, else the following `next` skips it. */
class WireReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #budget: Budget;
  readonly #end: number;
  #at: number;
  field = 0;
  #wire = 0;
  #taken = true;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length, budget = new Budget()) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
    this.#end = end;
    this.#budget = budget;
  }

  /** False at the end of the message. @throws {WireError} for an invalid field */
  next(): boolean {
    if (!this.#taken) this.#skip();
    if (this.#at === this.#end) return false;
    const at = this.#at;
    const key = this.#varint();
    this.field = Math.floor(key / 8);
    this.#wire = key % 8;
    this.#taken = false;
    if (key < 8 || key >= 2 ** 32 || ![0, 1, 2, 5].includes(this.#wire))
      throw new WireError(`the field at byte ${at} is invalid`);
    if (++this.#budget.fields > MAX_FIELDS) throw new WireError(`it has more than ${MAX_FIELDS} fields`);
    return true;
  }

  /** A varint as a signed 64-bit number, rounded beyond 2^53. */
  int(): number {
    this.#take(0);
    return this.#varint();
  }

  /** The bytes of a length-delimited field; a view. */
  bytes(): Uint8Array {
    const { start, end } = this.#range();
    return this.#bytes.subarray(start, end);
  }

  text(): string {
    const at = this.#at;
    try {
      return this.#budget.text.decode(this.bytes());
    } catch (error) {
      if (error instanceof WireError) throw error;
      throw new WireError(`the text at byte ${at} is not UTF-8`);
    }
  }

  message(): WireReader {
    const { start, end } = this.#range();
    return new WireReader(this.#bytes, start, end, this.#budget);
  }

  /** Appends a repeated field, packed or single. @param limit most numbers to keep; others are dropped */
  ints(into: number[], limit: number): void {
    if (this.#wire === 0) {
      const value = this.int();
      if (into.length < limit) into.push(value);
      return;
    }
    const packed = this.message();
    while (packed.#at < packed.#end && into.length < limit) into.push(packed.#varint());
  }

  /** As {@link ints}, of single precision. */
  floats(into: number[], limit: number): void {
    if (this.#wire === 5) {
      this.#take(5);
      if (this.#end - this.#at < 4) throw new WireError(`it ends within a number at byte ${this.#at}`);
      if (into.length < limit) into.push(this.#view.getFloat32(this.#at, true));
      this.#at += 4;
      return;
    }
    const { start, end } = this.#range();
    if ((end - start) % 4 !== 0) throw new WireError(`the numbers at byte ${start} are not of 4 bytes each`);
    for (let at = start; at < end && into.length < limit; at += 4) into.push(this.#view.getFloat32(at, true));
  }

  #take(wire: number): void {
    if (this.#wire !== wire)
      throw new WireError(`field ${this.field} before byte ${this.#at} has the wrong encoding`);
    this.#taken = true;
  }

  #range(): { start: number; end: number } {
    this.#take(2);
    const length = this.#varint();
    const start = this.#at;
    if (length < 0 || length > this.#end - start)
      throw new WireError(
        `the length before byte ${start} is ${length < 0 ? 'negative' : length}, but ${this.#end - start} bytes are left`,
      );
    this.#at = start + length;
    return { start, end: this.#at };
  }

  #skip(): void {
    if (this.#wire === 0) this.#varint();
    else if (this.#wire === 2) this.#range();
    else {
      const size = this.#wire === 1 ? 8 : 4;
      if (this.#end - this.#at < size) throw new WireError(`it ends within a number at byte ${this.#at}`);
      this.#at += size;
    }
    this.#taken = true;
  }

  #varint(): number {
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT; i++) {
      if (this.#at >= this.#end) throw new WireError(`it ends within a number at byte ${this.#at}`);
      const byte = this.#view.getUint8(this.#at++);
      const bits = byte & 0x7f;
      // Bits 0..27 go to the low half, 28..31 are shared, the rest to the high half.
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (7 * i - 32);
      if (byte < 0x80) return (high | 0) * 2 ** 32 + (low >>> 0);
    }
    throw new WireError(`the number before byte ${this.#at} has more than ${MAX_VARINT} bytes`);
  }
}
