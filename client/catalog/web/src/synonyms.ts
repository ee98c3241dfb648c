// Words of kernels that mean the same. A phrase of two words is one word: `crossentropy`.
const GROUPS = [
  "matmul gemm mm",
  "groupedgemm groupedmatmul groupedmm gmm",
  "rope rotary",
  "attn attention",
  "bwd backward grad",
  "fwd forward",
  "quant quantize quantization quantized",
  "dequant dequantize dequantization",
  "conv convolution",
  "crossentropy xent ce",
  "moe expert experts mixtureofexperts",
  "reduce reduction",
  "embed embedding",
  "fp8 float8 f8",
  "fp4 float4",
  "int4 w4 4bit",
  "kldivergence kldiv kl",
  "layernorm ln",
  "batchnorm bn",
  "groupnorm gn",
  "norm normalization",
  "ssm statespace",
  "permute permutation",
  "sample sampling",
  "pool pooling",
  "maxpool maxpooling",
  "avgpool avgpooling",
  "transpose transposed",
  "decode decoding",
  "optim optimizer",
  "lse logsumexp",
  "act activation",
  "dist distributed",
  "allreduce allreduction",
  "cumsum prefixsum cumulativesum",
  "cumprod cumulativeproduct",
  "gemv matvec mv matrixvector",
  "bmm batchedgemm batchedmatmul",
  "var variance",
  "std stddev standarddeviation",
  "mean average",
  "mul multiply multiplication",
  "add addition",
  "sub subtract subtraction",
  "div divide division",
  "cos cosine",
  "exp exponential",
  "rand random",
  "interpolate interpolation upsample resize",
  "concat concatenate cat",
  "argsort sort",
  "mask masked masking",
];

const bySynonym = new Map<string, string[]>();
for (const group of GROUPS) {
  const words = group.split(" ");
  for (const word of words) bySynonym.set(word, words);
}

export function getSynonyms(word: string): readonly string[] {
  return bySynonym.get(word) ?? [];
}
