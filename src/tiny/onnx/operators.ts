/**
 * @module tiny/onnx/operators
 * The operators that tiny models may use: those of the default ONNX domain that compute on tensors, without strings,
 * sequences, random numbers, custom code or unbounded loops.
 */

/** Operators of the default domain. */
export const ALLOWED_OPERATORS: ReadonlySet<string> = new Set(
  [
    'Identity Reshape Flatten Squeeze Unsqueeze Transpose Concat Slice Gather Cast Shape Expand',
    'Add Sub Mul Div Neg Abs Sqrt Pow Exp Log Clip Min Max Sum Mean',
    'ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd GlobalAveragePool GlobalMaxPool',
    'Gemm MatMul Conv ConvTranspose MaxPool AveragePool Resize',
    'BatchNormalization LayerNormalization InstanceNormalization',
    'Relu LeakyRelu Sigmoid Tanh Softmax Elu Selu Softplus Softsign Gelu Erf HardSigmoid HardSwish PRelu',
    'Dropout',
    'QuantizeLinear DequantizeLinear DynamicQuantizeLinear MatMulInteger ConvInteger',
    'Constant ConstantOfShape Pad Reciprocal GatherND ScatterND BitShift',
    'Loop If',
  ].flatMap((line) => line.split(' ')),
);

/** Names of the default domain. */
export const DEFAULT_DOMAINS: ReadonlySet<string> = new Set(['', 'ai.onnx']);
