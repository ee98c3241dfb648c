#include "services/extractor/core/detect/emitted_code.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/dsl/languages.h"
#include "services/extractor/core/syntax/syntax_tree.h"

namespace kernelmill::extractor {
namespace {

bool BeginsALine(absl::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  // Within quotes, after a line end or after one that is written as an escape.
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r' || text[at - 1] == '"' ||
         text[at - 1] == '\'' || (at > 1 && text[at - 1] == 'n' && text[at - 2] == '\\');
}

bool HoldsDecorator(absl::string_view literal) {
  for (const dsl::Language& language : dsl::Languages()) {
    const absl::string_view decorator = language.decorator;
    if (decorator.empty()) continue;
    for (size_t at = literal.find(decorator); at != absl::string_view::npos;
         at = literal.find(decorator, at + 1)) {
      if (BeginsALine(literal, at)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<int> FindEmittedCode(const ParsedText& file) {
  std::vector<int> lines;
  const SyntaxTree& tree = file.tree();
  for (const NodeId node : tree.Of(Kind::kString)) {
    if (tree.KindOf(tree[node].parent) == Kind::kExpressionStatement) continue;
    if (HoldsDecorator(tree.TextOf(node))) lines.push_back(file.lines().LineOf(tree[node].start));
  }
  return lines;
}

}  // namespace kernelmill::extractor
