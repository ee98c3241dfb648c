#include "services/extractor/core/features.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace kernelmill::extractor {
namespace {

struct Feature {
  absl::string_view word;
  // Last parts of names of the language; '*' at an end stands for anything.
  std::initializer_list<absl::string_view> names;
};

const Feature kFeatures[] = {
    {"assertions", {"device_assert", "static_assert"}},
    {"async_copy", {"async_copy*", "async_copy"}},
    {"atomics", {"atomic_*", "buffer_atomic_*"}},
    {"block_pointers", {"make_block_ptr"}},
    {"compiler_hints", {"multiple_of", "max_contiguous", "max_constancy", "assume"}},
    {"custom_reductions", {"reduce"}},
    {"custom_scans", {"associative_scan"}},
    {"dot", {"dot"}},
    {"dot_scaled", {"dot_scaled"}},
    {"float8", {"float8*"}},
    {"gather", {"gather"}},
    {"histograms", {"histogram"}},
    {"inline_asm", {"inline_asm_elementwise"}},
    {"layouts", {"*Layout", "convert_layout", "set_auto_layout"}},
    {"libdevice", {"libdevice"}},
    {"mbarriers", {"mbarrier"}},
    {"mma", {"warpgroup_mma*", "tcgen05_mma*", "mma_v2", "mfma*", "wmma*"}},
    {"pipelined_loops", {"range"}},
    {"printing", {"device_print", "static_print"}},
    {"random", {"rand", "randn", "randint", "rand4x", "randn4x", "randint4x", "philox*"}},
    {"scans", {"cumsum", "cumprod"}},
    {"shape_changes",
     {"reshape", "view", "trans", "permute", "join", "split", "interleave", "cat", "ravel"}},
    {"shared_memory", {"allocate_shared_memory", "shared_memory_descriptor"}},
    {"sorts", {"sort", "topk"}},
    {"static_loops", {"static_range"}},
    {"tensor_descriptors",
     {"make_tensor_descriptor", "_experimental_make_tensor_descriptor", "tensor_descriptor",
      "tensor_descriptor_type", "TensorDescriptor", "_experimental_descriptor_load",
      "_experimental_descriptor_store"}},
    {"tensor_memory", {"allocate_tensor_memory", "tensor_memory_descriptor", "TensorMemory*"}},
    {"tma", {"tma"}},
    {"warp_specialization", {"warp_specialize"}},
};

const Feature kOptions[] = {
    {"cache_hints", {"cache_modifier", "eviction_policy"}},
    {"input_precision", {"input_precision", "allow_tf32"}},
    {"warp_specialization", {"warp_specialize"}},
};

bool Matches(absl::string_view pattern, absl::string_view name) {
  if (absl::ConsumePrefix(&pattern, "*")) return absl::EndsWith(name, pattern);
  if (absl::ConsumeSuffix(&pattern, "*")) return absl::StartsWith(name, pattern);
  return name == pattern;
}

bool MatchesAny(const Feature& feature, absl::string_view name) {
  return std::any_of(feature.names.begin(), feature.names.end(),
                     [&](absl::string_view pattern) { return Matches(pattern, name); });
}

// A dotted name as a whole, not its parts: they are below it. No name of a keyword either.
bool IsWholeName(const SyntaxTree& tree, NodeId node) {
  const Kind kind = tree.KindOf(node);
  if (kind != Kind::kAttribute && kind != Kind::kIdentifier) return false;
  const NodeId parent = tree[node].parent;
  return tree.KindOf(parent) != Kind::kAttribute && tree[node].field != Field::kName;
}

class FeatureFinder {
 public:
  explicit FeatureFinder(const ParsedFile& file) : file_(file) {}

  void Visit(NodeId node) {
    const SyntaxTree& tree = file_.tree;
    if (tree.KindOf(node) == Kind::kKeywordArgument) {
      const NodeId name = tree.Child(node, Field::kName);
      if (name != kNoNode) AddOption(tree.TextOf(name));
    } else if (IsWholeName(tree, node) && IsNew(tree.TextOf(node))) {
      const std::string name = file_.imports.Resolve(DottedExpression(tree, node));
      if (absl::StartsWith(name, "triton.")) AddName(name);
    }
  }

  const std::set<absl::string_view>& found() const { return found_; }

 private:
  // Most names come again and again. Long ones are none of the language's.
  bool IsNew(absl::string_view text) {
    constexpr size_t kMaxKnown = 128;
    return text.size() > kMaxKnown || known_.insert(text).second;
  }

  // Modules within the language count as well: libdevice.exp.
  void AddName(absl::string_view name) {
    while (!name.empty()) {
      const absl::string_view last = LastPart(name);
      for (const Feature& feature : kFeatures) {
        if (MatchesAny(feature, last)) found_.insert(feature.word);
      }
      name.remove_suffix(std::min(name.size(), last.size() + 1));
    }
  }

  void AddOption(absl::string_view keyword) {
    for (const Feature& option : kOptions) {
      if (MatchesAny(option, keyword)) found_.insert(option.word);
    }
  }

  const ParsedFile& file_;
  absl::flat_hash_set<absl::string_view> known_;
  std::set<absl::string_view> found_;
};

}  // namespace

void AddFeatures(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel) {
  FeatureFinder finder(file);
  const SyntaxNode& definition = file.tree[function.definition];
  for (NodeId node = function.definition; node < definition.subtree_end; ++node) {
    finder.Visit(node);
  }
  for (const absl::string_view feature : finder.found()) kernel.add_features(std::string(feature));
}

}  // namespace kernelmill::extractor
