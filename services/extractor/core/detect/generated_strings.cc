#include "services/extractor/core/detect/generated_strings.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"
#include "common/code/python.h"
#include "common/dsl/languages.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

namespace {

constexpr absl::string_view kCompile = "async_compile.triton";
constexpr absl::string_view kSourceName = "source_code";  // the parameter's name

// Returns whether it is async_compile.triton(...), by the name as written, also behind that of a
// module.
bool IsCompileCall(const SyntaxTree& tree, NodeId node) {
  if (tree.GetKind(node) != Kind::kCall) return false;
  const NodeId function = tree.Child(node, Field::kFunction);
  if (function == kNoNode) return false;
  const std::string dotted = DottedExpression(tree, function);
  return dotted == kCompile || absl::EndsWith(dotted, ".async_compile.triton");
}

// Returns the source argument of a call; kNoNode without one. It is the second positional argument,
// or the only one: PyTorch 2.0 passes no name.
NodeId SourceArgument(const SyntaxTree& tree, NodeId call) {
  const NodeId arguments = tree.Child(call, Field::kArguments);
  if (arguments == kNoNode) return kNoNode;
  NodeId name_or_source = kNoNode;
  for (NodeId child = tree.FirstChild(arguments); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (IsLayout(tree.GetKind(child))) continue;
    if (tree.GetKind(child) == Kind::kKeywordArgument) {
      const NodeId name = tree.Child(child, Field::kName);
      if (name != kNoNode && tree.GetText(name) == kSourceName) {
        return tree.Child(child, Field::kValue);
      }
    } else if (name_or_source != kNoNode) {
      return child;
    } else {
      name_or_source = child;
    }
  }
  return name_or_source;
}

// Returns whether the text has an escape sequence, outside raw strings.
bool HasEscape(absl::string_view text) {
  constexpr absl::string_view kEscaped = "\n\r\\'\"abfnrtvxNuU01234567";
  for (size_t at = text.find('\\'); at != absl::string_view::npos; at = text.find('\\', at + 1)) {
    if (at + 1 < text.size() && absl::StrContains(kEscaped, text[at + 1])) return true;
  }
  return false;
}

// Returns whether the bytes between the quotes are the string's value.
bool IsVerbatim(absl::string_view quotes, absl::string_view content) {
  const auto prefix = code::ReadPythonPrefix(quotes.substr(0, quotes.find_first_of("\"'")));
  if (!prefix.has_value() || prefix->bytes || prefix->replaces) return false;
  return prefix->raw || !HasEscape(content);
}

// Returns for each node the statement around it, or the node itself if it is a statement.
std::vector<NodeId> Statements(const SyntaxTree& tree) {
  std::vector<NodeId> statements(tree.size(), 0);
  for (NodeId node = 1; node < tree.size(); ++node) {
    const NodeId parent = tree[node].parent;
    const Kind kind = tree.GetKind(parent);
    const bool is_statement = kind == Kind::kModule || kind == Kind::kBlock || kind == Kind::kError;
    statements[node] = is_statement ? node : statements[parent];
  }
  return statements;
}

// The content of a literal, or of several from the first to the last. Empty in broken code.
struct Content {
  size_t begin = 0;
  size_t end = 0;
  absl::string_view quotes;  // the first literal's, with its prefix
};

// Parts after the first one may have prefixes of their own, so that several literals are never
// verbatim.
Content GetContent(const SyntaxTree& tree, NodeId literal) {
  Content content;
  for (NodeId node = literal; node < tree[literal].subtree_end; ++node) {
    if (tree.GetKind(node) == Kind::kStringStart && content.quotes.empty()) {
      content.quotes = tree.GetText(node);
      content.begin = content.end = tree[node].end;
    }
    if (tree.GetKind(node) == Kind::kStringEnd && !tree[node].missing) {
      content.end = tree[node].start;
    }
  }
  return content;
}

// Returns whether only blanks are between the place and the beginning of a line, in the string or
// in the file.
bool BeginsALine(absl::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  // A line also begins after the quotes, and after the escape sequence of a line end.
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r' || text[at - 1] == '"' ||
         text[at - 1] == '\'' || (at > 1 && text[at - 1] == 'n' && text[at - 2] == '\\');
}

// Returns whether a line of the literal begins with a decorator of a language.
bool HoldsDecorator(absl::string_view literal) {
  for (const dsl::Language& language : dsl::Languages()) {
    const absl::string_view decorator = language.decorator;
    if (decorator.empty() || !language.by_default) continue;
    for (size_t at = literal.find(decorator); at != absl::string_view::npos;
         at = literal.find(decorator, at + 1)) {
      if (BeginsALine(literal, at)) return true;
    }
  }
  return false;
}

}  // namespace

// Only a literal argument has a place in the file.
std::vector<GeneratedString> FindGeneratedStrings(const ParsedText& file) {
  std::vector<GeneratedString> found;
  // Most files have no such call.
  if (!Contains(file.text(), "async_compile")) return found;
  const SyntaxTree& tree = file.tree();
  const std::vector<NodeId> statements = Statements(tree);
  for (NodeId node = 0; node < tree.size(); ++node) {
    if (!IsCompileCall(tree, node)) continue;
    const NodeId argument = SourceArgument(tree, node);
    if (argument == kNoNode) continue;
    const NodeId literal = tree.StripParentheses(argument);
    const bool concatenated = tree.GetKind(literal) == Kind::kConcatenatedString;
    if (tree.GetKind(literal) != Kind::kString && !concatenated) continue;
    const Content content = GetContent(tree, literal);
    if (content.begin >= content.end) continue;
    const absl::string_view bytes = file.text().substr(content.begin, content.end - content.begin);
    found.push_back({content.begin, content.end, file.lines().LineAt(tree[literal].start),
                     file.lines().LineAt(tree[statements[node]].start),
                     !concatenated && IsVerbatim(content.quotes, bytes)});
  }
  return found;
}

// A string that is a whole statement is a docstring or a comment.
std::vector<int> FindEmittedCode(const ParsedText& file) {
  std::vector<int> lines;
  const SyntaxTree& tree = file.tree();
  for (const NodeId node : tree.Of(Kind::kString)) {
    if (tree.GetKind(tree[node].parent) == Kind::kExpressionStatement) continue;
    if (HoldsDecorator(tree.GetText(node))) lines.push_back(file.lines().LineAt(tree[node].start));
  }
  return lines;
}

}  // namespace kernelmill::extractor
