#include "absl/strings/ascii.h"
#include "common/code/python.h"
#include "common/python/parse/plain_parser.h"

namespace kernelmill::python {

// Operators, lists of expressions, targets of assignments, and *operand, which tree-sitter reads in
// more than one way.

// clang-format off
// The grammar, one function a line. A function named More reads the part in braces after a first
// operand that was read already.
//
//   Expression = Lambda | name ":=" Expression | Condition [ "if" Condition "else" Expression ]
//   Condition  = And { "or" And }
//   And        = Not { "and" Not }
//   Not        = "not" Not | Binary { comparison Binary }
//   Binary     = Unary { operator Unary }          by precedence
//   Unary      = ( "+" | "-" | "~" | "await" ) Binary | Postfix
//   Postfix    = Atom { "." name | Arguments | Subscripts }
//   Atom       = name | number | "..." | True | False | None | Strings
//              | InParentheses | InBrackets | InBraces
// clang-format on

namespace {

// How tightly operators bind, as tree-sitter's grammar numbers it. There `^` binds more than `&`.
constexpr int kBitwiseOr = 14;
constexpr int kBitwiseAnd = 15;
constexpr int kBitwiseXor = 16;
constexpr int kShift = 17;
constexpr int kSum = 18;
constexpr int kProduct = 19;
constexpr int kUnary = 20;
constexpr int kPower = 21;

// Returns how tightly a token binds as an operator; 0 for any other token.
int GetPrecedence(Token token) {
  switch (token) {
    case Token::kPipe:
      return kBitwiseOr;
    case Token::kAmpersand:
      return kBitwiseAnd;
    case Token::kCaret:
      return kBitwiseXor;
    case Token::kShiftLeft:
    case Token::kShiftRight:
      return kShift;
    case Token::kPlus:
    case Token::kMinus:
      return kSum;
    case Token::kStar:
    case Token::kAt:
    case Token::kSlash:
    case Token::kPercent:
    case Token::kDoubleSlash:
      return kProduct;
    case Token::kDoubleStar:
      return kPower;
    default:
      return 0;
  }
}

// Tokens that may follow the comma at the end of a list.
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

// Tokens that end an expression at once: most expressions are one operand.
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
bool PlainParser::ExpressionList() {
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

// The targets of a loop: one, or a pattern_list.
bool PlainParser::TargetList() {
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

bool PlainParser::Target() {
  const Begin begin = Here();
  if (!Is(Token::kStar)) return Postfix() && tree_.MakePattern();
  Take();
  if (!Postfix() || !tree_.MakePattern()) return false;
  Close(Kind::kListSplatPattern, begin);
  return true;
}

// A walrus needs a name before it that is an expression of its own.
bool PlainParser::Expression() {
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
bool PlainParser::Condition() {
  const Begin begin = Here();
  if (Is(Token::kNot)) return And() && MoreOr(begin);
  if (!Unary()) return false;
  if (EndsExpression(token())) return true;
  return MoreBinary(begin, 0) && MoreComparison(begin) && MoreAnd(begin) && MoreOr(begin);
}

// The functions named More read the rest of an operator after its first operand, which begins at
// `begin`. They read nothing if another token follows.
bool PlainParser::MoreOr(Begin begin) {
  while (Is(Token::kOr)) {
    tree_.SetField(Field::kLeft);
    Take(Kind::kToken, Field::kOperator);
    if (!And()) return false;
    tree_.SetField(Field::kRight);
    Close(Kind::kOther, begin);
  }
  return true;
}

bool PlainParser::And() {
  const Begin begin = Here();
  return Not() && MoreAnd(begin);
}

bool PlainParser::MoreAnd(Begin begin) {
  while (Is(Token::kAnd)) {
    tree_.SetField(Field::kLeft);
    Take(Kind::kToken, Field::kOperator);
    if (!Not()) return false;
    tree_.SetField(Field::kRight);
    Close(Kind::kOther, begin);
  }
  return true;
}

bool PlainParser::Not() {
  const Begin begin = Here();
  if (!Is(Token::kNot)) return Binary(0) && MoreComparison(begin);
  const Depth depth(*this);
  if (!depth.ok) return false;
  Take();
  if (!Not()) return false;
  Close(Kind::kOther, begin);
  return true;
}

// All operands of a < b < c become children of one node.
bool PlainParser::MoreComparison(Begin begin) {
  bool compared = false;
  while (Is(Token::kCompare) || Is(Token::kIn) || Is(Token::kIs) || Is(Token::kNot)) {
    if (!ComparisonOperator() || !Binary(0)) return false;
    compared = true;
  }
  if (compared) Close(Kind::kComparisonOperator, begin);
  return true;
}

// `not in` and `is not` are tokens made of two.
bool PlainParser::ComparisonOperator() {
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

bool PlainParser::Binary(int least) {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = Here();
  return Unary() && MoreBinary(begin, least);
}

// Takes the operators that bind at least as tightly as `least`. The right side of ** takes a
// further **. All other operators group to the left.
bool PlainParser::MoreBinary(Begin begin, int least) {
  for (;;) {
    const int precedence = GetPrecedence(token());
    if (precedence == 0 || precedence < least) return true;
    tree_.SetField(Field::kLeft);
    Take(Kind::kToken, Field::kOperator);
    if (!Binary(precedence == kPower ? kPower : precedence + 1)) return false;
    tree_.SetField(Field::kRight);
    Close(Kind::kBinaryOperator, begin);
  }
}

// A sign binds more tightly than all operators with two sides except **: -a ** b is -(a ** b).
bool PlainParser::Unary() {
  const bool sign = Is(Token::kPlus) || Is(Token::kMinus) || Is(Token::kTilde);
  if (!sign && !Is(Token::kAwait)) return Postfix();
  const Begin begin = Here();
  Take(Kind::kToken, sign ? Field::kOperator : Field::kNone);
  if (!Binary(kUnary + 1)) return false;
  Close(Kind::kOther, begin);
  return true;
}

// Returns whether the next token may end an operand of `*` or an annotation: all grammars then
// agree on how far it goes.
bool PlainParser::AtOperandEnd() const {
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
bool PlainParser::Splat() {
  const Begin begin = Here();
  Take();
  if (!Postfix() || !AtOperandEnd()) return false;
  Close(Kind::kListSplat, begin);
  return true;
}

// Elsewhere tree-sitter lets the star bind to the name after it more tightly than the attribute
// does: *x.shape is an attribute of *x, if other elements follow. How it reads the last of several
// elements depends on the next statement.
bool PlainParser::SplatName() {
  const Begin begin = Here();
  Take();
  if (!Is(Token::kName) || !Postfix() || !AtOperandEnd()) return false;
  Close(Kind::kListSplat, begin);
  if (tree_.here() - begin.place == 3) return true;
  return Is(Token::kComma) && tree_.BindSplatToName(begin.place);
}

// The first element of a list or a set: a splat of more than a name is read as among elements if
// others follow, and as elsewhere if none do.
bool PlainParser::FirstElement() {
  if (!Is(Token::kStar)) return Expression();
  const Begin begin = Here();
  Take();
  const bool is_name = Is(Token::kName);
  if (!Postfix() || !AtOperandEnd()) return false;
  Close(Kind::kListSplat, begin);
  return Is(Token::kComma) || tree_.here() - begin.place == 3 ||
         (is_name && tree_.BindSplatToName(begin.place));
}

// Operands: names, literals, displays, and the calls, attributes and subscripts after them.

bool PlainParser::Postfix() {
  const Begin begin = Here();
  return Atom() && Trailers(begin);
}

// The calls, attributes and subscripts after an atom that begins at `begin`.
bool PlainParser::Trailers(Begin begin) {
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

// `print` and `exec` are names only if they are called. Otherwise they may begin statements of
// Python 2, which are left to tree-sitter.
bool PlainParser::Atom() {
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

// Parameters of a lambda have no annotations, because the colon ends them.
bool PlainParser::Lambda() {
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
bool PlainParser::Elements(Token end, bool (PlainParser::*element)()) {
  while (!Is(end)) {
    if (!(this->*element)()) return false;
    if (!Is(Token::kComma)) return Is(end);
    Take();
  }
  return true;
}

// The brackets of a call whose function begins at `call`. If `for` follows the first argument, a
// generator takes the place of the argument list.
bool PlainParser::Arguments(Begin call) {
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
    if (!Elements(Token::kRightParen, &PlainParser::Argument)) return false;
  }
  if (!Closing(Token::kRightParen)) return false;
  printing_ = around;
  Close(kind, begin, Field::kArguments);
  Close(Kind::kCall, call);
  return true;
}

// *x, **x, name=x, or x.
bool PlainParser::Argument() {
  const Begin begin = Here();
  // The brackets after `print` may be a tuple as well, in which a splat is read in another way.
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

bool PlainParser::Subscripts() {
  const Depth depth(*this);
  if (!depth.ok) return false;
  Opening();
  if (Is(Token::kRightBracket) || !Elements(Token::kRightBracket, &PlainParser::Slice))
    return false;
  return Closing(Token::kRightBracket);
}

// One part of a subscript: x, *x or a:b:c.
bool PlainParser::Slice() {
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

// A tuple, a generator, a yield, or one expression in parentheses. The token after the first
// element decides.
bool PlainParser::InParentheses() {
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
      if (!Elements(Token::kRightParen, &PlainParser::Element)) return false;
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

// A list or a list comprehension.
bool PlainParser::InBrackets() {
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
      if (!Elements(Token::kRightBracket, &PlainParser::Element)) return false;
    }
  }
  if (!Closing(Token::kRightBracket)) return false;
  Close(kind, begin);
  return true;
}

// A dictionary, a set, or a comprehension of either. The first element decides: a pair or **x makes
// a dictionary, and so does no element.
bool PlainParser::InBraces() {
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
      if (!Elements(Token::kRightBrace,
                    set ? &PlainParser::Element : &PlainParser::DictionaryElement)) {
        return false;
      }
    }
  }
  if (!Closing(Token::kRightBrace)) return false;
  Close(kind, begin);
  return true;
}

// From the colon on; the key is there.
bool PlainParser::Pair() {
  tree_.SetField(Field::kKey);
  Take();
  if (!Expression()) return false;
  tree_.SetField(Field::kValue);
  return true;
}

// **x, or key: value.
bool PlainParser::DictionaryElement() {
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

// The clauses after the body. Python does not take `x if a else b` there without parentheses.
bool PlainParser::Comprehension() {
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

// String literals, as tree-sitter's scanner cuts them up.

namespace {

// The form of a literal, as its prefix and opening quotes say it.
struct Literal {
  char quote;
  bool triple;
  bool raw;
  bool bytes;
  bool format;
};

Literal ParseLiteral(absl::string_view start) {
  const size_t quotes = start.find_first_of("\"'");
  const auto prefix =
      code::ReadPythonPrefix(start.substr(0, quotes)).value_or(code::PythonPrefix());
  return {start[quotes], start.size() - quotes == 3, prefix.raw, prefix.bytes, prefix.replaces};
}

bool AreHex(absl::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) return false;
  for (size_t i = at; i < at + count; ++i) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

// The length of the escape sequence at a backslash; 0 if the backslash stands for itself.
uint32_t EscapeLength(absl::string_view text, size_t at) {
  const char c = at + 1 < text.size() ? text[at + 1] : '\0';
  switch (c) {
    case 'u':
      return AreHex(text, at + 2, 4) ? 6 : 0;
    case 'U':
      return AreHex(text, at + 2, 8) ? 10 : 0;
    case 'x':
      return AreHex(text, at + 2, 2) ? 4 : 0;
    case 'N': {
      if (at + 2 >= text.size() || text[at + 2] != '{') return 0;
      const size_t close = text.find('}', at);
      return close == absl::string_view::npos || close == at + 3
                 ? 0
                 : static_cast<uint32_t>(close + 1 - at);
    }
    case '\r':
      return at + 2 < text.size() && text[at + 2] == '\n' ? 3 : 0;
    case '\n':
    case '\'':
    case '"':
    case 'a':
    case 'b':
    case 'f':
    case 'r':
    case 'n':
    case 't':
    case 'v':
    case '\\':
      return 2;
    default: {
      uint32_t digits = 0;
      while (digits < 3 && at + 1 + digits < text.size() &&
             absl::ascii_isdigit(static_cast<unsigned char>(text[at + 1 + digits]))) {
        ++digits;
      }
      return digits == 0 ? 0 : digits + 1;
    }
  }
}

// To the next byte that may be more than itself in some literal.
uint32_t AfterPlainBytes(absl::string_view text, uint32_t at, char quote) {
  const auto is_plain = [quote](char c) {
    return c != quote && c != '\\' && c != '{' && c != '}' && c != '\n';
  };
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

}  // namespace

// Several literals in a row make one concatenated_string.
bool PlainParser::Strings() {
  const Begin begin = Here();
  int count = 0;
  for (; Is(Token::kString); ++count) {
    if (!String()) return false;
  }
  if (count > 1) Close(Kind::kConcatenatedString, begin);
  return true;
}

// One literal. Its node has the opening quotes, the content, and the closing quotes. The content up
// to an interpolation, or to the end, is one node with its escape sequences as children.
bool PlainParser::String() {
  const Literal literal = ParseLiteral(Word());
  if (literal.format && literal.bytes) return false;
  const Begin begin = Here();
  uint32_t at = lexer_.end();
  tree_.AddLeaf(Kind::kStringStart, begin.start, at);
  Begin content = {tree_.here(), at};
  bool open = false;  // true if there is content since `content`
  const auto begin_content = [&] {
    if (!open) content = {tree_.here(), at};
    open = true;
  };
  const auto end_content = [&] {
    end_ = at;
    if (open) Close(Kind::kOther, content);
    open = false;
  };
  // In raw strings the scanner does not take a backslash and the character after it for content: if
  // nothing else is between two of its tokens, they are part of the second.
  uint32_t piece = at;
  bool hidden_only = true;
  for (;;) {
    if (at >= text_.size()) return false;
    const char c = text_[at];
    const char next = at + 1 < text_.size() ? text_[at + 1] : '\0';
    if (c == literal.quote) {
      const char third = at + 2 < text_.size() ? text_[at + 2] : '\0';
      if (!literal.triple || (next == c && third == c)) break;
      begin_content();
      at += next == c ? 2 : 1;
      piece = at;
      hidden_only = true;
    } else if (c == '\\' && literal.raw) {
      begin_content();
      const bool escapes = next == literal.quote || next == '\\';
      at += escapes || next == '\n' ? 2 : 1;
      // The scanner steps over a newline after that as well.
      if (at >= text_.size() || text_[at] == '\r' || (escapes && text_[at] == '\n')) return false;
    } else if (c == '\\') {
      if (literal.bytes && (next == 'N' || next == 'u' || next == 'U')) return false;
      begin_content();
      const uint32_t length = EscapeLength(text_, at);
      tree_.AddLeaf(length == 0 ? Kind::kToken : Kind::kOther, at, at + (length == 0 ? 1 : length));
      at += length == 0 ? 1 : length;
      piece = at;
      hidden_only = true;
    } else if ((c == '{' || c == '}') && literal.format) {
      if (hidden_only && piece != at) return false;
      if (next == c) {
        begin_content();
        tree_.AddLeaf(Kind::kOther, at, at + 2);
        at += 2;
      } else {
        if (c == '}') return false;
        end_content();
        if (!Interpolation(at, Kind::kInterpolation, literal.quote)) return false;
        at = end_;
      }
      piece = at;
      hidden_only = true;
    } else {
      if (c == '\n' && !literal.triple) return false;
      begin_content();
      hidden_only = false;
      at = AfterPlainBytes(text_, at + 1, literal.quote);
    }
  }
  // See `piece`: the backslashes become part of the closing quotes.
  const uint32_t quotes = at + (literal.triple ? 3 : 1);
  if (hidden_only && piece != at) {
    if (open && content.start != piece) return false;
    open = false;
    at = piece;
  }
  end_content();
  tree_.AddLeaf(Kind::kStringEnd, at, quotes);
  end_ = quotes;
  Close(Kind::kString, begin);
  lexer_.ReadAt(quotes);
  return true;
}

// {expression=!r:specifier}, from the brace at `at`; ends with end_ after the other.
bool PlainParser::Interpolation(uint32_t at, Kind kind, char quote) {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = {tree_.here(), at};
  // The lexer reads the code in the braces, which must be on one line.
  const bool one_line = lexer_.one_line();
  lexer_.set_one_line(true);
  lexer_.Open();
  tree_.AddLeaf(Kind::kToken, at, at + 1);
  lexer_.ReadAt(at + 1);
  if (!Expression()) return false;
  if (Is(Token::kAssign)) Take();
  if (Is(Token::kBang)) {
    const uint32_t start = lexer_.start();
    const uint32_t end = lexer_.end();
    if (end >= text_.size() || !absl::ascii_islower(static_cast<unsigned char>(text_[end]))) {
      return false;
    }
    tree_.AddLeaf(Kind::kOther, start, end + 1);
    lexer_.ReadAt(end + 1);
  }
  if (Is(Token::kColon)) {
    if (!FormatSpecifier(quote)) return false;
  } else if (Is(Token::kRightBrace)) {
    end_ = lexer_.start();
  } else {
    return false;
  }
  if (!lexer_.extras().empty()) return false;
  tree_.AddLeaf(Kind::kToken, end_, end_ + 1);
  ++end_;
  lexer_.Shut();
  lexer_.set_one_line(one_line);
  Close(kind, begin);
  return true;
}

// From the colon up to the closing brace, where end_ is left.
bool PlainParser::FormatSpecifier(char quote) {
  const Begin begin = {tree_.here(), lexer_.start()};
  uint32_t at = lexer_.end();
  tree_.AddLeaf(Kind::kToken, begin.start, at);
  for (bool first = true;; first = false) {
    if (at >= text_.size()) return false;
    const char c = text_[at];
    if (c == '}') break;
    if (c == '{') {
      if (!Interpolation(at, Kind::kOther, quote)) return false;
      at = end_;
      continue;
    }
    // Whatever could be more than a letter of it, and blanks alone.
    if (c == '\n' || c == '#' || c == '\\' || c == quote) return false;
    if (first && c == ' ' && text_.find_first_not_of(' ', at) == text_.find_first_of("{}", at)) {
      return false;
    }
    ++at;
  }
  end_ = at;
  Close(Kind::kOther, begin);
  return true;
}

}  // namespace kernelmill::python
