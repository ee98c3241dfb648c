#include "services/extractor/core/describe/tags.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"
#include "services/extractor/core/describe/name_words.h"
#include "services/extractor/core/syntax/syntax_tree.h"

namespace kernelmill::extractor {
namespace {

using Words = Fragments::List;

// A tag is given if a fragment of `names` stands in the qualified name, where '_' is the end of a
// word; if the last part of a call to the language is one of `calls`; if a fragment of `parameters`
// stands in a parameter's name; or if all of `structure` are called, each word of it standing for
// the calls that kKinds lists.
struct Rule {
  absl::string_view tag;
  Words names;
  Words calls;
  Words parameters;
  Words structure;
};

// Calls that do the same for telling what a kernel does.
struct CallKind {
  absl::string_view kind;
  Words calls;
};

const CallKind kKinds[] = {
    {"dot", {"dot", "dot_scaled", "warpgroup_mma", "tcgen05_mma"}},
    {"exp", {"exp", "exp2", "fast_expf"}},
    {"max", {"max"}},
    {"root", {"rsqrt", "sqrt", "sqrt_rn"}},
    {"sum", {"sum"}},
};

const Rule kRules[] = {
    {"activation",
     {"relu", "gelu", "silu", "swish", "swiglu", "geglu", "_glu_", "sigmoid", "tanh", "activation",
      "_act_", "_mish_", "softplus"},
     {"sigmoid", "tanh", "erf", "gelu", "silu", "relu"},
     {},
     {}},
    {"attention",
     {"attn", "attention", "_mha_", "_mla_", "_gqa_", "_mqa_", "flash", "_sdpa_", "_nsa_", "_gla_",
      "delta_rule", "retention"},
     {},
     {"_block_table_", "_block_tables_", "_kv_cache_"},
     {"dot", "exp", "max"}},
    {"convolution", {"_conv_", "conv1d", "conv2d", "conv3d", "convolution"}, {}, {}, {}},
    {"cross entropy",
     {"cross_entropy", "crossentropy", "_xent_", "_ce_", "_nll", "_kldiv_", "_jsd_"},
     {},
     {"_label_smoothing_"},
     {}},
    {"decoding",
     {"decode", "decoding", "paged", "kv_cache", "kvcache", "speculative", "splitkv"},
     {},
     {},
     {}},
    {"dropout", {"dropout"}, {}, {"_dropout_p_", "_p_dropout_"}, {}},
    {"embedding", {"embedding", "_embed_"}, {}, {}, {}},
    {"matmul",
     {"matmul", "gemm", "_mm_", "_bmm_", "_addmm_", "_gemv_", "_mv_", "linear_fwd"},
     {"dot", "dot_scaled", "warpgroup_mma", "tcgen05_mma"},
     {},
     {}},
    {"memory",
     {"memcpy",   "_copy_",   "gather",       "scatter",       "transpose", "_permute_", "_fill_",
      "memset",   "_concat_", "_cat_",        "_stack_",       "vstack",    "hstack",    "_pad_",
      "_repeat_", "_index_",  "index_select", "masked_select", "_zeros_",   "_ones_",    "_full_"},
     {"gather"},
     {},
     {}},
    {"mixture of experts",
     {"_moe_", "expert", "grouped_gemm", "topk_gating"},
     {},
     {"expert", "_sorted_token_ids_"},
     {}},
    {"norm", {"norm_", "normaliz"}, {}, {}, {"root", "sum"}},
    {"optimizer",
     {"_adam", "_sgd_", "_lion_", "optimizer", "_muon_"},
     {},
     {"_exp_avg_", "_weight_decay_"},
     {}},
    {"quantization",
     {"quant_", "quantiz", "_int8_", "_int4_", "_w8a8_", "_w4a16_", "_fp4_", "_mxfp", "_awq_",
      "_gptq_"},
     {},
     {"_qweight_", "_qzeros_", "_zero_point_", "_zeros_ptr_"},
     {}},
    {"reduction",
     {"reduce", "reduction", "_sum_", "_mean_", "_argmax_", "_argmin_", "_var_"},
     {"sum", "reduce", "argmax", "argmin", "max", "min", "xor_sum"},
     {},
     {}},
    {"rotary embedding", {"rotary", "_rope_", "_mrope_"}, {}, {"_rotary_"}, {}},
    {"sampling", {"sampling", "_sample_", "top_p", "gumbel", "multinomial"}, {}, {}, {}},
    {"scan",
     {"cumsum", "cumprod", "_scan_", "prefix_sum"},
     {"cumsum", "cumprod", "associative_scan"},
     {},
     {}},
    {"softmax", {"softmax", "logsumexp", "_lse_"}, {"softmax"}, {}, {"exp", "max", "sum"}},
    {"sort", {"_sort_", "argsort", "topk", "top_k", "bitonic"}, {"sort", "topk"}, {}, {}},
    {"state space",
     {"_ssm_", "_ssd_", "mamba", "selective_scan", "selective_state", "chunk_state",
      "state_passing", "chunk_scan", "rwkv", "hgrn"},
     {},
     {},
     {}},
};

// A call to the language. Methods of local values say little.
struct LanguageCall {
  absl::string_view name;
  absl::string_view last;  // part of it
};

std::vector<LanguageCall> LanguageCallsOf(const v1::Kernel& kernel) {
  std::vector<LanguageCall> calls;
  for (const std::string& call : kernel.calls()) {
    if (absl::StartsWith(call, "triton.")) calls.push_back({call, LastPart(call)});
  }
  return calls;
}

// By rule: the fragment that applies, empty where none does.
using FragmentsByRule = std::array<absl::string_view, std::size(kRules)>;

Fragments FragmentsOf(Words Rule::*words) {
  std::vector<Words> lists;
  for (const Rule& rule : kRules) lists.push_back(rule.*words);
  return Fragments(lists);
}

// What stands in a name that comes before others counts.
void AddFragments(const Fragments& fragments, absl::string_view name, FragmentsByRule& by_rule) {
  for (const Fragments::Found& found : fragments.FindIn(WordsOf(name))) {
    if (by_rule[found.list].empty()) by_rule[found.list] = found.fragment;
  }
}

FragmentsByRule NameFragments(const v1::Kernel& kernel) {
  static const auto& fragments = *new Fragments(FragmentsOf(&Rule::names));
  FragmentsByRule by_rule;
  AddFragments(fragments, kernel.qualname(), by_rule);
  return by_rule;
}

FragmentsByRule ParameterFragments(const v1::Kernel& kernel) {
  static const auto& fragments = *new Fragments(FragmentsOf(&Rule::parameters));
  FragmentsByRule by_rule;
  for (const v1::Parameter& parameter : kernel.parameters()) {
    AddFragments(fragments, parameter.name(), by_rule);
  }
  return by_rule;
}

// The first call that is one of `names`; null if there is none.
const LanguageCall* FindCall(const std::vector<LanguageCall>& calls, const Words& names) {
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const LanguageCall& call) {
    return std::find(names.begin(), names.end(), call.last) != names.end();
  });
  return found == calls.end() ? nullptr : &*found;
}

bool CallsKind(const std::vector<LanguageCall>& calls, absl::string_view kind) {
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](const CallKind& entry) {
    return entry.kind == kind && FindCall(calls, entry.calls) != nullptr;
  });
}

bool HasStructure(const std::vector<LanguageCall>& calls, const Words& kinds) {
  return kinds.size() > 0 && std::all_of(kinds.begin(), kinds.end(), [&](absl::string_view kind) {
           return CallsKind(calls, kind);
         });
}

}  // namespace

void AddTags(v1::Kernel& kernel) {
  const std::vector<LanguageCall> calls = LanguageCallsOf(kernel);
  const FragmentsByRule in_name = NameFragments(kernel);
  const FragmentsByRule in_parameters = ParameterFragments(kernel);
  for (size_t i = 0; i < std::size(kRules); ++i) {  // sorted by tag
    const Rule& rule = kRules[i];
    std::string reason;
    if (!in_name[i].empty()) {
      reason = absl::StrCat("name:", in_name[i]);
    } else if (const LanguageCall* call = FindCall(calls, rule.calls)) {
      reason = absl::StrCat("call:", call->name);
    } else if (!in_parameters[i].empty()) {
      reason = absl::StrCat("parameter:", in_parameters[i]);
    } else if (HasStructure(calls, rule.structure)) {
      reason = absl::StrCat("structure:", absl::StrJoin(rule.structure, "+"));
    } else {
      continue;
    }
    v1::Tag& tag = *kernel.add_tags();
    tag.set_name(std::string(rule.tag));
    tag.set_rule(std::move(reason));
  }
}

}  // namespace kernelmill::extractor
