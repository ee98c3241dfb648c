#include "services/extractor/core/reference/source_facts.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/python/syntax/syntax_tree.h"
#include "services/extractor/core/reference/function_body.h"

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
// The most statements of a class whose methods are asked who calls them.
constexpr size_t kMaxMembers = 64;

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
  // A statement of a class's body.
  struct Member {
    NodeId node;
    absl::string_view method;  // its name; empty for any other statement
    bool gradient = false;     // only the pass backwards runs it
  };

  // Notes the names that only `backward` uses. Other methods count together with the class's body.
  void ReadClass(NodeId node) {
    const NodeId name = tree_.Child(node, Field::kName);
    const NodeId body = tree_.Child(node, Field::kBody);
    if (name == kNoNode || body == kNoNode || tree_[node].parent != 0) return;
    absl::flat_hash_set<std::string> gradient, others;
    for (const Member& member : ReadMembers(body)) {
      AddNames(member.node, member.gradient ? gradient : others);
    }
    for (const std::string& other : others) gradient.erase(other);
    if (gradient.empty()) return;
    facts_.gradient_names[{std::string(file_.path), std::string(tree_.GetText(name))}] =
        std::move(gradient);
  }

  std::vector<Member> ReadMembers(NodeId body) const {
    std::vector<Member> members;
    bool any = false;
    for (NodeId child = tree_.FirstChild(body); child != kNoNode;
         child = tree_.NextSibling(child)) {
      if (IsLayout(tree_.GetKind(child))) continue;
      const absl::string_view method = GetMethodName(child);
      members.push_back({child, method, method == "backward"});
      any |= method == "backward";
    }
    // A method that backward calls may call others.
    for (bool changed = any && members.size() <= kMaxMembers; changed;) {
      changed = false;
      for (Member& member : members) {
        if (member.gradient || !IsUsedByGradientAlone(member, members)) continue;
        member.gradient = changed = true;
      }
    }
    return members;
  }

  bool IsUsedByGradientAlone(const Member& member, const std::vector<Member>& members) const {
    if (member.method.empty() || absl::StartsWith(member.method, "__")) return false;
    bool used = false;
    for (const Member& user : members) {
      if (user.node == member.node) continue;
      for (const NodeId identifier : tree_.Of(Kind::kIdentifier, user.node)) {
        if (tree_.GetText(identifier) != member.method) continue;
        if (!user.gradient) return false;
        used = true;
      }
    }
    return used;
  }

  absl::string_view GetMethodName(NodeId member) const {
    NodeId function = member;
    if (tree_.GetKind(member) == Kind::kDecoratedDefinition) {
      function = tree_.Child(member, Field::kDefinition);
    }
    if (function == kNoNode || tree_.GetKind(function) != Kind::kFunctionDefinition) return {};
    const NodeId name = tree_.Child(function, Field::kName);
    return name == kNoNode ? absl::string_view() : tree_.GetText(name);
  }

  // Adds the free names of a member, and the dotted names that begin with them: a, a.b and a.b.c.
  void AddNames(NodeId member, absl::flat_hash_set<std::string>& into) const {
    for (const absl::string_view name : file_.bindings.FreeNames(member)) into.emplace(name);
    for (const NodeId identifier : tree_.Of(Kind::kIdentifier, member)) {
      const NodeId node = DottedFrom(tree_, identifier);
      if (node == kNoNode || node == identifier) continue;
      if (!into.contains(tree_.GetText(identifier))) continue;
      const std::string dotted = DottedExpression(tree_, node);
      for (size_t dot = dotted.find('.'); dot != std::string::npos;) {
        dot = dotted.find('.', dot + 1);
        into.insert(dotted.substr(0, dot));
      }
    }
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
