// What operators stand between: names, literals, displays, and what follows them.
#include "common/python/parse/plain/parser.h"

namespace kernelmill::python {

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
  if (!Is(Token::kColon) && !ExpressionOrSplat()) return false;
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

}  // namespace kernelmill::python
