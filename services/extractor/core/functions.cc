#include "services/extractor/core/functions.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"

namespace kernelmill::extractor {
namespace {

// Deeper names are cut off: a hostile file could otherwise make them of any length.
constexpr size_t kMaxQualifiedName = 4096;

bool IsJit(absl::string_view resolved) {
  static constexpr absl::string_view kJit[] = {
      "triton.jit",
      "triton.runtime.jit",
      "triton.runtime.jit.jit",
      "triton.runtime.jit.JITFunction",
      "triton.experimental.gluon.jit",
      "triton.experimental.gluon._runtime.jit",
  };
  return std::find(std::begin(kJit), std::end(kJit), resolved) != std::end(kJit);
}

// torch._inductor.runtime.triton_heuristics.pointwise and its like: PyTorch 2.0 had them in
// triton_ops.autotune, and makers of other hardware have their own below another _inductor.
bool IsInductorHeuristic(absl::string_view resolved) {
  return absl::StrContains(resolved, "._inductor.") &&
         (absl::StrContains(resolved, ".triton_heuristics.") ||
          absl::StrContains(resolved, ".triton_ops.autotune."));
}

// What a decorator is by the file's imports, called or not; empty if it is no dotted name.
std::string ResolveDecorator(const SyntaxTree& tree, const ImportMap& imports, NodeId expression) {
  NodeId node = tree.StripParentheses(expression);
  if (tree.KindOf(node) == Kind::kCall) {
    node = tree.Child(node, Field::kFunction);
    if (node == kNoNode) return "";
  }
  const std::string dotted = DottedExpression(tree, node);
  return dotted.empty() ? "" : imports.Resolve(dotted);
}

// The expression after '@'; kNoNode in broken code.
NodeId DecoratorExpression(const SyntaxTree& tree, NodeId decorator) {
  for (NodeId child = tree.FirstChild(decorator); child != kNoNode;
       child = tree.NextSibling(child)) {
    const Kind kind = tree.KindOf(child);
    if (kind != Kind::kToken && kind != Kind::kComment && kind != Kind::kLineContinuation) {
      return child;
    }
  }
  return kNoNode;
}

std::vector<NodeId> DecoratorsOf(const SyntaxTree& tree, NodeId decorated) {
  std::vector<NodeId> expressions;
  for (NodeId child = tree.FirstChild(decorated); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree.KindOf(child) != Kind::kDecorator) continue;
    const NodeId expression = DecoratorExpression(tree, child);
    if (expression != kNoNode) expressions.push_back(expression);
  }
  return expressions;
}

v1::Dsl DslOf(const std::vector<std::string>& resolved_decorators) {
  v1::Dsl dsl = v1::DSL_UNSPECIFIED;
  for (const std::string& resolved : resolved_decorators) {
    if (!IsJit(resolved)) continue;
    if (absl::StartsWith(resolved, "triton.experimental.gluon.")) return v1::DSL_GLUON;
    dsl = v1::DSL_TRITON;
  }
  return dsl;
}

}  // namespace

std::vector<JitFunction> FindJitFunctions(const SyntaxTree& tree, const ImportMap& imports,
                                          const LineIndex& lines) {
  std::vector<JitFunction> found;
  for (NodeId node = 0; node < tree.size(); ++node) {
    if (tree.KindOf(node) != Kind::kDecoratedDefinition) continue;
    const NodeId definition = tree.Child(node, Field::kDefinition);
    if (definition == kNoNode || tree.KindOf(definition) != Kind::kFunctionDefinition) continue;
    std::vector<NodeId> decorators = DecoratorsOf(tree, node);
    std::vector<std::string> resolved;
    for (const NodeId decorator : decorators) {
      resolved.push_back(ResolveDecorator(tree, imports, decorator));
    }
    const v1::Dsl dsl = DslOf(resolved);
    if (dsl == v1::DSL_UNSPECIFIED) continue;
    int first_line = lines.LineOf(tree[definition].start);
    for (const NodeId decorator : decorators) {
      // CPython does not count parentheses around an expression as part of it.
      const NodeId expression = tree.StripParentheses(decorator);
      first_line = std::min(first_line, lines.LineOf(tree[expression].start));
    }
    const int last_line = lines.LineOf(tree[tree.LastToken(definition)].end - 1);
    const bool generated = std::any_of(resolved.begin(), resolved.end(), IsInductorHeuristic);
    found.push_back(
        {definition, node, std::move(decorators), dsl, first_line, last_line, generated});
  }
  return found;
}

std::string QualifiedName(const SyntaxTree& tree, NodeId definition) {
  std::vector<absl::string_view> names;
  size_t size = 0;
  for (NodeId node = definition; node != kNoNode; node = tree[node].parent) {
    const Kind kind = tree.KindOf(node);
    if (kind != Kind::kFunctionDefinition && kind != Kind::kClassDefinition) continue;
    const NodeId name = tree.Child(node, Field::kName);
    if (name == kNoNode) continue;
    size += tree.TextOf(name).size() + 1;
    if (!names.empty() && size > kMaxQualifiedName) break;
    names.push_back(tree.TextOf(name));
  }
  std::reverse(names.begin(), names.end());
  return absl::StrJoin(names, ".");
}

}  // namespace kernelmill::extractor
