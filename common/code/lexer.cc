#include "common/code/lexer.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace kernelmill::code {
namespace {

bool IsNameByte(char c) {
  return absl::ascii_isalnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

size_t EndOfLine(absl::string_view text, size_t at) {
  while (at < text.size() && !IsLineEnd(text[at])) ++at;
  return at;
}

size_t EndOfWord(absl::string_view text, size_t at) {
  while (at < text.size() && IsNameByte(text[at])) ++at;
  return at;
}

// One past the string whose opening quote is at `at`.
size_t EndOfString(absl::string_view text, size_t at, bool triple_allowed) {
  const char quote = text[at];
  const bool triple =
      triple_allowed && text.size() - at >= 3 && text[at + 1] == quote && text[at + 2] == quote;
  at += triple ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\') {
      at +=
          text.substr(at, 3) == "\\\r\n" ? 3 : 2;  // past the end at worst; the last line mends it
    } else if (triple) {
      if (text[at] == quote && text.size() - at >= 3 && text[at + 1] == quote &&
          text[at + 2] == quote) {
        return at + 3;
      }
      ++at;
    } else if (text[at] == quote) {
      return at + 1;
    } else if (IsLineEnd(text[at])) {
      return at;
    } else {
      ++at;
    }
  }
  return text.size();
}

// Whether a name of these letters before a quote is a string's prefix: r, b, u, f, t and pairs of
// them.
bool IsStringPrefix(absl::string_view name) {
  if (name.size() > 2) return false;
  for (const char c : name) {
    if (!absl::StrContains("rbuft", absl::ascii_tolower(c))) return false;
  }
  return true;
}

bool IsQuote(absl::string_view text, size_t at) {
  return at < text.size() && (text[at] == '"' || text[at] == '\'');
}

size_t EndOfBlockComment(absl::string_view text, size_t at) {
  const size_t end = text.find("*/", at + 2);
  return end == absl::string_view::npos ? text.size() : end + 2;
}

}  // namespace

std::vector<Token> LexPython(absl::string_view text) {
  std::vector<Token> tokens;
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    size_t end = at + 1;
    Token::Kind kind = Token::kPunctuation;
    if (absl::ascii_isspace(c)) {
      ++at;
      continue;
    }
    if (c == '#') {
      kind = Token::kComment;
      end = EndOfLine(text, at);
    } else if (IsQuote(text, at)) {
      kind = Token::kString;
      end = EndOfString(text, at, true);
    } else if (IsNameByte(c)) {
      kind = absl::ascii_isdigit(c) ? Token::kNumber : Token::kName;
      end = EndOfWord(text, at);
      if (kind == Token::kName && IsQuote(text, end) && IsStringPrefix(text.substr(at, end - at))) {
        kind = Token::kString;
        end = EndOfString(text, end, true);
      }
    }
    tokens.push_back({kind, text.substr(at, end - at)});
    at = end;
  }
  return tokens;
}

std::vector<Token> LexC(absl::string_view text) {
  std::vector<Token> tokens;
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const absl::string_view two = text.substr(at, 2);
    size_t end = at + 1;
    Token::Kind kind = Token::kPunctuation;
    if (absl::ascii_isspace(c)) {
      ++at;
      continue;
    }
    if (two == "//") {
      kind = Token::kComment;
      end = EndOfLine(text, at);
    } else if (two == "/*") {
      kind = Token::kComment;
      end = EndOfBlockComment(text, at);
    } else if (IsQuote(text, at)) {
      kind = Token::kString;
      end = EndOfString(text, at, false);
    } else if (IsNameByte(c)) {
      kind = absl::ascii_isdigit(c) ? Token::kNumber : Token::kName;
      end = EndOfWord(text, at);
    }
    tokens.push_back({kind, text.substr(at, end - at)});
    at = end;
  }
  return tokens;
}

absl::string_view StringContent(absl::string_view token) {
  while (!token.empty() && !IsQuote(token, 0)) token.remove_prefix(1);
  if (token.empty()) return token;
  const char quote = token[0];
  const bool triple = token.size() >= 6 && token[1] == quote && token[2] == quote;
  size_t width = triple ? 3 : 1;
  token.remove_prefix(width);
  while (width > 0 && !token.empty() && token.back() == quote) {
    token.remove_suffix(1);
    --width;
  }
  return token;
}

}  // namespace kernelmill::code
