#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "client/catalog/describe/description.h"

namespace kernelmill::client {
namespace {

struct Phrase {
  absl::string_view tag;
  absl::string_view words;
  absl::string_view broader = {};  // a tag that it implies
};

// docs/dataset.md says what each tag means.
constexpr Phrase kPhrases[] = {
    {"activation", "an activation function"},
    {"attention", "attention"},
    {"backward", "a backward pass"},
    {"batch_norm", "batch normalization", "norm"},
    {"batched_gemm", "batched matrix products", "matmul"},
    {"cast", "a conversion of types"},
    {"communication", "communication between devices"},
    {"concat", "concatenation"},
    {"convolution", "convolution"},
    {"copy", "copying"},
    {"cross_entropy", "cross entropy", "loss"},
    {"dequantization", "dequantization"},
    {"dropout", "dropout"},
    {"elementwise", "arithmetic on elements"},
    {"embedding", "embeddings"},
    {"fft", "a Fourier transform"},
    {"fill", "filling with values"},
    {"gather", "gathering by index"},
    {"group_norm", "group normalization", "norm"},
    {"grouped_gemm", "grouped matrix products", "matmul"},
    {"hadamard", "a Hadamard transform"},
    {"hashing", "hashing"},
    {"histogram", "a histogram"},
    {"instance_norm", "instance normalization", "norm"},
    {"interpolation", "interpolation"},
    {"jagged", "sequences of different lengths"},
    {"kv_cache", "a cache of keys and values"},
    {"l2_norm", "L2 normalization", "norm"},
    {"layer_norm", "layer normalization", "norm"},
    {"layout", "a change of layout"},
    {"linear_algebra", "linear algebra"},
    {"linear_attention", "linear attention"},
    {"lora", "low-rank adapters (LoRA)"},
    {"loss", "a loss"},
    {"masking", "masking"},
    {"matmul", "a matrix product"},
    {"moe", "a mixture of experts"},
    {"norm", "normalization"},
    {"optimizer", "an optimizer's step"},
    {"padding", "padding"},
    {"permutation", "permutation"},
    {"pooling", "pooling"},
    {"quantization", "quantization, or quantized values"},
    {"random", "random numbers"},
    {"reduction", "a reduction"},
    {"rms_norm", "RMS normalization", "norm"},
    {"rope", "rotary position embedding"},
    {"sampling", "sampling"},
    {"scan", "a scan (running sums or the like)"},
    {"scatter", "scattering by index"},
    {"scheduling", "scheduling of other kernels' work"},
    {"search", "search"},
    {"select", "selection"},
    {"softmax", "softmax"},
    {"sort", "sorting"},
    {"sparse", "sparse matrices"},
    {"state_space", "a state space model"},
    {"topk", "top-k selection"},
    {"transpose", "transposition"},
};

const Phrase* FindPhrase(const std::string& tag) {
  const auto* const at = std::find_if(std::begin(kPhrases), std::end(kPhrases),
                                      [&](const Phrase& phrase) { return phrase.tag == tag; });
  return at == std::end(kPhrases) ? nullptr : at;
}

bool IsImplied(const CatalogKernel& kernel, const std::string& tag) {
  return std::any_of(kernel.tags.begin(), kernel.tags.end(), [&](const std::string& other) {
    const Phrase* const phrase = FindPhrase(other);
    return phrase != nullptr && phrase->broader == tag;
  });
}

}  // namespace

std::string TagPhrase(const std::string& tag) {
  const Phrase* const phrase = FindPhrase(tag);
  return phrase == nullptr ? absl::StrReplaceAll(tag, {{"_", " "}}) : std::string(phrase->words);
}

std::vector<std::string> OperationPhrases(const CatalogKernel& kernel) {
  std::vector<std::string> phrases;
  for (const std::string& tag : kernel.tags) {
    if (tag != "backward" && !IsImplied(kernel, tag)) phrases.push_back(TagPhrase(tag));
  }
  return phrases;
}

}  // namespace kernelmill::client
