// Import statements.
#include "services/extractor/core/parse/plain/parser.h"

namespace kernelmill::extractor::python {

bool Parser::DottedName(Field field) {
  const Begin begin = Here();
  if (!TakeName()) return false;
  while (Is(Token::kDot)) {
    Take();
    if (!TakeName()) return false;
  }
  Close(Kind::kDottedName, begin, field);
  return true;
}

bool Parser::ImportedName() {
  const Begin begin = Here();
  if (!DottedName(Field::kName)) return false;
  if (!Is(Token::kAs)) return true;
  Take();
  if (!TakeName(Field::kAlias)) return false;
  Close(Kind::kAliasedImport, begin, Field::kName);
  return true;
}

bool Parser::ImportList() {
  if (!ImportedName()) return false;
  while (Is(Token::kComma)) {
    Take();
    if (Is(Token::kRightParen)) return true;
    if (!ImportedName()) return false;
  }
  return true;
}

bool Parser::ImportStatement() {
  const Begin begin = Here();
  Take();
  if (!ImportList()) return false;
  Close(Kind::kImportStatement, begin);
  return true;
}

// Dots and maybe a name. Three dots are one token elsewhere.
bool Parser::RelativeModule() {
  if (!Is(Token::kDot) && !Is(Token::kEllipsis)) return false;
  const Begin begin = Here();
  while (Is(Token::kDot) || Is(Token::kEllipsis)) {
    for (uint32_t at = lexer_.start(); at < lexer_.end(); ++at) {
      tree_.AddLeaf(Kind::kToken, at, at + 1);
    }
    end_ = lexer_.end();
    lexer_.Next();
    if (!lexer_.extras().empty()) return false;
  }
  Close(Kind::kOther, begin);
  if (!Is(Token::kImport) && !DottedName(Field::kNone)) return false;
  Close(Kind::kRelativeImport, begin, Field::kModuleName);
  return true;
}

bool Parser::FromImport() {
  const Begin begin = Here();
  Take();
  const bool future = Word() == "__future__";
  if (future) {
    Take();
  } else if (!(Is(Token::kName) || IsName() ? DottedName(Field::kModuleName) : RelativeModule())) {
    return false;
  }
  if (!Expect(Token::kImport)) return false;
  if (Is(Token::kStar) && !future) {
    const Begin star = Here();
    Take();
    Close(Kind::kWildcardImport, star);
  } else if (Is(Token::kLeftParen)) {
    Opening();
    if (!ImportList() || !Closing(Token::kRightParen)) return false;
  } else if (!ImportList()) {
    return false;
  }
  Close(future ? Kind::kFutureImportStatement : Kind::kImportFromStatement, begin);
  return true;
}

}  // namespace kernelmill::extractor::python
