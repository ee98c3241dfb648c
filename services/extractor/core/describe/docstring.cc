#include "services/extractor/core/describe/docstring.h"

#include <algorithm>

#include "common/python/syntax/docstring.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;

// The body begins on the line of its first statement if that is on the line of the head's end; else
// on the next line, so that comments before the first statement belong to the body.
Body ReadBody(const SyntaxTree& tree, const LineIndex& lines, NodeId definition) {
  Body result;
  result.begin = tree[definition].end;
  const NodeId block = tree.Child(definition, Field::kBody);
  if (block == kNoNode) return result;
  const NodeId first = python::FindFirstStatement(tree, block);
  if (first == kNoNode) return result;
  // The end of the part before the body, which is the colon or the docstring.
  size_t head_end = tree[definition].start;
  for (NodeId child = tree.FirstChild(definition); child != block;
       child = tree.NextSibling(child)) {
    if (tree.GetKind(child) != Kind::kComment) head_end = tree[child].end;
  }
  NodeId body = first;
  result.docstring = python::FindDocstring(tree, first);
  if (result.docstring != kNoNode) {
    head_end = tree[tree.LastToken(first)].end;
    body = tree.NextSibling(first);
    while (body != kNoNode && IsLayout(tree.GetKind(body))) body = tree.NextSibling(body);
  }
  const int head_line = lines.LineAt(std::max<size_t>(head_end, 1) - 1);
  const bool same_line = body != kNoNode && lines.LineAt(tree[body].start) == head_line;
  result.begin = same_line ? lines.Begin(head_line) : lines.End(head_line);
  return result;
}

// Escapes are left as they are written.
std::string StringText(const SyntaxTree& tree, absl::string_view text, NodeId literal) {
  std::string content;
  if (literal == kNoNode) return content;
  for (NodeId node = literal; node < tree[literal].subtree_end; ++node) {
    if (tree.GetKind(node) != Kind::kString) continue;
    const NodeId start = tree.Child(node, Kind::kStringStart);
    const NodeId end = tree.Child(node, Kind::kStringEnd);
    if (start == kNoNode || end == kNoNode) continue;
    const absl::string_view inner = text.substr(tree[start].end, tree[end].start - tree[start].end);
    content.append(inner.data(), inner.size());
  }
  return content;
}

}  // namespace kernelmill::extractor
