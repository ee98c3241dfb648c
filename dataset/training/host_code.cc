#include "dataset/training/host_code.h"

#include <algorithm>
#include <array>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/docstring.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::dataset {
namespace {

using absl::string_view;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

using NameSet = absl::flat_hash_set<string_view>;

// The usual names of packages that every engineer knows: their members need not be listed.
constexpr std::array<string_view, 27> kWellKnown = {
    "F",         "collections", "contextlib", "copy",  "ct",       "dist",  "enum",
    "functools", "inspect",     "itertools",  "jax",   "jnp",      "lax",   "logging",
    "math",      "nn",          "np",         "numpy", "operator", "os",    "pl",
    "random",    "sys",         "time",       "tl",    "torch",    "triton"};

// Parameters whose members belong to a class that the question does not show.
constexpr std::array<string_view, 3> kOwners = {"cls", "ctx", "self"};

// Members of torch.autograd's context.
constexpr std::array<string_view, 7> kContextMembers = {
    "mark_dirty",    "mark_non_differentiable", "needs_input_grad", "save_for_backward",
    "saved_tensors", "set_materialize_grads",   "save_for_forward"};

template <size_t kSize>
bool IsIn(const std::array<string_view, kSize>& words, string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Returns the names that the module's own scope binds, also by imports.
NameSet GetDefined(const SyntaxTree& module) {
  const python::Bindings bindings(module);
  NameSet names;
  for (NodeId node = module.FirstChild(0); node != kNoNode; node = module.NextSibling(node)) {
    for (const string_view name : bindings.BoundNames(node)) names.insert(name);
  }
  return names;
}

// Returns the first function of the launcher, with its decorators; kNoNode if it has none at its
// margin.
NodeId FindFunction(const SyntaxTree& tree) {
  for (NodeId node = tree.FirstChild(0); node != kNoNode; node = tree.NextSibling(node)) {
    const Kind kind = tree.GetKind(node);
    if (kind == Kind::kFunctionDefinition || kind == Kind::kDecoratedDefinition) return node;
  }
  return kNoNode;
}

// Returns the end of the docstring of a block; the block's start if it has no docstring.
uint32_t FindEndOfDocstring(const SyntaxTree& tree, NodeId block) {
  const NodeId first = python::FindFirstStatement(tree, block);
  const bool documents = first != kNoNode && python::FindDocstring(tree, first) != kNoNode;
  return documents ? tree[first].end : tree[block].start;
}

// The first function of the launcher: its bytes from its decorators to the colon or the end of its
// docstring. Empty if the launcher is statements.
struct Head {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool has_parameters = false;
};

bool HasParameters(const SyntaxTree& tree, NodeId function) {
  const NodeId list = tree.Child(function, Field::kParameters);
  if (list == kNoNode) return false;
  for (NodeId node = tree.FirstChild(list); node != kNoNode; node = tree.NextSibling(node)) {
    const string_view text = tree.GetText(node);
    if (!python::IsLayout(tree.GetKind(node)) && text != "self" && text != "cls") return true;
  }
  return false;
}

Head FindHead(const SyntaxTree& tree) {
  const NodeId outer = FindFunction(tree);
  if (outer == kNoNode) return {};
  const NodeId function = tree.GetKind(outer) == Kind::kDecoratedDefinition
                              ? tree.Child(outer, Kind::kFunctionDefinition)
                              : outer;
  if (function == kNoNode) return {};
  const NodeId block = tree.Child(function, Field::kBody);
  if (block == kNoNode) return {};
  return {tree[outer].start, FindEndOfDocstring(tree, block), HasParameters(tree, function)};
}

// Collects the names of a launcher that come from elsewhere.
class NameCollector {
 public:
  // Names that the head has are shown by it.
  NameCollector(const SyntaxTree& tree, const NameSet& defined, Head head, string_view kernel)
      : tree_(tree), bindings_(tree), kernel_(kernel) {
    for (const string_view name : bindings_.FreeNames(0)) {
      if (!defined.contains(name) && name != kernel) free_.insert(name);
    }
    for (const NodeId node : tree_.Of(Kind::kIdentifier)) {
      if (tree_[node].start >= head.begin && tree_[node].end <= head.end) {
        free_.erase(tree_.GetText(node));
      }
    }
  }

  HostCode Run() {
    for (const NodeId node : tree_.Of(Kind::kIdentifier)) Add(node);
    HostCode code;
    code.launched = FindLaunched();
    for (const std::string& name : code.launched) names_.erase(name);
    code.names.assign(names_.begin(), names_.end());
    return code;
  }

 private:
  // Returns whether the identifier is a name and not a member or a keyword.
  bool IsName(NodeId node) const {
    const python::SyntaxNode& at = tree_[node];
    if (at.field == Field::kAttribute) return false;
    return at.parent == kNoNode || at.field != Field::kName ||
           tree_.GetKind(at.parent) != Kind::kKeywordArgument;
  }

  // Returns the node around `node` if that is its member.
  NodeId FindMember(NodeId node) const {
    const NodeId parent = tree_[node].parent;
    if (parent == kNoNode || tree_.GetKind(parent) != Kind::kAttribute) return kNoNode;
    return tree_[node].field == Field::kObject ? parent : kNoNode;
  }

  void Add(NodeId node) {
    const string_view name = tree_.GetText(node);
    if (!IsName(node)) return;
    if (IsIn(kOwners, name)) return AddOwned(node);
    if (!free_.contains(name)) return;
    NodeId whole = node;
    if (!IsIn(kWellKnown, name)) {
      for (NodeId at = node; at != kNoNode; at = FindMember(at)) whole = at;
    }
    const std::string dotted = python::DottedExpression(tree_, whole);
    names_.insert(dotted.empty() ? std::string(name) : dotted);
  }

  // Adds the member of self, cls or ctx, unless the launcher sets it here.
  void AddOwned(NodeId node) {
    const NodeId member = FindMember(node);
    if (member == kNoNode) return;
    const NodeId attribute = tree_.Child(member, Field::kAttribute);
    if (attribute == kNoNode) return;
    const string_view name = tree_.GetText(attribute);
    if (tree_.GetText(node) == "ctx" && IsIn(kContextMembers, name)) return;
    const std::string dotted = absl::StrCat(tree_.GetText(node), ".", name);
    const NodeId parent = tree_[member].parent;
    const bool is_set = parent != kNoNode && tree_.GetKind(parent) == Kind::kAssignment &&
                        tree_[member].field == Field::kLeft;
    if (!is_set) names_.insert(dotted);
  }

  // Looks for NAME[...](...), where NAME or what it is a member of comes from elsewhere.
  std::vector<std::string> FindLaunched() const {
    std::set<std::string> launched;
    for (const NodeId call : tree_.Of(Kind::kCall)) {
      const NodeId function = tree_.Child(call, Field::kFunction);
      if (function == kNoNode || tree_.GetKind(function) != Kind::kSubscript) continue;
      const NodeId value = tree_.Child(function, Field::kValue);
      if (value == kNoNode) continue;
      const std::string dotted = python::DottedExpression(tree_, value);
      const bool is_other = LastPart(dotted) != kernel_;
      if (free_.contains(FirstPart(dotted)) && is_other) launched.insert(dotted);
    }
    return {launched.begin(), launched.end()};
  }

  const SyntaxTree& tree_;
  const python::Bindings bindings_;
  const string_view kernel_;
  NameSet free_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<HostCode> ReadHostCode(string_view launcher, string_view module, string_view kernel) {
  const python::StandardParser parser;
  const absl::StatusOr<SyntaxTree> shown = parser.Parse(module);
  const absl::StatusOr<SyntaxTree> tree = parser.Parse(launcher);
  if (!shown.ok() || !tree.ok() || shown->has_errors() || tree->has_errors()) return std::nullopt;
  const Head head = FindHead(*tree);
  HostCode code = NameCollector(*tree, GetDefined(*shown), head, kernel).Run();
  code.has_parameters = head.has_parameters;
  code.head = std::string(
      absl::StripTrailingAsciiWhitespace(launcher.substr(head.begin, head.end - head.begin)));
  return code;
}

}  // namespace kernelmill::dataset
