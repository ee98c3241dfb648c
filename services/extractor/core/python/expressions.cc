// Expressions, types and what is assigned to.
#include "services/extractor/core/python/parser.h"

namespace kernelmill::extractor::python {
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

// What may stand after *operand, where all grammars agree how far the operand goes.
bool EndsSplat(Token token) {
  switch (token) {
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
  if (!ExpressionOrSplat(false)) return false;
  if (!Is(Token::kComma)) return true;
  while (Is(Token::kComma)) {
    Take();
    if (EndsList(token())) break;
    if (!ExpressionOrSplat(true)) return false;
  }
  Close(Kind::kExpressionList, begin);
  return true;
}

bool Parser::ExpressionOrSplat(bool listed) {
  return Is(Token::kStar) ? SplatName(listed) : Expression();
}

// *operand among arguments and elements.
bool Parser::Splat() {
  const Begin begin = Here();
  Take();
  if (!Postfix() || !EndsSplat(token())) return false;
  Close(Kind::kListSplat, begin);
  return true;
}

// Elsewhere tree-sitter has the star bind to the name after it more than what follows that:
// *x.shape is an attribute of *x, if others stand beside it.
bool Parser::SplatName(bool listed) {
  const Begin begin = Here();
  Take();
  if (!Is(Token::kName)) return false;
  Take(Kind::kIdentifier);
  Close(Kind::kListSplat, begin);
  const bool name_alone = EndsSplat(token());
  return Trailers(begin) && EndsSplat(token()) && (name_alone || listed || Is(Token::kComma));
}

// The first element of a list or a set: a splat of more than a name is read as among elements if
// others follow, and as elsewhere if none do.
bool Parser::FirstElement() {
  if (!Is(Token::kStar)) return Expression();
  const Begin begin = Here();
  Take();
  const bool is_name = Is(Token::kName);
  if (!Postfix() || !EndsSplat(token())) return false;
  Close(Kind::kListSplat, begin);
  return Is(Token::kComma) || tree_.here() - begin.place == 3 ||
         (is_name && tree_.BindSplatToName(begin.place));
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
    if (!Expression()) return false;
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

bool Parser::Postfix() {
  const Begin begin = Here();
  return Atom() && Trailers(begin);
}

// What follows an atom that begins at `begin`.
bool Parser::Trailers(Begin begin) {
  for (;;) {
    if (Is(Token::kDot)) {
      tree_.SetField(Field::kObject);
      Take();
      if (!TakeName(Field::kAttribute)) return false;
      Close(Kind::kAttribute, begin);
    } else if (Is(Token::kLeftParen)) {
      tree_.SetField(Field::kFunction);
      if (!Arguments(begin)) return false;
    } else if (Is(Token::kLeftBracket)) {
      tree_.SetField(Field::kValue);
      if (!Subscripts()) return false;
      Close(Kind::kSubscript, begin);
    } else {
      return true;
    }
  }
}

bool Parser::Atom() {
  switch (token()) {
    case Token::kName:
    case Token::kType:
    case Token::kMatch:
      Take(Kind::kIdentifier);
      return true;
    case Token::kPrint:
    case Token::kExec:
      Take(Kind::kIdentifier);
      return Is(Token::kLeftParen);
    case Token::kNumber:
    case Token::kEllipsis:
    case Token::kTrue:
    case Token::kFalse:
      Take(Kind::kOther);
      return true;
    case Token::kNone:
      Take(Kind::kNoneLiteral);
      return true;
    case Token::kString:
      return Strings();
    case Token::kLeftParen:
      return InParentheses();
    case Token::kLeftBracket:
      return InBrackets();
    case Token::kLeftBrace:
      return InBraces();
    default:
      return false;
  }
}

bool Parser::Lambda() {
  const Begin begin = Here();
  Take();
  if (!Is(Token::kColon)) {
    const Begin parameters = Here();
    if (!ParameterList(Token::kColon, false)) return false;
    Close(Kind::kLambdaParameters, parameters, Field::kParameters);
  }
  if (!Expect(Token::kColon) || !Expression()) return false;
  tree_.SetField(Field::kBody);
  Close(Kind::kLambda, begin);
  return true;
}

// The elements of a list up to `end`, each with a comma but maybe the last.
bool Parser::Elements(Token end, bool (Parser::*element)()) {
  while (!Is(end)) {
    if (!(this->*element)()) return false;
    if (!Is(Token::kComma)) return Is(end);
    Take();
  }
  return true;
}

bool Parser::Arguments(Begin call) {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = Here();
  const bool around = printing_;
  printing_ = begin.place - call.place == 1 && text_.substr(call.start, 5) == "print";
  Opening();
  const bool splat = Is(Token::kDoubleStar);
  if (!Is(Token::kRightParen) && !Argument()) return false;
  Kind kind = Kind::kArgumentList;
  if (Is(Token::kFor) || Is(Token::kAsync)) {
    if (splat || tree_.last_kind() == Kind::kKeywordArgument) return false;
    tree_.SetField(Field::kBody);
    if (!Comprehension()) return false;
    kind = Kind::kGeneratorExpression;
  } else if (Is(Token::kComma)) {
    Take();
    if (!Elements(Token::kRightParen, &Parser::Argument)) return false;
  }
  if (!Closing(Token::kRightParen)) return false;
  printing_ = around;
  Close(kind, begin, Field::kArguments);
  Close(Kind::kCall, call);
  return true;
}

bool Parser::Argument() {
  const Begin begin = Here();
  // What follows `print` may be a tuple as well, where a splat is read in another way.
  if (Is(Token::kStar)) return Splat() && (!printing_ || tree_.here() - begin.place == 3);
  if (Is(Token::kDoubleStar)) {
    Take();
    if (!Expression()) return false;
    Close(Kind::kOther, begin);
    return true;
  }
  if (!Expression()) return false;
  if (!Is(Token::kAssign)) return true;
  if (tree_.last_kind() != Kind::kIdentifier || tree_.last_start() != begin.start) return false;
  tree_.SetField(Field::kName);
  Take();
  if (!Expression()) return false;
  tree_.SetField(Field::kValue);
  Close(Kind::kKeywordArgument, begin);
  return true;
}

bool Parser::Subscripts() {
  const Depth depth(*this);
  if (!depth.ok) return false;
  Opening();
  if (Is(Token::kRightBracket) || !Elements(Token::kRightBracket, &Parser::Slice)) return false;
  return Closing(Token::kRightBracket);
}

bool Parser::Slice() {
  const Begin begin = Here();
  if (!Is(Token::kColon) && !ExpressionOrSplat(false)) return false;
  if (!Is(Token::kColon)) return true;
  for (int colons = 0; colons < 2 && Is(Token::kColon); ++colons) {
    Take();
    if (Is(Token::kColon) || Is(Token::kComma) || Is(Token::kRightBracket)) continue;
    if (!Expression()) return false;
  }
  Close(Kind::kOther, begin);
  return true;
}

bool Parser::InParentheses() {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = Here();
  Opening();
  Kind kind = Kind::kTuple;
  if (Is(Token::kYield)) {
    if (!Yield()) return false;
    kind = Kind::kParenthesizedExpression;
  } else if (!Is(Token::kRightParen)) {
    const bool splat = Is(Token::kStar);
    if (!Element()) return false;
    if (Is(Token::kComma)) {
      Take();
      if (!Elements(Token::kRightParen, &Parser::Element)) return false;
    } else if (splat) {
      return false;
    } else if (Is(Token::kFor) || Is(Token::kAsync)) {
      tree_.SetField(Field::kBody);
      if (!Comprehension()) return false;
      kind = Kind::kGeneratorExpression;
    } else {
      kind = Kind::kParenthesizedExpression;
    }
  }
  if (!Closing(Token::kRightParen)) return false;
  Close(kind, begin);
  return true;
}

bool Parser::InBrackets() {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = Here();
  Opening();
  Kind kind = Kind::kList;
  if (!Is(Token::kRightBracket)) {
    if (!FirstElement()) return false;
    if (Is(Token::kFor) || Is(Token::kAsync)) {
      tree_.SetField(Field::kBody);
      if (!Comprehension()) return false;
      kind = Kind::kListComprehension;
    } else if (Is(Token::kComma)) {
      Take();
      if (!Elements(Token::kRightBracket, &Parser::Element)) return false;
    }
  }
  if (!Closing(Token::kRightBracket)) return false;
  Close(kind, begin);
  return true;
}

bool Parser::InBraces() {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = Here();
  Opening();
  Kind kind = Kind::kDictionary;
  if (!Is(Token::kRightBrace)) {
    const Begin first = Here();
    const bool splat = Is(Token::kDoubleStar);
    if (splat ? !DictionaryElement() : !FirstElement()) return false;
    const bool pair = Is(Token::kColon);
    if (pair && (splat || !Pair())) return false;
    if (pair) Close(Kind::kPair, first);
    const bool set = !splat && !pair;
    if (set) kind = Kind::kOther;
    if (!splat && (Is(Token::kFor) || Is(Token::kAsync))) {
      tree_.SetField(Field::kBody);
      if (!Comprehension()) return false;
      kind = set ? Kind::kSetComprehension : Kind::kDictionaryComprehension;
    } else if (Is(Token::kComma)) {
      Take();
      if (!Elements(Token::kRightBrace, set ? &Parser::Element : &Parser::DictionaryElement)) {
        return false;
      }
    }
  }
  if (!Closing(Token::kRightBrace)) return false;
  Close(kind, begin);
  return true;
}

// From the colon on; the key is there.
bool Parser::Pair() {
  tree_.SetField(Field::kKey);
  Take();
  if (!Expression()) return false;
  tree_.SetField(Field::kValue);
  return true;
}

bool Parser::DictionaryElement() {
  const Begin begin = Here();
  if (Is(Token::kDoubleStar)) {
    Take();
    if (!Expression()) return false;
    Close(Kind::kOther, begin);
    return true;
  }
  if (!Expression() || !Is(Token::kColon) || !Pair()) return false;
  Close(Kind::kPair, begin);
  return true;
}

// The clauses after the body. Of `x if a else b` Python takes none without parentheses there.
bool Parser::Comprehension() {
  for (bool first = true; first || Is(Token::kFor) || Is(Token::kIf) || Is(Token::kAsync);
       first = false) {
    const Begin begin = Here();
    if (Is(Token::kIf)) {
      Take();
      if (!Condition()) return false;
      Close(Kind::kOther, begin);
      continue;
    }
    if (Is(Token::kAsync)) Take();
    if (!Expect(Token::kFor) || !TargetList()) return false;
    tree_.SetField(Field::kLeft);
    if (!Expect(Token::kIn) || !Condition()) return false;
    tree_.SetField(Field::kRight);
    Close(Kind::kForInClause, begin);
  }
  return true;
}

// Whether the name that comes next has a subscript, which makes it a generic_type.
bool Parser::IsGeneric() const {
  if (!Is(Token::kName) && !Is(Token::kType)) return false;
  const size_t next = text_.find_first_not_of(" \t", lexer_.end());
  return next != absl::string_view::npos && text_[next] == '[';
}

// An annotation.
bool Parser::Type(Field field) {
  const Depth depth(*this);
  const Begin begin = Here();
  if (!depth.ok) return false;
  if (!IsGeneric()) {
    if (!Expression()) return false;
  } else {
    if (!GenericType()) return false;
    if (Is(Token::kPipe)) {
      Close(Kind::kType, begin);
      Take();
      const Begin other = Here();
      if (!(IsGeneric() ? GenericType() : Postfix())) return false;
      Close(Kind::kType, other);
      Close(Kind::kOther, begin);
    }
    if (!EndsSplat(token()) && !Is(Token::kColon)) return false;
  }
  Close(Kind::kType, begin, field);
  return true;
}

bool Parser::GenericType() {
  const Begin begin = Here();
  Take(Kind::kIdentifier);
  const Begin parameter = Here();
  Opening();
  if (Is(Token::kRightBracket) || !Elements(Token::kRightBracket, &Parser::TypeElement) ||
      !Closing(Token::kRightBracket)) {
    return false;
  }
  Close(Kind::kTypeParameter, parameter);
  Close(Kind::kOther, begin);
  return true;
}

}  // namespace kernelmill::extractor::python
