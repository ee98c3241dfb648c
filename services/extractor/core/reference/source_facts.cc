#include "services/extractor/core/reference/source_facts.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::extractor {

using python::Arguments;
using python::Call;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

namespace {

// The most operators of one file; real libraries register some hundred.
constexpr size_t kMaxOperators = 4096;

// Returns the content of a plain string literal; empty for anything else.
absl::string_view StringContent(const SyntaxTree& tree, NodeId node) {
  if (node == kNoNode || tree.GetKind(node) != Kind::kString) return {};
  const absl::string_view text = tree.GetText(node);
  if (text.size() < 2 || (text[0] != '"' && text[0] != '\'')) return {};
  return text.substr(1, text.size() - 2);
}

bool IsName(Kind kind) { return kind == Kind::kIdentifier || kind == Kind::kAttribute; }

class FactReader {
 public:
  FactReader(const ParsedFile& file, SourceFacts& facts)
      : file_(file), tree_(file.tree), facts_(facts) {}

  void Read() {
    for (const NodeId node : tree_.Of(Kind::kClassDefinition)) ReadClass(node);
    for (const NodeId node : tree_.Of(Kind::kTuple)) ReadTuple(node);
    for (const Call& call : file_.calls.In(0)) ReadCall(call);
    for (const NodeId node : tree_.Of(Kind::kDecoratedDefinition)) ReadDecorators(node);
  }

 private:
  // Notes the names that only `backward` uses. Other methods count together with the class's body.
  void ReadClass(NodeId node) {
    const NodeId name = tree_.Child(node, Field::kName);
    const NodeId body = tree_.Child(node, Field::kBody);
    if (name == kNoNode || body == kNoNode || tree_[node].parent != 0) return;
    absl::flat_hash_set<std::string> gradient, others;
    for (NodeId child = tree_.FirstChild(body); child != kNoNode;
         child = tree_.NextSibling(child)) {
      const std::vector<absl::string_view> names = file_.bindings.FreeNames(child);
      auto& into = IsBackward(child) ? gradient : others;
      into.insert(names.begin(), names.end());
    }
    for (const std::string& other : others) gradient.erase(other);
    if (gradient.empty()) return;
    facts_.gradient_names[{std::string(file_.path), std::string(tree_.GetText(name))}] =
        std::move(gradient);
  }

  bool IsBackward(NodeId member) const {
    NodeId function = member;
    if (tree_.GetKind(member) == Kind::kDecoratedDefinition) {
      function = tree_.Child(member, Field::kDefinition);
    }
    if (function == kNoNode || tree_.GetKind(function) != Kind::kFunctionDefinition) return false;
    const NodeId name = tree_.Child(function, Field::kName);
    return name != kNoNode && tree_.GetText(name) == "backward";
  }

  // ("add.Tensor", add)
  void ReadTuple(NodeId node) {
    std::vector<NodeId> items;
    for (NodeId child = tree_.FirstChild(node); child != kNoNode;
         child = tree_.NextSibling(child)) {
      if (!IsLayout(tree_.GetKind(child))) items.push_back(child);
      if (items.size() > 4) return;
    }
    if (items.size() < 2 || !IsName(tree_.GetKind(items[1]))) return;
    Add(StringContent(tree_, items[0]), DottedExpression(tree_, items[1]));
  }

  // lib.impl("add", add), register(op_name="add", op_func=add)
  void ReadCall(const Call& call) {
    if (call.function == kNoNode) return;
    const Arguments arguments = GetArguments(tree_, call.node);
    const absl::string_view last = call.name.substr(call.name.rfind('.') + 1);
    NodeId name = FindArgument(arguments, "op_name", arguments.size());
    NodeId function = FindArgument(arguments, "op_func", arguments.size());
    if (last == "impl") {
      name = FindArgument(arguments, "", 0);
      function = FindArgument(arguments, "", 1);
    }
    if (name == kNoNode || function == kNoNode || !IsName(tree_.GetKind(function))) return;
    Add(StringContent(tree_, name), DottedExpression(tree_, function));
  }

  // @torch.library.custom_op("ns::add", ...)
  void ReadDecorators(NodeId decorated) {
    const NodeId function = tree_.Child(decorated, Field::kDefinition);
    const NodeId name = function == kNoNode ? kNoNode : tree_.Child(function, Field::kName);
    if (name == kNoNode) return;
    for (NodeId child = tree_.FirstChild(decorated); child != kNoNode && child != function;
         child = tree_.NextSibling(child)) {
      if (tree_.GetKind(child) != Kind::kDecorator) continue;
      for (const Call& call : file_.calls.In(child)) {
        const absl::string_view text =
            StringContent(tree_, FindArgument(GetArguments(tree_, call.node), "", 0));
        if (absl::StrContains(text, "::")) Add(text, std::string(tree_.GetText(name)));
        break;
      }
    }
  }

  void Add(absl::string_view text, std::string function) {
    const absl::string_view name = OperatorName(text);
    if (name.empty() || function.empty() || added_ == kMaxOperators) return;
    ++added_;
    facts_.operators.push_back({std::string(name), std::string(file_.path), std::move(function)});
  }

  const ParsedFile& file_;
  const SyntaxTree& tree_;
  SourceFacts& facts_;
  size_t added_ = 0;
};

}  // namespace

void SourceFacts::Add(const ParsedFile& file) { FactReader(file, *this).Read(); }

absl::string_view OperatorName(absl::string_view text) {
  const size_t scope = text.rfind("::");
  if (scope != absl::string_view::npos) text.remove_prefix(scope + 2);
  text = text.substr(0, text.find('.'));
  const bool word = std::all_of(text.begin(), text.end(),
                                [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
  return word && text.size() < 128 ? text : absl::string_view();
}

bool IsTestPath(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::string part = absl::AsciiStrToLower(parts[i]);
    if (part == "test" || part == "tests" || part == "testing" || absl::EndsWith(part, "_tests") ||
        absl::EndsWith(part, "_test") || part == "unittest" || part == "unittests") {
      return true;
    }
  }
  const absl::string_view file = parts.back();
  return absl::StartsWith(file, "test_") || absl::EndsWith(file, "_test.py") ||
         absl::EndsWith(file, "_tests.py") || file == "conftest.py" || file == "test.py" ||
         file == "tests.py";
}

}  // namespace kernelmill::extractor
