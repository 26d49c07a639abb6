/**
 * @module tiny/onnx/operators
 * The operators that a tiny model may be made of: those of the default ONNX domain that compute on tensors, without
 * strings, sequences, random numbers, custom code or loops that nothing ends.
 */

/** Names of operators of the default domain. */
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

/** Domains that mean the default one. */
export const DEFAULT_DOMAINS: ReadonlySet<string> = new Set(['', 'ai.onnx']);
