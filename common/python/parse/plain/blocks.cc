// Statements with blocks, but for definitions.
#include "common/python/parse/plain/parser.h"

namespace kernelmill::python {
namespace {

// The scanner keeps an indentation in a byte.
constexpr int kMaxIndent = 127;

}  // namespace

// After a colon: statements on the line, or an indented block. Comments before its first statement
// stand outside it.
bool Parser::Suite(Field field) {
  if (!Expect(Token::kColon)) return false;
  if (!Is(Token::kNewline)) {
    const Begin begin = Here();
    if (!SimpleStatements()) return false;
    Close(Kind::kBlock, begin, field);
    return true;
  }
  lexer_.NextLine();
  const int indent = lexer_.indent();
  if (indent <= indents_.back() || indent > kMaxIndent) return false;
  indents_.push_back(indent);
  lexer_.set_block_indent(indent);
  const Begin begin = Here();
  while (lexer_.indent() == indent && !Is(Token::kEnd)) {
    if (!Statement()) return false;
  }
  if (lexer_.indent() > indent) return false;
  Dedent(indent);
  Close(Kind::kBlock, begin, field);
  return true;
}

// The end of a block is a token without length too, which comes after the comments that are
// indented like the block.
void Parser::Dedent(int indent) {
  std::vector<Extra>& extras = lexer_.extras();
  size_t count = 0;
  for (; count < extras.size() && extras[count].indent >= indent; ++count) {
    tree_.AddLeaf(extras[count].kind, extras[count].start, extras[count].end);
    end_ = extras[count].end;
  }
  extras.erase(extras.begin(), extras.begin() + static_cast<ptrdiff_t>(count));
  indents_.pop_back();
  lexer_.set_block_indent(indents_.back());
}

bool Parser::If() {
  const Begin begin = Here();
  Take();
  if (!Expression() || !Suite(Field::kNone)) return false;
  while (Is(Token::kElif) && AtIndent()) {
    const Begin clause = Here();
    Take();
    if (!Expression() || !Suite(Field::kNone)) return false;
    Close(Kind::kElifClause, clause);
  }
  if (!Else()) return false;
  Close(Kind::kIfStatement, begin);
  return true;
}

// Where there is one.
bool Parser::Else() {
  if (!Is(Token::kElse) || !AtIndent()) return true;
  const Begin begin = Here();
  Take();
  if (!Suite(Field::kBody)) return false;
  Close(Kind::kElseClause, begin);
  return true;
}

bool Parser::For() {
  const Begin begin = Here();
  if (Is(Token::kAsync)) Take();
  if (!Expect(Token::kFor) || !TargetList()) return false;
  tree_.SetField(Field::kLeft);
  if (!Expect(Token::kIn) || !ExpressionList()) return false;
  tree_.SetField(Field::kRight);
  if (!Suite(Field::kBody) || !Else()) return false;
  Close(Kind::kForStatement, begin);
  return true;
}

bool Parser::While() {
  const Begin begin = Here();
  Take();
  if (!Expression() || !Suite(Field::kBody) || !Else()) return false;
  Close(Kind::kWhileStatement, begin);
  return true;
}

bool Parser::Try() {
  const Begin begin = Here();
  Take();
  if (!Suite(Field::kBody)) return false;
  bool caught = false;
  for (; Is(Token::kExcept) && AtIndent(); caught = true) {
    if (!Except()) return false;
  }
  if (caught && !Else()) return false;
  if (Is(Token::kFinally) && AtIndent()) {
    const Begin clause = Here();
    Take();
    if (!Suite(Field::kNone)) return false;
    Close(Kind::kFinallyClause, clause);
  } else if (!caught) {
    return false;
  }
  Close(Kind::kTryStatement, begin);
  return true;
}

bool Parser::Except() {
  const Begin begin = Here();
  Take();
  if (!Is(Token::kColon)) {
    const Begin value = Here();
    if (!Condition()) return false;
    if (Is(Token::kAs) && !As(value)) return false;
    tree_.SetField(Field::kValue);
  }
  if (!Suite(Field::kNone)) return false;
  Close(Kind::kExceptClause, begin);
  return true;
}

// What stands before it is there.
bool Parser::As(Begin begin) {
  Take();
  const Begin target = Here();
  if (!Postfix()) return false;
  Close(Kind::kAsPatternTarget, target, Field::kAlias);
  Close(Kind::kAsPattern, begin);
  return true;
}

// Parentheses may be the statement's or the expression's: not for us.
bool Parser::With() {
  const Begin begin = Here();
  if (Is(Token::kAsync)) Take();
  if (!Expect(Token::kWith)) return false;
  const Begin clause = Here();
  if (Is(Token::kLeftParen)) return false;
  for (;;) {
    const Begin item = Here();
    if (!Condition()) return false;
    if (Is(Token::kAs) && !As(item)) return false;
    tree_.SetField(Field::kValue);
    Close(Kind::kOther, item);
    if (!Is(Token::kComma)) break;
    Take();
  }
  Close(Kind::kOther, clause);
  if (!Suite(Field::kBody)) return false;
  Close(Kind::kWithStatement, begin);
  return true;
}

}  // namespace kernelmill::python
