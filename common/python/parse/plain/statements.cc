// Simple statements, imports among them, and the lines that they stand on.
#include <utility>

#include "common/python/parse/plain/parser.h"

namespace kernelmill::python {

bool Parser::Module() {
  lexer_.NextLine();
  if (lexer_.indent() != 0) return false;
  const uint32_t start = lexer_.extras().empty() ? lexer_.start() : lexer_.extras().front().start;
  while (!Is(Token::kEnd)) {
    if (lexer_.indent() != 0 || !Statement()) return false;
  }
  AddExtras();
  if (tree_.here() == 0) return false;
  tree_.Close(Kind::kModule, 0, start, static_cast<uint32_t>(text_.size()));
  return true;
}

bool Parser::Statement() {
  switch (token()) {
    case Token::kIf:
    case Token::kFor:
    case Token::kWhile:
    case Token::kTry:
    case Token::kWith:
    case Token::kDef:
    case Token::kClass:
    case Token::kAt:
    case Token::kAsync: {
      const Depth depth(*this);
      return depth.ok && CompoundStatement();
    }
    default:
      return SimpleStatements();
  }
}

bool Parser::CompoundStatement() {
  switch (token()) {
    case Token::kIf:
      return If();
    case Token::kFor:
      return For();
    case Token::kWhile:
      return While();
    case Token::kTry:
      return Try();
    case Token::kWith:
      return With();
    case Token::kDef:
      return Function();
    case Token::kClass:
      return Class();
    case Token::kAt:
      return Decorated();
    default:
      break;
  }
  // After `async` a name as good as never stands; its node begins there.
  const size_t next = text_.find_first_not_of(" \t", lexer_.end());
  const absl::string_view rest =
      next == absl::string_view::npos ? absl::string_view() : text_.substr(next, 4);
  if (rest == "def ") return Function();
  if (rest == "for ") return For();
  return rest == "with" && With();
}

// Up to and with the line end.
bool Parser::SimpleStatements() {
  for (;;) {
    if (!SimpleStatement()) return false;
    if (!Is(Token::kSemicolon)) break;
    Take();
    if (Is(Token::kNewline)) break;
  }
  return EndOfLine();
}

// A newline is a token without length, right after the comment of its line. Behind a list without
// brackets tree-sitter may take a line that begins with one for a part of it.
bool Parser::EndOfLine() {
  if (!Is(Token::kNewline)) return false;
  AddExtras();
  lexer_.NextLine();
  return !std::exchange(listed_, false) || !Is(Token::kLeftBracket);
}

bool Parser::SimpleStatement() {
  switch (token()) {
    case Token::kImport:
      return ImportStatement();
    case Token::kFrom:
      return FromImport();
    case Token::kReturn:
      return Keyword(Kind::kReturnStatement, &Parser::ExpressionList);
    case Token::kDel:
      return Keyword(Kind::kOther, &Parser::ExpressionList);
    case Token::kPass:
    case Token::kBreak:
    case Token::kContinue:
      return Keyword(Kind::kOther, nullptr);
    case Token::kGlobal:
      return Keyword(Kind::kGlobalStatement, &Parser::Names);
    case Token::kNonlocal:
      return Keyword(Kind::kNonlocalStatement, &Parser::Names);
    case Token::kAssert:
      return Keyword(Kind::kOther, &Parser::Assert);
    case Token::kRaise:
      return Keyword(Kind::kOther, &Parser::Raise);
    default:
      return ExpressionStatement();
  }
}

// A word and its operands, which `return` and `raise` may do without.
bool Parser::Keyword(Kind kind, bool (Parser::*operands)()) {
  const Begin begin = Here();
  const bool bare = Is(Token::kReturn) || Is(Token::kRaise);
  Take();
  const bool ends = bare && (Is(Token::kNewline) || Is(Token::kSemicolon));
  if (operands != nullptr && !ends && !(this->*operands)()) return false;
  Close(kind, begin);
  return true;
}

bool Parser::Names() {
  if (!TakeName()) return false;
  while (Is(Token::kComma)) {
    Take();
    if (!TakeName()) return false;
  }
  return true;
}

bool Parser::Assert() {
  if (!Expression()) return false;
  if (!Is(Token::kComma)) return true;
  Take();
  return Expression();
}

bool Parser::Raise() {
  if (!Expression()) return false;
  if (!Is(Token::kFrom)) return true;
  Take();
  return Expression();
}

bool Parser::Yield() {
  const Begin begin = Here();
  Take();
  if (Is(Token::kFrom)) {
    Take();
    if (!Expression()) return false;
  } else if (!Is(Token::kRightParen) && !Is(Token::kNewline) && !Is(Token::kSemicolon)) {
    if (!ExpressionList()) return false;
  }
  Close(Kind::kOther, begin);
  return true;
}

bool Parser::ExpressionStatement() {
  const Begin begin = Here();
  if (Is(Token::kYield)) {
    if (!Yield()) return false;
    Close(Kind::kExpressionStatement, begin);
    return true;
  }
  // `match` and `type` begin statements of their own: what may be one is left alone.
  if (Is(Token::kMatch) || Is(Token::kType)) {
    const size_t next = text_.find_first_not_of(" \t", lexer_.end());
    const char c = next == absl::string_view::npos ? '\n' : text_[next];
    if (c != '=' && c != '.' && c != ':') return false;
  }
  // A comma at the line's end is not for us: tree-sitter may go on with the next line. Nor are
  // splats, but of names that are assigned to or stand behind something.
  const bool splat = Is(Token::kStar);
  if (!(splat ? SplatOfName() : Expression())) return false;
  const bool list = Is(Token::kComma);
  listed_ = listed_ || list;
  while (Is(Token::kComma)) {
    Take();
    if (Is(Token::kLambda)) return false;  // may be read as a name with an annotation
    if (Is(Token::kAssign)) break;
    if (!(Is(Token::kStar) ? SplatOfName() : Expression())) return false;
  }
  if (splat && !(list && Is(Token::kAssign))) return false;
  if (Is(Token::kAssign) || Is(Token::kAugmentedAssign) || (Is(Token::kColon) && !list)) {
    if (list) Close(Kind::kExpressionList, begin);
    if (!Assignment(begin)) return false;
  }
  Close(Kind::kExpressionStatement, begin);
  return true;
}

// From the sign after the left side on.
bool Parser::Assignment(Begin begin) {
  const Depth depth(*this);
  if (!depth.ok || !tree_.MakePattern()) return false;
  tree_.SetField(Field::kLeft);
  const bool augmented = Is(Token::kAugmentedAssign);
  if (augmented) {
    Take(Kind::kToken, Field::kOperator);
  } else {
    if (Is(Token::kColon)) {
      Take();
      if (!Type(Field::kType)) return false;
      if (!Is(Token::kAssign)) {
        Close(Kind::kAssignment, begin);
        return true;
      }
    }
    if (!Expect(Token::kAssign)) return false;
  }
  if (!RightHandSide()) return false;
  tree_.SetField(Field::kRight);
  Close(augmented ? Kind::kAugmentedAssignment : Kind::kAssignment, begin);
  return true;
}

bool Parser::RightHandSide() {
  const Begin begin = Here();
  if (Is(Token::kYield)) return Yield();
  if (!ExpressionList()) return false;
  // What stands in a list may be targets of an assignment that never comes: whether tree-sitter
  // reads splats within its elements so hangs on what follows.
  if (tree_.last_kind() == Kind::kExpressionList && tree_.HasSplatsInElements()) return false;
  return !Is(Token::kAssign) || Assignment(begin);
}

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

}  // namespace kernelmill::python
