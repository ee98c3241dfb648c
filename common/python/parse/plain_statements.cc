#include <cstring>
#include <limits>
#include <utility>

#include "common/base/text.h"
#include "common/python/parse/plain_parser.h"

namespace kernelmill::python {

// clang-format off
// The statements of ParsePlain, one function a line, and the tokens, lines and blocks that they are
// made of.
//
//   Module     = { Statement }
//   Statement  = If | For | While | Try | With | Decorated | Function | Class
//              | SimpleStatement { ";" SimpleStatement } newline
//   Suite      = ":" SimpleStatements | ":" newline indented { Statement }
//   If         = "if" Expression Suite { "elif" Expression Suite } [ Else ]
//   Else       = "else" Suite
//   For        = [ "async" ] "for" TargetList "in" ExpressionList Suite [ Else ]
//   While      = "while" Expression Suite [ Else ]
//   Try        = "try" Suite { Except } [ Else ] [ "finally" Suite ]
//   Except     = "except" [ Condition [ As ] ] Suite
//   With       = [ "async" ] "with" Condition [ As ] { "," Condition [ As ] } Suite
//   As         = "as" Postfix
//   Decorated  = "@" Expression newline { "@" Expression newline } ( Function | Class )
//   Class      = "class" name [ "(" { Argument "," } ")" ] Suite
//   Function   = [ "async" ] "def" name "(" { Parameter "," } ")" [ "->" Type ] Suite
// clang-format on

namespace {

bool Has(absl::string_view text, char c) {
  return !text.empty() && std::memchr(text.data(), c, text.size()) != nullptr;
}

bool HasLoneReturn(absl::string_view text) {
  for (size_t at = text.find('\r'); at != absl::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] != '\n') return true;
  }
  return false;
}

}  // namespace

// Refuses at once the texts that are too long for the offsets of a node, and those with NUL, a form
// feed, a lone carriage return or broken UTF-8.
std::optional<std::vector<SyntaxNode>> ParsePlain(absl::string_view text, size_t max_nodes) {
  if (text.size() > std::numeric_limits<uint32_t>::max() / 2 || Has(text, '\0') ||
      Has(text, '\f') || HasLoneReturn(text) || !IsUtf8(text)) {
    return std::nullopt;
  }
  PlainParser parser(text);
  if (!parser.Module() || parser.tree().here() > max_nodes) return std::nullopt;
  return parser.tree().InPreOrder();
}

void PlainParser::AddExtras() {
  for (const Extra& extra : lexer_.extras()) {
    tree_.AddLeaf(extra.kind, extra.start, extra.end);
    end_ = extra.end;
  }
  lexer_.extras().clear();
}

bool PlainParser::Expect(Token token) {
  if (!Is(token)) return false;
  Take();
  return true;
}

bool PlainParser::TakeName(Field field) {
  if (!IsName()) return false;
  Take(Kind::kIdentifier, field);
  return true;
}

// The lexer is told first: Take() reads the next token, whose line ends depend on the open
// brackets.
bool PlainParser::Opening() {
  lexer_.Open();
  Take();
  return true;
}

bool PlainParser::Closing(Token token) {
  if (!Is(token)) return false;
  lexer_.Shut();
  Take();
  return true;
}

// Simple statements, with imports, and their lines.

// A text whose first line is indented is not understood. The module begins at its first token or
// comment.
bool PlainParser::Module() {
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

// Compound statements nest in one another, so that they count for the depth.
bool PlainParser::Statement() {
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

bool PlainParser::CompoundStatement() {
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
  // `async` is hardly ever a name; its node begins there.
  const size_t next = text_.find_first_not_of(" \t", lexer_.end());
  const absl::string_view rest =
      next == absl::string_view::npos ? absl::string_view() : text_.substr(next, 4);
  if (rest == "def ") return Function();
  if (rest == "for ") return For();
  return rest == "with" && With();
}

// Up to and with the line end.
bool PlainParser::SimpleStatements() {
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
bool PlainParser::EndOfLine() {
  if (!Is(Token::kNewline)) return false;
  AddExtras();
  lexer_.NextLine();
  return !std::exchange(listed_, false) || !Is(Token::kLeftBracket);
}

// Statements that the core has no kind for become kOther.
bool PlainParser::SimpleStatement() {
  switch (token()) {
    case Token::kImport:
      return ImportStatement();
    case Token::kFrom:
      return FromImport();
    case Token::kReturn:
      return Keyword(Kind::kReturnStatement, &PlainParser::ExpressionList);
    case Token::kDel:
      return Keyword(Kind::kOther, &PlainParser::ExpressionList);
    case Token::kPass:
    case Token::kBreak:
    case Token::kContinue:
      return Keyword(Kind::kOther, nullptr);
    case Token::kGlobal:
      return Keyword(Kind::kGlobalStatement, &PlainParser::Names);
    case Token::kNonlocal:
      return Keyword(Kind::kNonlocalStatement, &PlainParser::Names);
    case Token::kAssert:
      return Keyword(Kind::kOther, &PlainParser::Assert);
    case Token::kRaise:
      return Keyword(Kind::kOther, &PlainParser::Raise);
    default:
      return ExpressionStatement();
  }
}

// A word and its operands, which `return` and `raise` may do without.
bool PlainParser::Keyword(Kind kind, bool (PlainParser::*operands)()) {
  const Begin begin = Here();
  const bool bare = Is(Token::kReturn) || Is(Token::kRaise);
  Take();
  const bool ends = bare && (Is(Token::kNewline) || Is(Token::kSemicolon));
  if (operands != nullptr && !ends && !(this->*operands)()) return false;
  Close(kind, begin);
  return true;
}

bool PlainParser::Names() {
  if (!TakeName()) return false;
  while (Is(Token::kComma)) {
    Take();
    if (!TakeName()) return false;
  }
  return true;
}

bool PlainParser::Assert() {
  if (!Expression()) return false;
  if (!Is(Token::kComma)) return true;
  Take();
  return Expression();
}

bool PlainParser::Raise() {
  if (!Expression()) return false;
  if (!Is(Token::kFrom)) return true;
  Take();
  return Expression();
}

bool PlainParser::Yield() {
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

// A list of expressions becomes an expression_list only if it is assigned to; else its parts are
// children of the statement.
bool PlainParser::ExpressionStatement() {
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
  // A comma at the line's end is left to tree-sitter, which may go on with the next line. So are
  // splats, except those of names that are assigned to or that follow another element.
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

// From the sign after the left side on. The targets of a = b = c nest: the right side of the first
// assignment is the second.
bool PlainParser::Assignment(Begin begin) {
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

// The value of an assignment, or a further assignment.
bool PlainParser::RightHandSide() {
  const Begin begin = Here();
  if (Is(Token::kYield)) return Yield();
  if (!ExpressionList()) return false;
  // The elements of a list may be targets of an assignment that never comes: tree-sitter decides by
  // the rest of the line how it reads splats within them.
  if (tree_.last_kind() == Kind::kExpressionList && tree_.HasSplatsInElements()) return false;
  return !Is(Token::kAssign) || Assignment(begin);
}

bool PlainParser::DottedName(Field field) {
  const Begin begin = Here();
  if (!TakeName()) return false;
  while (Is(Token::kDot)) {
    Take();
    if (!TakeName()) return false;
  }
  Close(Kind::kDottedName, begin, field);
  return true;
}

bool PlainParser::ImportedName() {
  const Begin begin = Here();
  if (!DottedName(Field::kName)) return false;
  if (!Is(Token::kAs)) return true;
  Take();
  if (!TakeName(Field::kAlias)) return false;
  Close(Kind::kAliasedImport, begin, Field::kName);
  return true;
}

bool PlainParser::ImportList() {
  if (!ImportedName()) return false;
  while (Is(Token::kComma)) {
    Take();
    if (Is(Token::kRightParen)) return true;
    if (!ImportedName()) return false;
  }
  return true;
}

bool PlainParser::ImportStatement() {
  const Begin begin = Here();
  Take();
  if (!ImportList()) return false;
  Close(Kind::kImportStatement, begin);
  return true;
}

// Dots and maybe a name. Three dots are one token elsewhere. A comment or a continuation between
// the dots is not understood.
bool PlainParser::RelativeModule() {
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

// `from __future__ import` is a statement of its own kind, and takes no star.
bool PlainParser::FromImport() {
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

// Statements with blocks, except definitions.

namespace {

// The scanner keeps an indentation in a byte.
constexpr int kMaxIndent = 127;

}  // namespace

// The block after a colon: statements on the line, or indented lines. Comments before its first
// statement are outside it. All its lines have the same indentation. A line between that and the
// indentation around is not understood.
bool PlainParser::Suite(Field field) {
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
void PlainParser::Dedent(int indent) {
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

// An elif or else belongs to the `if` whose indentation it has; AtIndent() compares with the block
// around.
bool PlainParser::If() {
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

// The else clause, if there is one.
bool PlainParser::Else() {
  if (!Is(Token::kElse) || !AtIndent()) return true;
  const Begin begin = Here();
  Take();
  if (!Suite(Field::kBody)) return false;
  Close(Kind::kElseClause, begin);
  return true;
}

bool PlainParser::For() {
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

bool PlainParser::While() {
  const Begin begin = Here();
  Take();
  if (!Expression() || !Suite(Field::kBody) || !Else()) return false;
  Close(Kind::kWhileStatement, begin);
  return true;
}

// There must be an except or a finally clause. An else clause needs an except clause.
bool PlainParser::Try() {
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

// A comma after the exception (Python 2) and `except*` are not understood.
bool PlainParser::Except() {
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

// `as` and its target, after the expression that begins at `begin`.
bool PlainParser::As(Begin begin) {
  Take();
  const Begin target = Here();
  if (!Postfix()) return false;
  Close(Kind::kAsPatternTarget, target, Field::kAlias);
  Close(Kind::kAsPattern, begin);
  return true;
}

// Parentheses may be the statement's or the expression's: not for us.
bool PlainParser::With() {
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

// Classes, functions, and the annotations of parameters and variables.

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

// One decorator on each line, then the class or function at the same indentation.
bool PlainParser::Decorated() {
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

bool PlainParser::Class() {
  const Begin begin = Here();
  Take();
  if (!TakeName(Field::kName)) return false;
  if (Is(Token::kLeftParen)) {
    const Begin bases = Here();
    Opening();
    if (!Elements(Token::kRightParen, &PlainParser::Argument) || !Closing(Token::kRightParen)) {
      return false;
    }
    Close(Kind::kArgumentList, bases);
  }
  if (!Suite(Field::kBody)) return false;
  Close(Kind::kClassDefinition, begin);
  return true;
}

// Also `async def`, whose node begins at `async`.
bool PlainParser::Function() {
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

bool PlainParser::ParameterList(Token end, bool typed) {
  while (!Is(end)) {
    if (!Parameter(typed)) return false;
    if (!Is(Token::kComma)) return Is(end);
    Take();
  }
  return true;
}

// name, name: type, name=default, name: type = default.
bool PlainParser::Parameter(bool typed) {
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
bool PlainParser::SplatParameter(bool typed) {
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

// Returns whether the next name has a subscript, which makes it a generic_type.
bool PlainParser::IsGeneric() const {
  return IsTypeName() && IsBracketAt(text_, text_.find_first_not_of(" \t", lexer_.end()));
}

// Returns whether a bracket follows the name on another line: tree-sitter continues with it in some
// places only.
bool PlainParser::IsGenericBeyondLine() const {
  return IsTypeName() && !IsGeneric() && IsBracketAt(text_, SkipLineEnds(text_, lexer_.end()));
}

// An annotation. A name with a subscript is a generic_type here, and not a subscript: List[int].
// One `|` after it makes a union of two types. Anything else is an expression.
bool PlainParser::Type(Field field) {
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

bool PlainParser::GenericType() {
  const Begin begin = Here();
  Take(Kind::kIdentifier);
  const Begin parameter = Here();
  Opening();
  if (Is(Token::kRightBracket) || !Elements(Token::kRightBracket, &PlainParser::TypeElement) ||
      !Closing(Token::kRightBracket)) {
    return false;
  }
  Close(Kind::kTypeParameter, parameter);
  Close(Kind::kOther, begin);
  return true;
}

}  // namespace kernelmill::python
