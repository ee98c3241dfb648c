// usage: plain_parser_fuzz [LIBFUZZER_FLAG...] [CORPUS...]
// Parses any bytes as Python. Where our own parser has a tree, tree-sitter has the same one.
#include <cstdint>
#include <string>

#include "common/python/parse/plain_parser.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"
#include "tests/fuzz/checks.h"

namespace kernelmill::extractor {

using python::NodeId;
using python::StandardParser;
using python::SyntaxNode;
using python::TextForParser;

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
  StandardParser::Options options;
  options.plain_first = false;
  const auto tree = StandardParser(options).Parse(text);
  if (!tree.ok()) return;  // text that only tree-sitter finds too much work
  Check(!tree->has_errors() && tree->size() == nodes->size());
  for (NodeId node = 0; node < tree->size(); ++node) Check(Same((*tree)[node], (*nodes)[node]));
}

}  // namespace
}  // namespace kernelmill::extractor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernelmill::extractor::Compare(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
