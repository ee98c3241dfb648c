#include "services/extractor/core/describe/features.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"

namespace kernelmill::extractor {

// The basic idea: a feature is a row of a table, and a set of features 64 bits. Every part of a
// resolved name is looked up: triton.language.extra.libdevice.exp has libdevice. Patterns without
// '*' are found by a hash table, the few others one by one. Names repeat within a file, so that
// each is resolved once; a name is not resolved at all if its first part cannot be Triton's.

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

using Patterns = std::initializer_list<absl::string_view>;  // '*' at an end matches anything

// A row of the table: a feature, and what uses it.
struct Feature {
  absl::string_view word;
  Patterns names;    // last parts of names of the language
  Patterns options;  // keywords of arguments
};

// Sorted by word.
const Feature kFeatures[] = {
    {"assertions", {"device_assert", "static_assert"}, {}},
    {"async_copy", {"async_copy*", "async_copy"}, {}},
    {"atomics", {"atomic_*", "buffer_atomic_*"}, {}},
    {"block_pointers", {"make_block_ptr"}, {}},
    {"cache_hints", {}, {"cache_modifier", "eviction_policy"}},
    {"compiler_hints", {"multiple_of", "max_contiguous", "max_constancy", "assume"}, {}},
    {"custom_reductions", {"reduce"}, {}},
    {"custom_scans", {"associative_scan"}, {}},
    {"dot", {"dot"}, {}},
    {"dot_scaled", {"dot_scaled"}, {}},
    {"float8", {"float8*"}, {}},
    {"gather", {"gather"}, {}},
    {"histograms", {"histogram"}, {}},
    {"inline_asm", {"inline_asm_elementwise"}, {}},
    {"input_precision", {}, {"input_precision", "allow_tf32"}},
    {"layouts", {"*Layout", "convert_layout", "set_auto_layout"}, {}},
    {"libdevice", {"libdevice"}, {}},
    {"mbarriers", {"mbarrier"}, {}},
    {"mma", {"warpgroup_mma*", "tcgen05_mma*", "mma_v2", "mfma*", "wmma*"}, {}},
    // tl.range; Python's own range resolves to no name of Triton.
    {"pipelined_loops", {"range"}, {}},
    {"printing", {"device_print", "static_print"}, {}},
    {"random", {"rand", "randn", "randint", "rand4x", "randn4x", "randint4x", "philox*"}, {}},
    {"scans", {"cumsum", "cumprod"}, {}},
    {"shape_changes",
     {"reshape", "view", "trans", "permute", "join", "split", "interleave", "cat", "ravel"},
     {}},
    {"shared_memory", {"allocate_shared_memory", "shared_memory_descriptor"}, {}},
    {"sorts", {"sort", "topk"}, {}},
    {"static_loops", {"static_range"}, {}},
    {"tensor_descriptors",
     {"make_tensor_descriptor", "_experimental_make_tensor_descriptor", "tensor_descriptor",
      "tensor_descriptor_type", "TensorDescriptor", "_experimental_descriptor_load",
      "_experimental_descriptor_store"},
     {}},
    {"tensor_memory", {"allocate_tensor_memory", "tensor_memory_descriptor", "TensorMemory*"}, {}},
    {"tma", {"tma"}, {}},
    {"warp_specialization", {"warp_specialize"}, {"warp_specialize"}},
};

static_assert(std::size(kFeatures) <= 64, "a set of rows must fit into uint64_t");

// Returns whether a pattern with '*' matches the name.
bool Matches(absl::string_view pattern, absl::string_view name) {
  if (absl::ConsumePrefix(&pattern, "*")) return absl::EndsWith(name, pattern);
  return absl::ConsumeSuffix(&pattern, "*") && absl::StartsWith(name, pattern);
}

// The patterns of one column of the table. Finds the rows whose patterns match a word.
class Matcher {
 public:
  explicit Matcher(Patterns Feature::*patterns) {
    for (size_t row = 0; row < std::size(kFeatures); ++row) {
      for (const absl::string_view pattern : kFeatures[row].*patterns) {
        Add(pattern, uint64_t{1} << row);
      }
    }
  }

  uint64_t FindRows(absl::string_view word) const {
    const auto whole = words_.find(word);
    uint64_t found = whole == words_.end() ? 0 : whole->second;
    for (const auto& [pattern, place] : open_) {
      if (Matches(pattern, word)) found |= place;
    }
    return found;
  }

 private:
  void Add(absl::string_view pattern, uint64_t place) {
    if (pattern.find('*') == absl::string_view::npos) {
      words_[pattern] |= place;
    } else {
      open_.emplace_back(pattern, place);
    }
  }

  absl::flat_hash_map<absl::string_view, uint64_t> words_;
  std::vector<std::pair<absl::string_view, uint64_t>> open_;  // those with '*'
};

const Matcher& Names() {
  static const auto& names = *new Matcher(&Feature::names);
  return names;
}

const Matcher& Options() {
  static const auto& options = *new Matcher(&Feature::options);
  return options;
}

// Returns the words of a set of rows; sorted.
std::vector<absl::string_view> ToWords(uint64_t rows) {
  std::vector<absl::string_view> words;
  for (size_t row = 0; row < std::size(kFeatures); ++row) {
    if ((rows >> row & 1) != 0) words.push_back(kFeatures[row].word);
  }
  return words;
}

// Returns the rows for a resolved name. Modules of the language count as well: libdevice.exp.
uint64_t FindNameRows(absl::string_view resolved) {
  if (!absl::StartsWith(resolved, "triton.")) return 0;
  uint64_t found = 0;
  for (absl::string_view rest = resolved; !rest.empty();) {
    const absl::string_view last = LastPart(rest);
    found |= Names().FindRows(last);
    rest.remove_suffix(std::min(rest.size(), last.size() + 1));
  }
  return found;
}

// Returns whether the node is a whole dotted name, and not a part of one or a keyword's name.
bool IsWholeName(const SyntaxTree& tree, NodeId node) {
  return tree.GetKind(tree[node].parent) != Kind::kAttribute && tree[node].field != Field::kName;
}

}  // namespace

FeatureFinder::FeatureFinder(const SyntaxTree& tree, const ImportMap& imports)
    : tree_(tree), imports_(imports), heads_(imports.NamesBelow("triton")) {}

// Attributes and names that are not a part of a longer name; keywords of arguments.
std::vector<absl::string_view> FeatureFinder::FindFeatures(NodeId root) {
  Set found = 0;
  for (const NodeId node : tree_.Of(Kind::kAttribute, root)) {
    if (IsWholeName(tree_, node) && MayBeOfLanguage(node)) found |= ReadName(node);
  }
  for (const NodeId node : tree_.Of(Kind::kIdentifier, root)) {
    if (IsHead(tree_.GetText(node)) && IsWholeName(tree_, node)) found |= ReadName(node);
  }
  // Options count by their keyword alone, whatever function takes them.
  for (const NodeId node : tree_.Of(Kind::kKeywordArgument, root)) {
    const NodeId name = tree_.Child(node, Field::kName);
    if (name != kNoNode) found |= Options().FindRows(tree_.GetText(name));
  }
  return ToWords(found);
}

// Returns false if the first part of the name shows that it is not of the language. Without
// building the name: the object of an attribute is the next node in pre-order, down to the first
// part.
bool FeatureFinder::MayBeOfLanguage(NodeId name) const {
  for (; tree_.GetKind(name) == Kind::kAttribute; ++name) {
    if (tree_.IsLeaf(name) || tree_[name + 1].field != Field::kObject) return true;
  }
  return tree_.GetKind(name) != Kind::kIdentifier || IsHead(tree_.GetText(name));
}

bool FeatureFinder::IsHead(absl::string_view text) const {
  return std::find(heads_.begin(), heads_.end(), text) != heads_.end();
}

// Long names are not of the language, so they are not cached.
FeatureFinder::Set FeatureFinder::ReadName(NodeId name) {
  constexpr size_t kMaxKnown = 128;
  const absl::string_view text = tree_.GetText(name);
  if (text.size() > kMaxKnown) return ResolveName(name);
  const auto [known, inserted] = known_.try_emplace(text, 0);
  if (inserted) known->second = ResolveName(name);
  return known->second;
}

FeatureFinder::Set FeatureFinder::ResolveName(NodeId name) const {
  return FindNameRows(imports_.Resolve(DottedExpression(tree_, name)));
}

std::vector<absl::string_view> FindFeatures(absl::string_view resolved) {
  return ToWords(FindNameRows(resolved));
}

}  // namespace kernelmill::extractor
