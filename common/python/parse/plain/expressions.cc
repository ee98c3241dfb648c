// Operators, lists of expressions, what is assigned to, and *operand, which tree-sitter has more
// than one way to read.
#include "common/python/parse/plain/parser.h"

namespace kernelmill::python {
namespace {

constexpr int kUnary = 20;
constexpr int kPower = 21;

// How tightly an operator binds in tree-sitter's grammar; 0 for what is none. `^` binds more than
// `&` there.
int PrecedenceOf(Token token) {
  switch (token) {
    case Token::kPipe:
      return 14;
    case Token::kAmpersand:
      return 15;
    case Token::kCaret:
      return 16;
    case Token::kShiftLeft:
    case Token::kShiftRight:
      return 17;
    case Token::kPlus:
    case Token::kMinus:
      return 18;
    case Token::kStar:
    case Token::kAt:
    case Token::kSlash:
    case Token::kPercent:
    case Token::kDoubleSlash:
      return 19;
    case Token::kDoubleStar:
      return kPower;
    default:
      return 0;
  }
}

// What may stand after the comma that ends a list.
bool EndsList(Token token) {
  switch (token) {
    case Token::kAssign:
    case Token::kColon:
    case Token::kNewline:
    case Token::kRightParen:
    case Token::kSemicolon:
      return true;
    default:
      return false;
  }
}

// What no operator stands behind: most expressions are one operand.
bool EndsExpression(Token token) {
  switch (token) {
    case Token::kAssign:
    case Token::kColon:
    case Token::kComma:
    case Token::kNewline:
    case Token::kRightBrace:
    case Token::kRightBracket:
    case Token::kRightParen:
      return true;
    default:
      return false;
  }
}

}  // namespace

// One expression, or several as an expression_list.
bool Parser::ExpressionList() {
  const Begin begin = Here();
  if (!ExpressionOrSplat()) return false;
  if (!Is(Token::kComma)) return true;
  while (Is(Token::kComma)) {
    Take();
    if (EndsList(token())) break;
    if (!ExpressionOrSplat()) return false;
  }
  Close(Kind::kExpressionList, begin);
  listed_ = true;
  return true;
}

// What a loop binds: one target, or a pattern_list.
bool Parser::TargetList() {
  const Begin begin = Here();
  if (!Target()) return false;
  if (!Is(Token::kComma)) return true;
  while (Is(Token::kComma)) {
    Take();
    if (Is(Token::kIn)) break;
    if (!Target()) return false;
  }
  Close(Kind::kPatternList, begin);
  return true;
}

bool Parser::Target() {
  const Begin begin = Here();
  if (!Is(Token::kStar)) return Postfix() && tree_.MakePattern();
  Take();
  if (!Postfix() || !tree_.MakePattern()) return false;
  Close(Kind::kListSplatPattern, begin);
  return true;
}

bool Parser::Expression() {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = Here();
  if (Is(Token::kLambda)) return Lambda();
  const bool is_name = IsName();
  if (!Condition()) return false;
  if (Is(Token::kWalrus)) {
    if (!is_name || tree_.last_kind() != Kind::kIdentifier || lexer_.one_line()) return false;
    tree_.SetField(Field::kName);
    Take();
    // a := b if c else d may be read as (a := b) if c else d.
    if (!Expression() || tree_.last_kind() == Kind::kConditionalExpression) return false;
    tree_.SetField(Field::kValue);
    Close(Kind::kNamedExpression, begin);
    return true;
  }
  if (!Is(Token::kIf)) return true;
  Take();
  if (!Condition() || !Expect(Token::kElse) || !Expression()) return false;
  Close(Kind::kConditionalExpression, begin);
  return true;
}

// An expression without `if` of its own.
bool Parser::Condition() {
  const Begin begin = Here();
  if (Is(Token::kNot)) return And() && MoreOr(begin);
  if (!Unary()) return false;
  if (EndsExpression(token())) return true;
  return MoreBinary(begin, 0) && MoreComparison(begin) && MoreAnd(begin) && MoreOr(begin);
}

// Of an operator the functions named More read what follows its first operand, which begins at
// `begin`: nothing, if something else does.
bool Parser::MoreOr(Begin begin) {
  while (Is(Token::kOr)) {
    tree_.SetField(Field::kLeft);
    Take(Kind::kToken, Field::kOperator);
    if (!And()) return false;
    tree_.SetField(Field::kRight);
    Close(Kind::kOther, begin);
  }
  return true;
}

bool Parser::And() {
  const Begin begin = Here();
  return Not() && MoreAnd(begin);
}

bool Parser::MoreAnd(Begin begin) {
  while (Is(Token::kAnd)) {
    tree_.SetField(Field::kLeft);
    Take(Kind::kToken, Field::kOperator);
    if (!Not()) return false;
    tree_.SetField(Field::kRight);
    Close(Kind::kOther, begin);
  }
  return true;
}

bool Parser::Not() {
  const Begin begin = Here();
  if (!Is(Token::kNot)) return Binary(0) && MoreComparison(begin);
  const Depth depth(*this);
  if (!depth.ok) return false;
  Take();
  if (!Not()) return false;
  Close(Kind::kOther, begin);
  return true;
}

bool Parser::MoreComparison(Begin begin) {
  bool compared = false;
  while (Is(Token::kCompare) || Is(Token::kIn) || Is(Token::kIs) || Is(Token::kNot)) {
    if (!ComparisonOperator() || !Binary(0)) return false;
    compared = true;
  }
  if (compared) Close(Kind::kComparisonOperator, begin);
  return true;
}

// `not in` and `is not` are tokens made of two.
bool Parser::ComparisonOperator() {
  const Begin begin = Here();
  const Token first = token();
  Take();
  if (first == Token::kNot) {
    if (!Expect(Token::kIn)) return false;
    Close(Kind::kToken, begin);
  } else if (first == Token::kIs && Is(Token::kNot)) {
    Take();
    Close(Kind::kToken, begin);
  }
  return true;
}

bool Parser::Binary(int least) {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = Here();
  return Unary() && MoreBinary(begin, least);
}

bool Parser::MoreBinary(Begin begin, int least) {
  for (;;) {
    const int precedence = PrecedenceOf(token());
    if (precedence == 0 || precedence < least) return true;
    tree_.SetField(Field::kLeft);
    Take(Kind::kToken, Field::kOperator);
    if (!Binary(precedence == kPower ? kPower : precedence + 1)) return false;
    tree_.SetField(Field::kRight);
    Close(Kind::kBinaryOperator, begin);
  }
}

bool Parser::Unary() {
  const bool sign = Is(Token::kPlus) || Is(Token::kMinus) || Is(Token::kTilde);
  if (!sign && !Is(Token::kAwait)) return Postfix();
  const Begin begin = Here();
  Take(Kind::kToken, sign ? Field::kOperator : Field::kNone);
  if (!Binary(kUnary + 1)) return false;
  Close(Kind::kOther, begin);
  return true;
}

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

}  // namespace kernelmill::python
