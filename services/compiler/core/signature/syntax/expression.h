#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SYNTAX_EXPRESSION_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SYNTAX_EXPRESSION_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/code/lexer.h"

namespace kernelmill::compiler {

// An expression of Python. `text` is all of it as written; what `name` and `parts` hold depends on
// the kind.
struct Expression {
  enum Kind : uint8_t {
    kName,  // name
    kNumber,
    kString,       // also several literals in a row: the first
    kConstant,     // True, False, None: name
    kAttribute,    // parts[0].name
    kCall,         // parts[0](parts[1], ...)
    kKeyword,      // name=parts[0], an argument of a call
    kSubscript,    // parts[0][parts[1]]
    kBinary,       // parts[0] name parts[1]: arithmetic and bitwise operators
    kUnary,        // name parts[0]: + - ~ not
    kCompare,      // parts[0] name parts[1]; a < b < c is a < b and b < c
    kBoolean,      // parts[0] name parts[1]: and, or
    kConditional,  // parts[0] if parts[1] else parts[2]
    kSequence,     // a tuple, a list or a set: parts
    kDictionary,   // parts: keys and values in turn
    kLambda,       // lambda ...: parts[0]
    kOther,        // anything else: a slice, a comprehension, what is no Python
  };

  Kind kind = kOther;
  absl::string_view text;
  absl::string_view name;
  std::vector<const Expression*> parts;
  int height = 0;  // of the tree below it
};

// The expressions of a text; they live as long as it does and refer to the text.
using ExpressionArena = std::deque<Expression>;

// Reads expressions from tokens, one after another. Total: what is no expression is a kOther; of
// nesting beyond kMaxDepth so is all that remains, and what is higher than kMaxHeight has no parts.
// Linear in the tokens.
class ExpressionReader {
 public:
  static constexpr int kMaxDepth = 400;
  static constexpr int kMaxHeight = 1000;

  ExpressionReader(absl::Span<const code::Token> tokens, ExpressionArena& arena)
      : tokens_(tokens), arena_(arena) {}

  // A whole expression, several with commas between them as a kSequence. Never null.
  const Expression* ReadList();
  // One without a comma.
  const Expression* Read();

  bool AtEnd() const { return next_ >= tokens_.size(); }
  // The text of the next token; empty at the end.
  absl::string_view Peek() const { return AtEnd() ? absl::string_view() : tokens_[next_].text; }
  bool Take(absl::string_view text);
  void Skip() { ++next_; }
  size_t position() const { return next_; }

 private:
  const Expression* ReadBinary(int least);
  const Expression* ReadUnary();
  const Expression* ReadPostfix();
  const Expression* ReadAtom();
  const Expression* ReadBrackets(absl::string_view close, Expression::Kind kind);
  const Expression* ReadLambda();
  const Expression* ReadIndex();
  void ReadArguments(Expression& call);
  void SkipTo(absl::string_view close);
  const Expression* Make(Expression::Kind kind, size_t first, absl::string_view name,
                         std::vector<const Expression*> parts);

  absl::Span<const code::Token> tokens_;
  ExpressionArena& arena_;
  size_t next_ = 0;
  int depth_ = 0;
};

// a.b.c as written; empty where it is not made of names alone.
absl::string_view DottedName(const Expression& expression);
// The last name of a dotted one, of what is called in a call: c.
absl::string_view LastName(const Expression& expression);

// An argument of a call by keyword, or else by position from 0; null where there is none.
const Expression* Argument(const Expression& call, absl::string_view keyword, size_t position);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SYNTAX_EXPRESSION_H_
