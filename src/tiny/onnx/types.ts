/**
 * @module tiny/onnx/types
 * Facts of a graph, and the bytes that were checked.
 */

/** An input or output of a graph. */
export interface TinyPort {
  readonly name: string;
  /** Numbers of ONNX's TensorProto.DataType: 1 float32, 7 int64, 10 float16, 11 float64. */
  readonly type: number;
  /** `null` for symbolic or unknown sizes; absent if the rank is unknown. */
  readonly dims?: readonly (number | null)[];
}

/** Facts about the graph of a checked model. */
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
  /** Number of elements in all initializers. */
  readonly parameters: number;
  /** Files with weights, relative to the model's folder. */
  readonly external: readonly string[];
  /** By input, the small constant that the graph subtracts first: the mean of a scaler. */
  readonly centres?: Readonly<Record<string, readonly number[]>>;
}

/** The checked bytes of a model for a runtime, which reads nothing from disk. */
export interface TinyProgram {
  readonly bytes: Uint8Array;
  /** Files with weights, by the graph's names for them. */
  readonly external: readonly { readonly path: string; readonly bytes: Uint8Array }[];
}
