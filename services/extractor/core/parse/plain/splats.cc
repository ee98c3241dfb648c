// *operand: tree-sitter has more than one way to read it.
#include "services/extractor/core/parse/plain/parser.h"

namespace kernelmill::extractor::python {

// Whether what stands next may end an operand of `*` or an annotation: all grammars agree then how
// far it goes.
bool Parser::AtOperandEnd() const {
  switch (token()) {
    case Token::kComma:
    case Token::kRightParen:
    case Token::kRightBracket:
    case Token::kRightBrace:
    case Token::kNewline:
    case Token::kAssign:
      return true;
    default:
      return false;
  }
}

// *operand among arguments and elements.
bool Parser::Splat() {
  const Begin begin = Here();
  Take();
  if (!Postfix() || !AtOperandEnd()) return false;
  Close(Kind::kListSplat, begin);
  return true;
}

// Elsewhere tree-sitter has the star bind to the name after it more than what follows that:
// *x.shape is an attribute of *x, if others stand behind it. How it reads the last of several
// depends on what the next statement is.
bool Parser::SplatName() {
  const Begin begin = Here();
  Take();
  if (!Is(Token::kName) || !Postfix() || !AtOperandEnd()) return false;
  Close(Kind::kListSplat, begin);
  if (tree_.here() - begin.place == 3) return true;
  return Is(Token::kComma) && tree_.BindSplatToName(begin.place);
}

// The first element of a list or a set: a splat of more than a name is read as among elements if
// others follow, and as elsewhere if none do.
bool Parser::FirstElement() {
  if (!Is(Token::kStar)) return Expression();
  const Begin begin = Here();
  Take();
  const bool is_name = Is(Token::kName);
  if (!Postfix() || !AtOperandEnd()) return false;
  Close(Kind::kListSplat, begin);
  return Is(Token::kComma) || tree_.here() - begin.place == 3 ||
         (is_name && tree_.BindSplatToName(begin.place));
}

}  // namespace kernelmill::extractor::python
