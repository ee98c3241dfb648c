#include "services/extractor/core/tags.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

// A tag is given if a fragment stands in the name, where '_' is the end of a word, or if the last
// part of a call is one of `calls`.
struct Rule {
  absl::string_view tag;
  std::initializer_list<absl::string_view> names;
  std::initializer_list<absl::string_view> calls;
};

const Rule kRules[] = {
    {"activation",
     {"relu", "gelu", "silu", "swish", "swiglu", "geglu", "_glu_", "sigmoid", "tanh", "activation",
      "_act_"},
     {"sigmoid", "tanh", "erf", "gelu", "silu", "relu"}},
    {"attention",
     {"attn", "attention", "_mha_", "_mla_", "_gqa_", "_mqa_", "flash", "_sdpa_", "_nsa_"},
     {}},
    {"convolution", {"conv"}, {}},
    {"cross entropy", {"cross_entropy", "crossentropy", "_xent_", "_ce_", "_nll_"}, {}},
    {"decoding",
     {"decode", "decoding", "paged", "kv_cache", "kvcache", "speculative", "splitkv"},
     {}},
    {"dropout", {"dropout"}, {}},
    {"embedding", {"embedding", "_embed_"}, {}},
    {"matmul",
     {"matmul", "gemm", "_mm_", "_bmm_", "_addmm_", "_gemv_", "_mv_", "linear_fwd"},
     {"dot", "dot_scaled", "warpgroup_mma", "tcgen05_mma"}},
    {"memory",
     {"memcpy", "_copy_", "gather", "scatter", "transpose", "_permute_", "_fill_", "memset",
      "_concat_", "_cat_"},
     {"gather"}},
    {"mixture of experts", {"_moe_", "expert", "grouped_gemm", "topk_gating"}, {}},
    {"norm", {"norm"}, {}},
    {"optimizer", {"_adam", "_sgd_", "_lion_", "optimizer", "_muon_"}, {}},
    {"quantization",
     {"quant", "_int8_", "_int4_", "_w8a8_", "_w4a16_", "_fp4_", "_mxfp", "_awq_", "_gptq_"},
     {}},
    {"reduction",
     {"reduce", "reduction", "_sum_", "_mean_", "_argmax_", "_argmin_", "_var_"},
     {"sum", "reduce", "argmax", "argmin", "xor_sum"}},
    {"rotary embedding", {"rotary", "_rope_", "_mrope_"}, {}},
    {"sampling", {"sampling", "_sample_", "top_p", "gumbel"}, {}},
    {"scan",
     {"cumsum", "cumprod", "_scan_", "prefix_sum"},
     {"cumsum", "cumprod", "associative_scan"}},
    {"softmax", {"softmax", "logsumexp", "_lse_"}, {"softmax"}},
    {"sort", {"_sort_", "argsort", "topk", "top_k", "bitonic"}, {"sort", "topk"}},
    {"state space",
     {"_ssm_", "_ssd_", "mamba", "selective_scan", "selective_state", "chunk_state",
      "state_passing", "chunk_scan"},
     {}},
};

// "_words_of_a_name_", in small letters; capitals within a word begin one of their own.
std::string Words(absl::string_view name) {
  std::string words = "_";
  for (size_t i = 0; i < name.size(); ++i) {
    const bool starts_word = absl::ascii_isupper(static_cast<unsigned char>(name[i])) && i > 0 &&
                             absl::ascii_islower(static_cast<unsigned char>(name[i - 1]));
    if (starts_word) words += '_';
    words += name[i] == '.' ? '_' : absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  return absl::StrCat(words, "_");
}

bool Applies(const Rule& rule, absl::string_view words, const std::vector<std::string>& calls) {
  for (const absl::string_view fragment : rule.names) {
    if (absl::StrContains(words, fragment)) return true;
  }
  for (const std::string& call : calls) {
    // Methods of local values say little; functions of the language are what counts.
    if (!absl::StartsWith(call, "triton.")) continue;
    const absl::string_view last = absl::string_view(call).substr(call.rfind('.') + 1);
    if (std::find(rule.calls.begin(), rule.calls.end(), last) != rule.calls.end()) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> TagsOf(absl::string_view qualname, const std::vector<std::string>& calls) {
  const std::string words = Words(qualname);
  std::vector<std::string> tags;
  for (const Rule& rule : kRules) {
    if (Applies(rule, words, calls)) tags.emplace_back(rule.tag);
  }
  return tags;  // the table is sorted
}

}  // namespace kernelmill::extractor
