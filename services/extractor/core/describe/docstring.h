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

// Where a function's body stands.
struct Body {
  NodeId docstring = kNoNode;  // the string expression
  // The first byte of the line on which the statements, or comments before them, start; after any
  // docstring. The end of the text's last body line where nothing follows the docstring.
  size_t begin = 0;
};

Body ReadBody(const SyntaxTree& tree, const LineIndex& lines, NodeId definition);

// What stands between the quotes in `text`, the file's own bytes; parts joined. Empty for kNoNode.
std::string DocstringText(const SyntaxTree& tree, absl::string_view text, NodeId docstring);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_DOCSTRING_H_
