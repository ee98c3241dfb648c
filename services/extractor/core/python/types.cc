// Annotations.
#include "services/extractor/core/python/parser.h"

namespace kernelmill::extractor::python {

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
