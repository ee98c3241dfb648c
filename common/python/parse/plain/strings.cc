// String literals, as tree-sitter's scanner cuts them up.
#include "absl/strings/ascii.h"
#include "common/code/python.h"
#include "common/python/parse/plain/parser.h"

namespace kernelmill::python {
namespace {

struct Literal {
  char quote;
  bool triple;
  bool raw;
  bool bytes;
  bool format;
};

Literal LiteralOf(absl::string_view start) {
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

bool Parser::Strings() {
  const Begin begin = Here();
  int count = 0;
  for (; Is(Token::kString); ++count) {
    if (!String()) return false;
  }
  if (count > 1) Close(Kind::kConcatenatedString, begin);
  return true;
}

bool Parser::String() {
  const Literal literal = LiteralOf(Word());
  if (literal.format && literal.bytes) return false;
  const Begin begin = Here();
  uint32_t at = lexer_.end();
  tree_.AddLeaf(Kind::kStringStart, begin.start, at);
  Begin content = {tree_.here(), at};
  bool open = false;  // whether there is content since `content`
  const auto begin_content = [&] {
    if (!open) content = {tree_.here(), at};
    open = true;
  };
  const auto end_content = [&] {
    end_ = at;
    if (open) Close(Kind::kOther, content);
    open = false;
  };
  // In raw strings the scanner does not take a backslash and what it hides for content: where
  // nothing else stands between two of its tokens, they are part of the second.
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
bool Parser::Interpolation(uint32_t at, Kind kind, char quote) {
  const Depth depth(*this);
  if (!depth.ok) return false;
  const Begin begin = {tree_.here(), at};
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
bool Parser::FormatSpecifier(char quote) {
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
