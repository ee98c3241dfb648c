#ifndef KERNELMILL_COMMON_PYTHON_PARSE_PLAIN_PLAIN_PARSER_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_PLAIN_PLAIN_PARSER_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// The nodes of a text's tree, exactly as tree-sitter's Python would have them, if the text is plain
// Python; nothing where it is not, or where this parser is not sure. Linear in the text.
//
// tree-sitter keeps all readings of a text alive until one of them fails, allocates each node, and
// so reads about 5 MB a second. Nearly all files need none of that: they are correct, and where
// Python is ambiguous a word or two ahead decide. This is a parser by recursive descent for those.
// What it gives up on, tree-sitter reads: text that is wrong, `match` and `print` as statements,
// names that are not ASCII, and all that would need a rule for the sake of a few files.
//
// Where comments hang: tree-sitter has a comment below the smallest node that holds the token
// before it and the token after it. Nodes here are closed as soon as their last token is read, and
// what stands before the next token is added as late as that token begins something.
std::optional<std::vector<SyntaxNode>> ParsePlain(absl::string_view text, size_t max_nodes);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_PLAIN_PLAIN_PARSER_H_
