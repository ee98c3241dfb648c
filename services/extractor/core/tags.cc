#include "services/extractor/core/tags.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/name_words.h"
#include "services/extractor/core/syntax_tree.h"

namespace kernelmill::extractor {
namespace {

using Words = std::initializer_list<absl::string_view>;

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

bool IsIn(const Words& words, absl::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What the rules look at.
struct Facts {
  std::string name;
  std::vector<std::string> parameters;
  // Methods of local values say little; functions of the language are what counts.
  std::vector<absl::string_view> calls;
};

Facts FactsOf(const v1::Kernel& kernel) {
  Facts facts;
  facts.name = WordsOf(kernel.qualname());
  for (const v1::Parameter& parameter : kernel.parameters()) {
    facts.parameters.push_back(WordsOf(parameter.name()));
  }
  for (const std::string& call : kernel.calls()) {
    if (absl::StartsWith(call, "triton.")) facts.calls.push_back(call);
  }
  return facts;
}

bool CallsAny(const Facts& facts, const Words& names) {
  return std::any_of(facts.calls.begin(), facts.calls.end(),
                     [&](absl::string_view call) { return IsIn(names, LastPart(call)); });
}

bool CallsKind(const Facts& facts, absl::string_view kind) {
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](const CallKind& entry) {
    return entry.kind == kind && CallsAny(facts, entry.calls);
  });
}

std::string NameRule(const Rule& rule, const Facts& facts) {
  const absl::string_view fragment = FindFragment(facts.name, rule.names);
  return fragment.empty() ? "" : absl::StrCat("name:", fragment);
}

std::string CallRule(const Rule& rule, const Facts& facts) {
  for (const absl::string_view call : facts.calls) {
    if (IsIn(rule.calls, LastPart(call))) return absl::StrCat("call:", call);
  }
  return "";
}

std::string ParameterRule(const Rule& rule, const Facts& facts) {
  for (const std::string& parameter : facts.parameters) {
    const absl::string_view fragment = FindFragment(parameter, rule.parameters);
    if (!fragment.empty()) return absl::StrCat("parameter:", fragment);
  }
  return "";
}

std::string StructureRule(const Rule& rule, const Facts& facts) {
  const bool applies = rule.structure.size() > 0 &&
                       std::all_of(rule.structure.begin(), rule.structure.end(),
                                   [&](absl::string_view kind) { return CallsKind(facts, kind); });
  return applies ? absl::StrCat("structure:", absl::StrJoin(rule.structure, "+")) : "";
}

}  // namespace

void AddTags(v1::Kernel& kernel) {
  const Facts facts = FactsOf(kernel);
  for (const Rule& rule : kRules) {  // sorted by tag
    for (const auto find : {NameRule, CallRule, ParameterRule, StructureRule}) {
      std::string reason = find(rule, facts);
      if (reason.empty()) continue;
      v1::Tag& tag = *kernel.add_tags();
      tag.set_name(std::string(rule.tag));
      tag.set_rule(std::move(reason));
      break;
    }
  }
}

}  // namespace kernelmill::extractor
