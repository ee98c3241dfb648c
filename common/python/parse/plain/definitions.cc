// Classes, functions, and the annotations of parameters and variables.
#include "common/python/parse/plain/parser.h"

namespace kernelmill::python {
namespace {

// The place of the first character from `at` on that is no blank, line end or part of a comment.
size_t SkipLineEnds(absl::string_view text, size_t at) {
  for (;;) {
    at = text.find_first_not_of(" \t\r\n\\", at);
    if (at == absl::string_view::npos || text[at] != '#') return at;
    at = text.find('\n', at);
  }
}

bool IsBracketAt(absl::string_view text, size_t at) {
  return at != absl::string_view::npos && text[at] == '[';
}

}  // namespace

bool Parser::Decorated() {
  const Begin begin = Here();
  while (Is(Token::kAt)) {
    const Begin decorator = Here();
    Take();
    if (!Expression() || !EndOfLine() || !AtIndent()) return false;
    Close(Kind::kDecorator, decorator);
    // A comment left of the block may end it there.
    for (const Extra& extra : lexer_.extras()) {
      if (extra.indent < indents_.back()) return false;
    }
  }
  if (Is(Token::kClass) ? !Class() : !Function()) return false;
  tree_.SetField(Field::kDefinition);
  Close(Kind::kDecoratedDefinition, begin);
  return true;
}

bool Parser::Class() {
  const Begin begin = Here();
  Take();
  if (!TakeName(Field::kName)) return false;
  if (Is(Token::kLeftParen)) {
    const Begin bases = Here();
    Opening();
    if (!Elements(Token::kRightParen, &Parser::Argument) || !Closing(Token::kRightParen)) {
      return false;
    }
    Close(Kind::kArgumentList, bases);
  }
  if (!Suite(Field::kBody)) return false;
  Close(Kind::kClassDefinition, begin);
  return true;
}

bool Parser::Function() {
  const Begin begin = Here();
  if (Is(Token::kAsync)) Take();
  if (!Expect(Token::kDef) || !TakeName(Field::kName)) return false;
  const Begin parameters = Here();
  if (!Is(Token::kLeftParen)) return false;
  Opening();
  if (!ParameterList(Token::kRightParen, true) || !Closing(Token::kRightParen)) return false;
  Close(Kind::kParameters, parameters, Field::kParameters);
  if (Is(Token::kArrow)) {
    Take();
    if (!Type(Field::kNone)) return false;
  }
  if (!Suite(Field::kBody)) return false;
  Close(Kind::kFunctionDefinition, begin);
  return true;
}

bool Parser::ParameterList(Token end, bool typed) {
  while (!Is(end)) {
    if (!Parameter(typed)) return false;
    if (!Is(Token::kComma)) return Is(end);
    Take();
  }
  return true;
}

bool Parser::Parameter(bool typed) {
  if (Is(Token::kStar) || Is(Token::kDoubleStar) || Is(Token::kSlash)) {
    return SplatParameter(typed);
  }
  const Begin begin = Here();
  if (!Is(Token::kName) && !Is(Token::kType) && !Is(Token::kMatch)) return false;
  Take(Kind::kIdentifier);
  const bool has_type = typed && Is(Token::kColon);
  if (has_type) {
    Take();
    if (!Type(Field::kType)) return false;
  }
  if (!Is(Token::kAssign)) {
    if (has_type) Close(Kind::kTypedParameter, begin);
    return true;
  }
  if (has_type) {
    tree_.SetFieldAt(begin.place, Field::kName);
  } else {
    tree_.SetField(Field::kName);
  }
  Take();
  if (!Expression()) return false;
  tree_.SetField(Field::kValue);
  Close(has_type ? Kind::kTypedDefaultParameter : Kind::kDefaultParameter, begin);
  return true;
}

// *args, **kwargs, and the * and / that only separate others.
bool Parser::SplatParameter(bool typed) {
  const Begin begin = Here();
  const bool star = Is(Token::kStar);
  const bool slash = Is(Token::kSlash);
  Take();
  if (slash || (star && Is(Token::kComma))) {
    Close(Kind::kOther, begin);
    return true;
  }
  if (!TakeName()) return false;
  Close(star ? Kind::kListSplatPattern : Kind::kDictionarySplatPattern, begin);
  if (!typed || !Is(Token::kColon)) return true;
  Take();
  if (!Type(Field::kType)) return false;
  Close(Kind::kTypedParameter, begin);
  return true;
}

// Whether the name that comes next has a subscript, which makes it a generic_type.
bool Parser::IsGeneric() const {
  return IsTypeName() && IsBracketAt(text_, text_.find_first_not_of(" \t", lexer_.end()));
}

// Whether a bracket follows the name on another line: tree-sitter goes on with it in other places
// than elsewhere.
bool Parser::IsGenericBeyondLine() const {
  return IsTypeName() && !IsGeneric() && IsBracketAt(text_, SkipLineEnds(text_, lexer_.end()));
}

// An annotation.
bool Parser::Type(Field field) {
  const Depth depth(*this);
  const Begin begin = Here();
  if (!depth.ok || IsGenericBeyondLine()) return false;
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
    if (!AtOperandEnd() && !Is(Token::kColon)) return false;
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

}  // namespace kernelmill::python
