#include "services/extractor/core/reference/fixtures.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/python/syntax/children.h"

namespace kernelmill::extractor {

using python::Arguments;
using python::Call;
using python::Children;
using python::Field;
using python::Kind;

namespace {

constexpr int kMaxBases = 8;  // classes that inherit from one another

absl::string_view StripQuotes(absl::string_view text) {
  return text.size() < 2 ? text : text.substr(1, text.size() - 2);
}

// Returns the function as a fixture if a decorator says that it is one of this name.
Fixture ReadFixture(TestFile& file, NodeId function, absl::string_view name) {
  const SyntaxTree& tree = file.tree();
  const NodeId decorated = tree[function].parent;
  const NodeId own = tree.Child(function, Field::kName);
  if (own == kNoNode || decorated == kNoNode ||
      tree.GetKind(decorated) != Kind::kDecoratedDefinition) {
    return {};
  }
  for (const NodeId decorator : Children(tree, decorated)) {
    if (tree.GetKind(decorator) != Kind::kDecorator) continue;
    const std::span<const Call> calls = file.view().calls.In(decorator);
    if (calls.empty()) {
      if (!absl::EndsWith(file.GetText(decorator), "fixture") || tree.GetText(own) != name)
        continue;
      return {&file, function, kNoNode};
    }
    if (!absl::EndsWith(calls[0].name, "fixture")) continue;
    const Arguments arguments = GetArguments(tree, calls[0].node);
    const NodeId given = FindArgument(arguments, "name", 99);
    const absl::string_view called =
        given == kNoNode ? tree.GetText(own) : StripQuotes(file.GetText(given));
    if (called == name) return {&file, function, FindArgument(arguments, "params", 99)};
  }
  return {};
}

// Finds a fixture among the functions of a class, or of the module level.
Fixture FindIn(TestFile& file, NodeId owner, absl::string_view name) {
  const SyntaxTree& tree = file.tree();
  for (const NodeId function : tree.Of(Kind::kFunctionDefinition, owner == kNoNode ? 0 : owner)) {
    if (ClassAround(tree, function) != owner) continue;
    if (owner == kNoNode && !IsTopLevel(tree, function)) continue;
    const Fixture fixture = ReadFixture(file, function, name);
    if (fixture.function != kNoNode) return fixture;
  }
  return {};
}

// Returns the classes of the same file that a class inherits from.
std::vector<NodeId> FindBases(const TestFile& file, NodeId owner) {
  const SyntaxTree& tree = file.tree();
  std::vector<NodeId> bases;
  const NodeId arguments = tree.Child(owner, Kind::kArgumentList);
  if (arguments == kNoNode) return bases;
  for (const NodeId base : Children(tree, arguments)) {
    const NodeId found = file.FindDefinition(tree.GetText(base));
    if (found != kNoNode && tree.GetKind(found) == Kind::kClassDefinition) bases.push_back(found);
  }
  return bases;
}

}  // namespace

Fixture FindFixture(TestFiles& files, TestFile& file, NodeId test, absl::string_view name) {
  std::vector<NodeId> owners;
  if (const NodeId around = ClassAround(file.tree(), test); around != kNoNode) {
    owners.push_back(around);
  }
  for (size_t i = 0; i < owners.size() && i < kMaxBases; ++i) {
    const Fixture fixture = FindIn(file, owners[i], name);
    if (fixture.function != kNoNode) return fixture;
    const std::vector<NodeId> bases = FindBases(file, owners[i]);
    owners.insert(owners.end(), bases.begin(), bases.end());
  }
  Fixture fixture = FindIn(file, kNoNode, name);
  std::string folder = file.path();
  while (fixture.function == kNoNode && !folder.empty()) {
    const size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
    TestFile* conftest =
        files.Get(folder.empty() ? "conftest.py" : absl::StrCat(folder, "/conftest.py"));
    if (conftest != nullptr) fixture = FindIn(*conftest, kNoNode, name);
  }
  return fixture;
}

FixtureResult FindResult(const TestFile& file, const FunctionBody& fixture) {
  const SyntaxTree& tree = file.tree();
  const auto& statements = fixture.statements();
  for (int i = static_cast<int>(statements.size()) - 1; i >= 0; --i) {
    const NodeId node = statements[i].node;
    if (statements[i].head) continue;
    NodeId of = node;
    if (tree.GetKind(node) == Kind::kExpressionStatement &&
        absl::StartsWith(tree.GetText(node), "yield")) {
      of = tree.FirstChild(node);
    } else if (tree.GetKind(node) != Kind::kReturnStatement) {
      continue;
    }
    const std::vector<NodeId> values = of == kNoNode ? std::vector<NodeId>() : Children(tree, of);
    if (values.size() != 1) return {};
    return {values[0], i};
  }
  return {};
}

NodeId FindElement(const TestFile& file, const FunctionBody& body, const FixtureResult& result,
                   absl::string_view key, std::vector<NodeId>& others) {
  const SyntaxTree& tree = file.tree();
  NodeId display = tree.StripParentheses(result.value);
  if (tree.GetKind(display) == Kind::kIdentifier) {
    const absl::string_view name = tree.GetText(display);
    for (const int source : body.FindSources(name, result.statement)) {
      const NodeId given = body.FindValue(source, name);
      if (given == kNoNode) continue;
      display = tree.StripParentheses(given);
      break;
    }
  }
  NodeId found = kNoNode;
  size_t place = 0;
  for (const NodeId child : Children(tree, display)) {
    NodeId element = child;
    bool wanted = absl::StrCat(place++) == key;
    switch (tree.GetKind(display)) {
      case Kind::kTuple:
      case Kind::kList:
      case Kind::kExpressionList:
        break;
      case Kind::kDictionary: {
        const NodeId own = tree.Child(child, Field::kKey);
        element = tree.Child(child, Field::kValue);
        if (own == kNoNode || element == kNoNode) return kNoNode;
        wanted = StripQuotes(tree.GetText(own)) == StripQuotes(key);
        break;
      }
      default:
        return kNoNode;
    }
    if (wanted) {
      found = element;
    } else {
      others.push_back(element);
    }
  }
  return found;
}

}  // namespace kernelmill::extractor
