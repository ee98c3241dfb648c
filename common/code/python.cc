#include "common/code/python.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/code/bytes.h"
#include "common/code/lexer.h"

namespace kernelmill::code {
namespace {

using absl::string_view;

bool IsTripleAt(string_view text, size_t at, char quote) {
  return ByteAt(text, at) == quote && ByteAt(text, at + 1) == quote &&
         ByteAt(text, at + 2) == quote;
}

// A reader of a string literal and the literals in its fields. The basic idea: recursive descent in
// one pass. An f-string contains fields, which contain code, which contains strings. An unclosed
// part ends with its line or with the text and is never read twice, so that the time is linear.
class StringReader {
 public:
  StringReader(string_view text, size_t at) : text_(text), at_(at) {}

  size_t Read(const PythonPrefix& prefix) {
    ReadLiteral(prefix, /*one_line=*/false);
    return at_;
  }

 private:
  // Deeper literals are read as if they had no fields: real code has none, and the stack is finite.
  static constexpr int kMaxNesting = 64;

  struct Quotes {
    char quote;
    bool triple;
    bool one_line;  // it ends with its line, and so does everything inside it
  };

  bool AtEnd(const Quotes& quotes) const {
    return at_ >= text_.size() || (quotes.one_line && IsNewline(text_[at_]));
  }

  // Says whether the literal's closing quotes are at at_; `at_` must not be at the end.
  bool Closes(const Quotes& quotes) const {
    return quotes.triple ? IsTripleAt(text_, at_, quotes.quote) : text_[at_] == quotes.quote;
  }

  // Reads from the opening quote at at_.
  void ReadLiteral(const PythonPrefix& prefix, bool one_line) {
    const char quote = text_[at_];
    const bool triple = IsTripleAt(text_, at_, quote);
    const Quotes quotes{quote, triple, one_line || !triple};
    at_ += triple ? 3 : 1;
    if (!prefix.replaces || nesting_ == kMaxNesting) return ReadPlain(quotes);
    ++nesting_;
    ReadReplacing(quotes);
    --nesting_;
  }

  void Close(const Quotes& quotes) { at_ += quotes.triple ? 3 : 1; }

  // Reads a string without fields up to its closing quotes.
  void ReadPlain(const Quotes& quotes) {
    while (!AtEnd(quotes)) {
      if (text_[at_] == '\\') {
        at_ = EndOfEscape(text_, at_);
      } else if (Closes(quotes)) {
        return Close(quotes);
      } else {
        ++at_;
      }
    }
  }

  // Reads a string with fields. Two braces are a literal brace.
  void ReadReplacing(const Quotes& quotes) {
    while (!AtEnd(quotes)) {
      const char c = text_[at_];
      const char next = ByteAt(text_, at_ + 1);
      if (c == '\\') {
        // A backslash does not escape a brace.
        at_ = next == '{' || next == '}' ? at_ + 1 : EndOfEscape(text_, at_);
      } else if (Closes(quotes)) {
        return Close(quotes);
      } else if (c == '{' && next == '{') {
        at_ += 2;
      } else if (c == '{') {
        ReadField(quotes);
      } else {
        ++at_;
      }
    }
  }

  // Reads from the brace at at_ past the closing one.
  void ReadField(const Quotes& quotes) {
    ++at_;
    int braces = 0;
    int brackets = 0;
    while (!AtEnd(quotes)) {
      const char c = text_[at_];
      if (IsQuote(c)) {
        ReadLiteral({}, quotes.one_line);
      } else if (IsNameByte(c)) {
        ReadName(quotes);
      } else if (c == '#') {
        at_ = EndOfLine(text_, at_);
      } else if (c == ':' && braces + brackets == 0) {
        return ReadSpecifier(quotes);
      } else if (c == '}' && braces == 0) {
        ++at_;
        return;
      } else {
        if (c == '{') ++braces;
        if (c == '}') --braces;
        if (c == '(' || c == '[') ++brackets;
        if ((c == ')' || c == ']') && brackets > 0) --brackets;
        ++at_;
      }
    }
  }

  // Reads a name. If it is the prefix of a string, it reads the string too.
  void ReadName(const Quotes& quotes) {
    const size_t begin = at_;
    at_ = EndOfName(text_, at_);
    if (!IsQuote(ByteAt(text_, at_))) return;
    const auto prefix = ReadPythonPrefix(text_.substr(begin, at_ - begin));
    if (prefix.has_value()) ReadLiteral(*prefix, quotes.one_line);
  }

  // Reads from the colon at at_ past the brace that ends the field, but not past the closing
  // quotes.
  void ReadSpecifier(const Quotes& quotes) {
    // A specifier can contain a field with another specifier: the depth is limited here too.
    if (nesting_ == kMaxNesting) return;
    ++nesting_;
    for (++at_; !AtEnd(quotes) && !Closes(quotes);) {
      const char c = text_[at_];
      if (c == '{') {
        ReadField(quotes);
      } else if (c == '\\') {
        at_ = EndOfEscape(text_, at_);
      } else {
        ++at_;
        if (c == '}') break;
      }
    }
    --nesting_;
  }

  const string_view text_;
  size_t at_;
  int nesting_ = 0;
};

// Returns the base that the letter after a leading zero names, or 10.
int FindBase(char letter) {
  switch (letter) {
    case 'x':
    case 'X':
      return 16;
    case 'o':
    case 'O':
      return 8;
    case 'b':
    case 'B':
      return 2;
    default:
      return 10;
  }
}

bool IsDigitInBase(int base, char c) {
  if (IsDigit(c)) return c - '0' < base;
  return base == 16 && absl::ascii_isxdigit(static_cast<unsigned char>(c));
}

// An underscore separates digits; it counts only between two of them.
size_t EndOfDigits(string_view text, size_t at, int base) {
  while (IsDigitInBase(base, ByteAt(text, at)) ||
         (ByteAt(text, at) == '_' && IsDigitInBase(base, ByteAt(text, at + 1)))) {
    ++at;
  }
  return at;
}

// Returns `at` if no digit follows: then the e begins a name.
size_t EndOfExponent(string_view text, size_t at) {
  if (ByteAt(text, at) != 'e' && ByteAt(text, at) != 'E') return at;
  const char sign = ByteAt(text, at + 1);
  const size_t digits = at + (sign == '+' || sign == '-' ? 2 : 1);
  return IsDigit(ByteAt(text, digits)) ? EndOfDigits(text, digits, 10) : at;
}

}  // namespace

// Returns nothing if the letters are no prefix of a string: the name and the string then are two
// tokens. The order and the case of the letters do not matter in Python.
std::optional<PythonPrefix> ReadPythonPrefix(string_view letters) {
  if (letters.size() > 2) return std::nullopt;
  PythonPrefix prefix;
  bool unicode = false;
  for (const char letter : letters) {
    bool* flag = nullptr;
    switch (absl::ascii_tolower(static_cast<unsigned char>(letter))) {
      case 'r':
        flag = &prefix.raw;
        break;
      case 'b':
        flag = &prefix.bytes;
        break;
      case 'u':
        flag = &unicode;
        break;
      case 'f':
        flag = &prefix.replaces;
        break;
      case 't':
        flag = &prefix.is_template_string;
        break;
      default:
        return std::nullopt;
    }
    if (*flag) return std::nullopt;
    *flag = true;
  }
  // A prefix of two letters contains r. Python does not have ru, but it is not a name in real code.
  if (letters.size() == 2 && !prefix.raw) return std::nullopt;
  prefix.replaces |= prefix.is_template_string;
  return prefix;
}

size_t EndOfPythonString(string_view text, size_t quote, const PythonPrefix& prefix) {
  return StringReader(text, quote).Read(prefix);
}

// Reads digits in a base, or digits, a fraction, an exponent and the j of a complex number.
size_t EndOfPythonNumber(string_view text, size_t at) {
  if (text[at] == '0') {
    if (const int base = FindBase(ByteAt(text, at + 1)); base != 10) {
      const size_t end = EndOfDigits(text, at + 2, base);
      return end == at + 2 ? at + 1 : end;
    }
  }
  size_t end = EndOfDigits(text, at, 10);
  if (ByteAt(text, end) == '.') {
    end = IsDigit(ByteAt(text, end + 1)) ? EndOfDigits(text, end + 1, 10) : end + 1;
  }
  end = EndOfExponent(text, end);
  return ByteAt(text, end) == 'j' || ByteAt(text, end) == 'J' ? end + 1 : end;
}

// Takes the longest operator that begins at `at`.
size_t EndOfPythonOperator(string_view text, size_t at) {
  const char first = text[at];
  const char second = ByteAt(text, at + 1);
  const char third = ByteAt(text, at + 2);
  if (first == '.') return at + (second == '.' && third == '.' ? 3 : 1);
  if (second == first && absl::StrContains("*/<>", first)) return at + (third == '=' ? 3 : 2);
  if (second == '=' && absl::StrContains("<>=!:+-*/%&|^@", first)) return at + 2;
  return at + (first == '-' && second == '>' ? 2 : 1);
}

bool HasFields(absl::string_view literal) {
  const auto prefix = ReadPythonPrefix(literal.substr(0, literal.find_first_of("\"'")));
  return prefix.has_value() && prefix->replaces;
}

// Removes prefix and quotes. A string that is not closed loses only the quotes that it has.
string_view PythonStringContent(string_view literal) {
  while (!literal.empty() && !IsQuote(literal[0])) literal.remove_prefix(1);
  if (literal.empty()) return literal;
  const char quote = literal[0];
  const bool triple = literal.size() >= 6 && IsTripleAt(literal, 0, quote);
  // At most as many quotes as the literal began with are removed at the end.
  size_t width = triple ? 3 : 1;
  literal.remove_prefix(width);
  while (width > 0 && !literal.empty() && literal.back() == quote) {
    literal.remove_suffix(1);
    --width;
  }
  return literal;
}

namespace {

using absl::string_view;

size_t FindBegin(const Token& token, string_view text) {
  return static_cast<size_t>(token.text.data() - text.data());
}

size_t FindEnd(const Token& token, string_view text) {
  return FindBegin(token, text) + token.text.size();
}

size_t AfterLine(string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size() - 1) + 1;
}

size_t CommonPrefix(string_view a, string_view b) {
  const size_t size = std::min(a.size(), b.size());
  size_t common = 0;
  while (common < size && a[common] == b[common]) ++common;
  return common;
}

bool IsMethodDecorator(string_view name) { return name == "staticmethod" || name == "classmethod"; }

// Returns the index after the last token of the decorator that begins with the '@' at tokens[at].
size_t EndOfDecorator(const std::vector<Token>& tokens, size_t at) {
  do ++at;
  while (at < tokens.size() && !tokens[at].begins_statement);
  return at;
}

// Removes the lines of @staticmethod and @classmethod above a function. At module level they would
// wrap the kernel, so that it could not be launched. Other decorators stay.
std::string WithoutMethodDecorators(string_view text) {
  const std::vector<Token> tokens = Lex(text, Language::kPython);
  std::string out;
  size_t copied = 0;
  // Decorators come first, perhaps with comments between them; the search ends at any other token.
  for (size_t at = 0; at < tokens.size();) {
    if (tokens[at].kind == Token::kComment) {
      ++at;
      continue;
    }
    if (tokens[at].text != "@") break;
    const size_t end = EndOfDecorator(tokens, at);
    // Only comments may follow the name.
    const bool plain =
        at + 1 < end && IsMethodDecorator(tokens[at + 1].text) &&
        std::all_of(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                    tokens.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const Token& token) { return token.kind == Token::kComment; });
    if (plain) {
      const size_t begin = FindBegin(tokens[at], text);
      out.append(text.data() + copied, begin - copied);
      copied = AfterLine(text, FindEnd(tokens[at + 1], text));
    }
    at = end;
  }
  out.append(text.data() + copied, text.size() - copied);
  return out;
}

}  // namespace

// Turns \r\n and a bare \r into \n, as Python reads them.
std::string WithUnixLineEnds(string_view text) {
  if (text.find('\r') == string_view::npos) return std::string(text);
  return absl::StrReplaceAll(text, {{"\r\n", "\n"}, {"\r", "\n"}});
}

// The basic idea: goes through the lines and the tokens together. A line inside a token, so inside
// a string, stays as it is, because its indentation is content. Every other line loses what it has
// in common with the indentation of the first.
std::optional<std::string> DedentPython(string_view text) {
  const size_t column = std::min(text.find_first_not_of(" \t"), text.size());
  if (column == 0) return std::string(text);
  const string_view prefix = text.substr(0, column);
  const std::vector<Token> tokens = Lex(text, Language::kPython);
  std::string out;
  out.reserve(text.size());
  size_t next = 0;  // the first token that ends after the line begins
  for (size_t begin = 0, after = 0; begin < text.size(); begin = after) {
    after = AfterLine(text, begin);
    string_view line = text.substr(begin, after - begin);
    // If the next token began before this line, the line is inside it.
    while (next < tokens.size() && FindEnd(tokens[next], text) <= begin) ++next;
    const size_t first = next < tokens.size() ? FindBegin(tokens[next], text) : text.size();
    if (first >= begin) {
      const size_t common = CommonPrefix(line, prefix);
      const bool statement = first < after && tokens[next].begins_statement;
      if (statement && common < column) return std::nullopt;
      line.remove_prefix(common);
    }
    out.append(line.data(), line.size());
  }
  return out;
}

// Turns a function as it appears in a file, perhaps within a class, into one that can begin a
// module: without a byte order mark, with \n as line ends, dedented, without decorators of methods.
// Returns nothing if a line is indented less than the first.
std::optional<std::string> AtModuleLevel(string_view statement) {
  absl::ConsumePrefix(&statement, "\xef\xbb\xbf");
  std::string text = WithUnixLineEnds(statement);
  if (text.empty() || text.back() != '\n') text += '\n';
  const std::optional<std::string> dedented = DedentPython(text);
  if (!dedented) return std::nullopt;
  return WithoutMethodDecorators(*dedented);
}

// A newline at the very end belongs to the last line, so the search begins before it.
size_t BeginOfLastLines(string_view text, size_t lines) {
  size_t begin = text.size();
  for (; lines > 0 && begin > 0; --lines) {
    const size_t newline = begin < 2 ? string_view::npos : text.rfind('\n', begin - 2);
    begin = newline == string_view::npos ? 0 : newline + 1;
  }
  return begin;
}

}  // namespace kernelmill::code
