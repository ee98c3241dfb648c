#include "common/python/parse/lexer.h"

#include <cstring>

#include "common/code/bytes.h"
#include "common/code/python.h"

namespace kernelmill::python {

// The basic idea: the lexer cuts a text exactly as tree-sitter's grammar and scanner do, or refuses
// it. A token kUnknown ends our parse, and tree-sitter reads the whole text. Each function
// therefore reads the common forms and gives kUnknown for those that tree-sitter reads in its own
// way: names that are not ASCII, numbers with a letter behind them, `<>`, and in brackets lines
// that begin left of their block.
//
// A token is two places in the text. A newline outside brackets is a token of length 0. Comments
// and line continuations are kept aside in `extras_`, because only the parser knows the node that
// they belong to. The lexer does not read the contents of strings: the parser does, and then sets
// the lexer behind them with ReadAt().

namespace {

// Names that are not ASCII are left to tree-sitter.
bool IsNamePart(char c) { return code::IsNameByte(c) && static_cast<unsigned char>(c) < 0x80; }
bool IsNameStart(char c) { return IsNamePart(c) && !code::IsDigit(c); }

struct Keyword {
  absl::string_view text;
  Token token;
};

// By the first letter, so that most names are told apart from keywords by one look.
Token WordToken(absl::string_view word) {
  static constexpr Keyword kKeywords[] = {
      {"False", Token::kFalse},
      {"None", Token::kNone},
      {"True", Token::kTrue},
      {"and", Token::kAnd},
      {"as", Token::kAs},
      {"assert", Token::kAssert},
      {"async", Token::kAsync},
      {"await", Token::kAwait},
      {"break", Token::kBreak},
      {"class", Token::kClass},
      {"continue", Token::kContinue},
      {"def", Token::kDef},
      {"del", Token::kDel},
      {"elif", Token::kElif},
      {"else", Token::kElse},
      {"except", Token::kExcept},
      {"exec", Token::kExec},
      {"finally", Token::kFinally},
      {"for", Token::kFor},
      {"from", Token::kFrom},
      {"global", Token::kGlobal},
      {"if", Token::kIf},
      {"import", Token::kImport},
      {"in", Token::kIn},
      {"is", Token::kIs},
      {"lambda", Token::kLambda},
      {"match", Token::kMatch},
      {"nonlocal", Token::kNonlocal},
      {"not", Token::kNot},
      {"or", Token::kOr},
      {"pass", Token::kPass},
      {"print", Token::kPrint},
      {"raise", Token::kRaise},
      {"return", Token::kReturn},
      {"try", Token::kTry},
      {"type", Token::kType},
      {"while", Token::kWhile},
      {"with", Token::kWith},
      {"yield", Token::kYield},
  };
  // Keywords with the same first letter must be neighbours in kKeywords.
  struct Range {
    uint8_t begin = 0;
    uint8_t end = 0;
  };
  static const auto& ranges = *new auto([] {
    struct Table {
      Range of[256];  // by the first byte, which need not be ASCII
    } table;
    uint8_t at = 0;
    for (const Keyword& keyword : kKeywords) {
      Range& range = table.of[static_cast<uint8_t>(keyword.text[0])];
      if (range.end == 0) range.begin = at;
      range.end = ++at;
    }
    return table;
  }());
  // No keyword is shorter or longer.
  if (word.size() < 2 || word.size() > 8) return Token::kName;
  const Range range = ranges.of[static_cast<uint8_t>(word[0])];
  for (size_t i = range.begin; i < range.end; ++i) {
    const absl::string_view text = kKeywords[i].text;
    if (text.size() == word.size() && text[1] == word[1] && text == word) return kKeywords[i].token;
  }
  return Token::kName;
}

bool IsCloser(char c) { return c == ')' || c == ']' || c == '}'; }

}  // namespace

// Adds the comment that begins at `at` and returns its end, which is the line's.
uint32_t Lexer::AddComment(uint32_t at, int indent) {
  const void* newline = std::memchr(text_.data() + at, '\n', text_.size() - at);
  const auto end = newline == nullptr
                       ? static_cast<uint32_t>(text_.size())
                       : static_cast<uint32_t>(static_cast<const char*>(newline) - text_.data());
  extras_.push_back({Kind::kComment, at, end, indent});
  return end;
}

// Within a line: to the next token, or to the line end where one ends the statement. False for what
// is not understood.
bool Lexer::SkipBlanks(uint32_t& at) {
  for (;;) {
    switch (At(at)) {
      case ' ':
      case '\t':
      case '\r':
        ++at;
        continue;
      case '#':
        at = AddComment(at, 0);
        continue;
      case '\\':
        if (!ReadContinuation(at)) return false;
        continue;
      case '\n':
        if (open_ == 0) return true;
        if (one_line_ || !SkipLines(at)) return false;
        continue;
      default:
        return true;
    }
  }
}

// The next line must continue the statement.
bool Lexer::ReadContinuation(uint32_t& at) {
  const uint32_t end = at + (At(at + 1) == '\r' ? 3 : 2);
  if (At(end - 1) != '\n' || one_line_) return false;
  extras_.push_back({Kind::kLineContinuation, at, end, 0});
  at = end;
  while (At(at) == ' ' || At(at) == '\t') ++at;
  return At(at) != '\n' && At(at) != '\r' && At(at) != '#' && at < text_.size();
}

// In brackets, at a line end: to the first character of the next line that has one.
bool Lexer::SkipLines(uint32_t& at) {
  int indent = 0;
  for (;; ++at) {
    const char c = At(at);
    if (c == '\n' || c == '\r') {
      indent = 0;
    } else if (c == ' ') {
      ++indent;
    } else if (c == '\t') {
      indent += 8;
    } else {
      // tree-sitter's scanner may see a block end there.
      return c != '\\' && (indent >= block_indent_ || IsCloser(c));
    }
  }
}

// Skips blank lines and comments. A tab adds 8 columns. A line that begins with a continuation is
// not understood.
void Lexer::NextLine() {
  uint32_t at = end_;
  indent_ = 0;
  for (;; ++at) {
    const char c = At(at);
    if (c == '\n' || c == '\r') {
      indent_ = 0;
    } else if (c == ' ') {
      ++indent_;
    } else if (c == '\t') {
      indent_ += 8;
    } else if (c == '#') {
      at = AddComment(at, indent_) - 1;
    } else {
      break;
    }
  }
  if (at >= text_.size()) {
    indent_ = 0;
    return Set(Token::kEnd, at, at);
  }
  if (At(at) == '\\') return Set(Token::kUnknown, at, at);
  ReadAt(at);
}

void Lexer::ReadAt(uint32_t at) {
  if (!SkipBlanks(at)) return Set(Token::kUnknown, at, at);
  if (at >= text_.size()) return Set(open_ == 0 ? Token::kNewline : Token::kUnknown, at, at);
  const char c = text_[at];
  if (c == '\n') return Set(Token::kNewline, at, at);
  if (IsNameStart(c)) return ReadWord(at);
  if (code::IsNumberAt(text_, at)) return ReadNumber(at);
  ReadPunctuation(at);
}

// tree-sitter's scanner runs over line continuations to a string.
void Lexer::DropContinuations() {
  while (!extras_.empty() && extras_.back().kind == Kind::kLineContinuation) extras_.pop_back();
}

// A name, a keyword, or the prefix of a string together with its opening quotes. A name that goes
// on with a byte beyond ASCII is not understood.
void Lexer::ReadWord(uint32_t at) {
  uint32_t end = at + 1;
  while (IsNamePart(At(end))) ++end;
  const char next = At(end);
  if (code::IsQuote(next)) {
    const auto prefix = code::ReadPythonPrefix(text_.substr(at, end - at));
    // To tree-sitter's grammar a t-string is a name and a string.
    if (prefix.has_value() && !prefix->is_template_string) {
      DropContinuations();
      const bool triple = At(end + 1) == next && At(end + 2) == next;
      return Set(Token::kString, at, end + (triple ? 3 : 1));
    }
  }
  if (static_cast<unsigned char>(next) >= 0x80) return Set(Token::kUnknown, at, end);
  Set(WordToken(text_.substr(at, end - at)), at, end);
}

// A number that a letter or a digit follows is left to tree-sitter: it reads `0o28` as two, with an
// error.
void Lexer::ReadNumber(uint32_t at) {
  const auto end = static_cast<uint32_t>(code::EndOfPythonNumber(text_, at));
  const char next = At(end);
  const bool odd = code::IsNameByte(next) || next == '.';
  Set(odd ? Token::kUnknown : Token::kNumber, at, end);
}

// Takes the longest operator at the place.
void Lexer::ReadPunctuation(uint32_t at) {
  const char second = At(at + 1);
  const char third = At(at + 2);
  const auto one = [&](Token token) { Set(token, at, at + 1); };
  const auto or_assign = [&](Token token) {
    second == '=' ? Set(Token::kAugmentedAssign, at, at + 2) : one(token);
  };
  // c, cc, c= or cc=
  const auto doubled = [&](Token single, Token twice) {
    if (second != text_[at]) return or_assign(single);
    third == '=' ? Set(Token::kAugmentedAssign, at, at + 3) : Set(twice, at, at + 2);
  };
  switch (text_[at]) {
    case '(':
      return one(Token::kLeftParen);
    case ')':
      return one(Token::kRightParen);
    case '[':
      return one(Token::kLeftBracket);
    case ']':
      return one(Token::kRightBracket);
    case '{':
      return one(Token::kLeftBrace);
    case '}':
      return one(Token::kRightBrace);
    case ',':
      return one(Token::kComma);
    case ';':
      return one(Token::kSemicolon);
    case '~':
      return one(Token::kTilde);
    case ':':
      return second == '=' ? Set(Token::kWalrus, at, at + 2) : one(Token::kColon);
    case '.':
      if (second == '.' && third == '.') return Set(Token::kEllipsis, at, at + 3);
      return one(Token::kDot);
    case '=':
      return second == '=' ? Set(Token::kCompare, at, at + 2) : one(Token::kAssign);
    case '!':
      return second == '=' ? Set(Token::kCompare, at, at + 2) : one(Token::kBang);
    case '<':
    case '>':
      if (text_[at] == '<' && second == '>') break;
      if (second == '=') return Set(Token::kCompare, at, at + 2);
      if (second != text_[at]) return one(Token::kCompare);
      return doubled(Token::kCompare, text_[at] == '<' ? Token::kShiftLeft : Token::kShiftRight);
    case '-':
      return second == '>' ? Set(Token::kArrow, at, at + 2) : or_assign(Token::kMinus);
    case '+':
      return or_assign(Token::kPlus);
    case '*':
      return doubled(Token::kStar, Token::kDoubleStar);
    case '/':
      return doubled(Token::kSlash, Token::kDoubleSlash);
    case '%':
      return or_assign(Token::kPercent);
    case '@':
      return or_assign(Token::kAt);
    case '|':
      return or_assign(Token::kPipe);
    case '&':
      return or_assign(Token::kAmpersand);
    case '^':
      return or_assign(Token::kCaret);
    case '"':
    case '\'': {
      DropContinuations();
      const bool triple = second == text_[at] && third == text_[at];
      return Set(Token::kString, at, at + (triple ? 3 : 1));
    }
    default:
      break;
  }
  Set(Token::kUnknown, at, at);
}

}  // namespace kernelmill::python
