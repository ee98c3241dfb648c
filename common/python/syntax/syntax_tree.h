#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_SYNTAX_TREE_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_SYNTAX_TREE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::python {

// Kinds of nodes and of edges, by the grammar's names. Named nodes of other kinds are kOther;
// punctuation and keywords are kToken.
#define KM_SYNTAX_KINDS(X)                                \
  X(kError, "ERROR")                                      \
  X(kModule, "module")                                    \
  X(kBlock, "block")                                      \
  X(kComment, "comment")                                  \
  X(kLineContinuation, "line_continuation")               \
  X(kIdentifier, "identifier")                            \
  X(kDottedName, "dotted_name")                           \
  X(kAttribute, "attribute")                              \
  X(kSubscript, "subscript")                              \
  X(kCall, "call")                                        \
  X(kArgumentList, "argument_list")                       \
  X(kKeywordArgument, "keyword_argument")                 \
  X(kParenthesizedExpression, "parenthesized_expression") \
  X(kNamedExpression, "named_expression")                 \
  X(kBinaryOperator, "binary_operator")                   \
  X(kComparisonOperator, "comparison_operator")           \
  X(kConditionalExpression, "conditional_expression")     \
  X(kNoneLiteral, "none")                                 \
  X(kDictionary, "dictionary")                            \
  X(kPair, "pair")                                        \
  X(kLambda, "lambda")                                    \
  X(kListComprehension, "list_comprehension")             \
  X(kSetComprehension, "set_comprehension")               \
  X(kDictionaryComprehension, "dictionary_comprehension") \
  X(kGeneratorExpression, "generator_expression")         \
  X(kForInClause, "for_in_clause")                        \
  X(kString, "string")                                    \
  X(kConcatenatedString, "concatenated_string")           \
  X(kStringStart, "string_start")                         \
  X(kStringEnd, "string_end")                             \
  X(kInterpolation, "interpolation")                      \
  X(kExpressionStatement, "expression_statement")         \
  X(kExpressionList, "expression_list")                   \
  X(kAssignment, "assignment")                            \
  X(kAugmentedAssignment, "augmented_assignment")         \
  X(kTypeAliasStatement, "type_alias_statement")          \
  X(kType, "type")                                        \
  X(kTuple, "tuple")                                      \
  X(kList, "list")                                        \
  X(kListSplat, "list_splat")                             \
  X(kPatternList, "pattern_list")                         \
  X(kTuplePattern, "tuple_pattern")                       \
  X(kListPattern, "list_pattern")                         \
  X(kListSplatPattern, "list_splat_pattern")              \
  X(kDictionarySplatPattern, "dictionary_splat_pattern")  \
  X(kAsPattern, "as_pattern")                             \
  X(kAsPatternTarget, "as_pattern_target")                \
  X(kCasePattern, "case_pattern")                         \
  X(kKeywordPattern, "keyword_pattern")                   \
  X(kSplatPattern, "splat_pattern")                       \
  X(kImportStatement, "import_statement")                 \
  X(kImportFromStatement, "import_from_statement")        \
  X(kFutureImportStatement, "future_import_statement")    \
  X(kAliasedImport, "aliased_import")                     \
  X(kRelativeImport, "relative_import")                   \
  X(kWildcardImport, "wildcard_import")                   \
  X(kFunctionDefinition, "function_definition")           \
  X(kClassDefinition, "class_definition")                 \
  X(kDecoratedDefinition, "decorated_definition")         \
  X(kDecorator, "decorator")                              \
  X(kParameters, "parameters")                            \
  X(kLambdaParameters, "lambda_parameters")               \
  X(kDefaultParameter, "default_parameter")               \
  X(kTypedParameter, "typed_parameter")                   \
  X(kTypedDefaultParameter, "typed_default_parameter")    \
  X(kTypeParameter, "type_parameter")                     \
  X(kIfStatement, "if_statement")                         \
  X(kElifClause, "elif_clause")                           \
  X(kElseClause, "else_clause")                           \
  X(kForStatement, "for_statement")                       \
  X(kWhileStatement, "while_statement")                   \
  X(kTryStatement, "try_statement")                       \
  X(kExceptClause, "except_clause")                       \
  X(kExceptGroupClause, "except_group_clause")            \
  X(kFinallyClause, "finally_clause")                     \
  X(kWithStatement, "with_statement")                     \
  X(kMatchStatement, "match_statement")                   \
  X(kCaseClause, "case_clause")                           \
  X(kReturnStatement, "return_statement")                 \
  X(kGlobalStatement, "global_statement")                 \
  X(kNonlocalStatement, "nonlocal_statement")

#define KM_SYNTAX_FIELDS(X)             \
  X(kAlias, "alias")                    \
  X(kArguments, "arguments")            \
  X(kAttribute, "attribute")            \
  X(kBody, "body")                      \
  X(kDefinition, "definition")          \
  X(kFunction, "function")              \
  X(kKey, "key")                        \
  X(kLeft, "left")                      \
  X(kModuleName, "module_name")         \
  X(kName, "name")                      \
  X(kObject, "object")                  \
  X(kOperator, "operator")              \
  X(kParameters, "parameters")          \
  X(kRight, "right")                    \
  X(kType, "type")                      \
  X(kTypeParameters, "type_parameters") \
  X(kValue, "value")

#define KM_ENUMERATOR(name, text) name,
enum class Kind : uint8_t { kToken, kOther, KM_SYNTAX_KINDS(KM_ENUMERATOR) };
enum class Field : uint8_t { kNone, KM_SYNTAX_FIELDS(KM_ENUMERATOR) };
#undef KM_ENUMERATOR

#define KM_COUNT(name, text) +1
inline constexpr size_t kKindCount = 2 KM_SYNTAX_KINDS(KM_COUNT);
#undef KM_COUNT

Kind KindNamed(absl::string_view grammar_name);
Field FieldNamed(absl::string_view grammar_name);

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = 0xffffffff;

struct SyntaxNode {
  uint32_t start;  // bytes of the text
  uint32_t end;
  NodeId parent;       // kNoNode for the root
  NodeId subtree_end;  // after the last node below this one
  Kind kind;
  Field field;   // the edge from the parent
  bool missing;  // the parser put it in to go on
};

// A concrete syntax tree in one array, in pre-order: the nodes below node n are (n, subtree_end),
// so that no walk needs a stack, however deep the tree. Node 0 is the root. Nodes are also listed
// by kind, so that a search for calls does not visit all others. Immutable; refers to the text,
// which must outlive it.
class SyntaxTree {
 public:
  SyntaxTree(absl::string_view text, std::vector<SyntaxNode> nodes, bool has_errors);

  absl::string_view text() const { return text_; }
  bool has_errors() const { return has_errors_; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  const SyntaxNode& operator[](NodeId node) const { return nodes_[node]; }
  Kind GetKind(NodeId node) const { return nodes_[node].kind; }

  absl::string_view GetText(NodeId node) const {
    return text_.substr(nodes_[node].start, nodes_[node].end - nodes_[node].start);
  }
  bool IsLeaf(NodeId node) const { return nodes_[node].subtree_end == node + 1; }
  NodeId FirstChild(NodeId node) const { return IsLeaf(node) ? kNoNode : node + 1; }
  NodeId NextSibling(NodeId node) const {
    const NodeId parent = nodes_[node].parent;
    const NodeId next = nodes_[node].subtree_end;
    return parent != kNoNode && next < nodes_[parent].subtree_end ? next : kNoNode;
  }
  // Returns the first child by that edge, or of that kind; kNoNode if no child is.
  NodeId Child(NodeId node, Field field) const;
  NodeId Child(NodeId node, Kind kind) const;
  // Returns the nodes of that kind in the subtree, in the order of the text. The kind is neither
  // kToken nor kOther.
  std::span<const NodeId> Of(Kind kind, NodeId root = 0) const;
  // The expression inside any parentheses.
  NodeId StripParentheses(NodeId node) const;
  // Returns the last leaf below `node` that is code: no comment, line continuation or invented
  // token; `node` itself if no leaf is.
  NodeId LastToken(NodeId node) const;

 private:
  absl::string_view text_;
  std::vector<SyntaxNode> nodes_;
  bool has_errors_;
  std::vector<NodeId> by_kind_;
  std::array<uint32_t, kKindCount + 1> kind_begin_;  // in by_kind_; of the kind after it: its end
};

// Returns whether nodes of that kind separate the parts of an expression or a block: punctuation,
// keywords and comments.
bool IsLayout(Kind kind);

// Returns whether the expression's text is identifiers and dots alone: its DottedExpression.
bool IsPlainDottedName(const SyntaxTree& tree, NodeId node);
// Returns "a.b.c" for identifiers joined by attribute access, without the blanks and parentheses
// between them; empty for any other expression.
std::string DottedExpression(const SyntaxTree& tree, NodeId node);
// The same for a dotted_name of an import statement.
std::string DottedImportName(const SyntaxTree& tree, NodeId node);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_SYNTAX_TREE_H_
