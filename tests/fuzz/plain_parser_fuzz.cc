// usage: plain_parser_fuzz [LIBFUZZER_FLAG...] [CORPUS...]
// Parses any bytes as Python. If our own parser makes a tree, tree-sitter must make the same one.
#include <cstdint>
#include <string>

#include "common/python/parse/plain/plain_parser.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"
#include "common/python/tree_sitter/tree_sitter_parser.h"
#include "tests/fuzz/checks.h"

namespace kernelmill::extractor {
namespace {

constexpr size_t kMaxNodes = 1'000'000;

bool Same(const SyntaxNode& a, const SyntaxNode& b) {
  return a.start == b.start && a.end == b.end && a.parent == b.parent &&
         a.subtree_end == b.subtree_end && a.kind == b.kind && a.field == b.field &&
         a.missing == b.missing;
}

void Compare(const std::string& bytes) {
  const std::string text = TextForParser(bytes).value_or(bytes);
  const auto nodes = python::ParsePlain(text, kMaxNodes);
  if (!nodes) return;
  TreeSitterParser::Options options;
  options.plain_first = false;
  const auto tree = TreeSitterParser(options).Parse(text);
  if (!tree.ok()) return;  // too much work for tree-sitter only
  Check(!tree->has_errors() && tree->size() == nodes->size());
  for (NodeId node = 0; node < tree->size(); ++node) Check(Same((*tree)[node], (*nodes)[node]));
}

}  // namespace
}  // namespace kernelmill::extractor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernelmill::extractor::Compare(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
