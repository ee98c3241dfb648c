#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_EXPRESSION_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_EXPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// An expression as rules ask for it: without parentheses, comments and punctuation. `text` is all
// of it as written; what `name` and `parts` hold depends on the kind. An ExpressionArena owns it
// and its parts; it refers to the text of the tree that it was made from.
struct Expression {
  // clang-format off
  enum Kind : uint8_t {
    kName,         // name
    kNumber,
    kString,       // also several literals in a row
    kConstant,     // True, False, None: name
    kAttribute,    // parts[0].name
    kCall,         // parts[0](parts[1], ...)
    kKeyword,      // name=parts[0], an argument of a call
    kSubscript,    // parts[0][parts[1]]
    kBinary,       // parts[0] name parts[1]: arithmetic and bitwise operators
    kUnary,        // name parts[0]: + - ~ not await, * and ** of an argument
    kCompare,      // parts[0] name parts[1]; a < b < c is a < b and b < c
    kBoolean,      // parts[0] name parts[1]: and, or
    kConditional,  // parts[0] if parts[1] else parts[2]
    kSequence,     // a tuple, a list or a set: parts
    kDictionary,   // parts: keys and values in turn; for **x both are that
    kLambda,       // lambda ...: parts[0]
    kOther,        // everything else: a slice or a comprehension with its parts, and broken code
  };
  // clang-format on

  Kind kind = kOther;
  absl::string_view text;
  absl::string_view name;
  std::vector<const Expression*> parts;
  int height = 0;  // the height of the tree below it
};

using ExpressionArena = std::deque<Expression>;

// Makes expressions from the nodes of a tree. Total: broken code is a kOther, and an expression
// higher than kMaxHeight has no parts, so that callers may recurse. Linear in the nodes. Refers to
// the tree. Not thread-safe.
//
// The basic idea: nodes are in pre-order, so that a walk from the last node to the first finds the
// parts of each expression made already. It needs no recursion, however deep the tree.
class ExpressionMaker {
 public:
  static constexpr int kMaxHeight = 1000;

  ExpressionMaker(const SyntaxTree& tree, ExpressionArena& arena) : tree_(tree), arena_(arena) {}

  // Returns the expression at `node`; never null.
  const Expression* Make(NodeId node);
  // Returns the only expression of `nodes`, or a kSequence of them; never null.
  const Expression* MakeList(const std::vector<NodeId>& nodes);

  // Returns `name` as an operator between two expressions. Its text is that of `left`.
  const Expression* MakeBinary(const Expression& left, absl::string_view name,
                               const Expression& right);
  // Returns an expression that is known by its text only.
  const Expression* MakeOther(absl::string_view text);

 private:
  using Parts = std::vector<const Expression*>;

  const Expression* Add(Expression::Kind kind, absl::string_view text, absl::string_view name,
                        Parts parts);
  const Expression* FromNode(NodeId node);
  const Expression* FromLeaf(NodeId node);
  const Expression* FromOther(NodeId node);
  const Expression* FromComparison(NodeId node);
  const Expression* FromCall(NodeId node);
  const Expression* FromSubscript(NodeId node);
  const Expression* FromDictionary(NodeId node);
  const Expression* FromComprehension(NodeId node);
  const Expression* At(NodeId node) const { return made_[node - root_]; }
  Parts Operands(NodeId node) const;
  Parts FieldParts(NodeId node, Field first, Field second = Field::kNone) const;
  absl::string_view TextBetween(size_t begin, size_t end) const;

  const SyntaxTree& tree_;
  ExpressionArena& arena_;
  NodeId root_ = 0;
  Parts made_;  // by node from root_
};

// Returns the last name of a dotted one, for a call of what is called: c of a.b.c; empty for any
// other expression.
absl::string_view LastName(const Expression& expression);

// Returns an argument of a call by keyword, or else by position from 0; null if there is neither.
const Expression* FindArgument(const Expression& call, absl::string_view keyword, size_t position);
// The position of an argument that is given by keyword only: no call has as many positional ones.
inline constexpr size_t kByKeywordOnly = 99;

// Returns the first part that fits, in the order of the text and the outer one first; the
// expression may be that itself. Null if none fits, or only parts that are within 60 others.
const Expression* FindPart(const Expression& expression,
                           absl::FunctionRef<bool(const Expression&)> fits);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_EXPRESSION_H_
