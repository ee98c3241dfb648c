#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DOCSTRING_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DOCSTRING_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

// The body of a function.
struct Body {
  NodeId docstring = kNoNode;  // the string expression
  // The first byte of the line on which the statements, or comments before them, start; after the
  // docstring if there is one. If nothing follows the docstring, the end of the body's last line.
  size_t begin = 0;
};

Body ReadBody(const SyntaxTree& tree, const LineIndex& lines, NodeId definition);

// Returns the text between the quotes of a string literal, with its parts joined. `text` has the
// file's own bytes. Empty for kNoNode.
std::string StringText(const SyntaxTree& tree, absl::string_view text, NodeId literal);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DOCSTRING_H_
