// Annotations.
#include "services/extractor/core/parse/plain/parser.h"

namespace kernelmill::extractor::python {

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

}  // namespace kernelmill::extractor::python
