#include "common/code/python.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/code/bytes.h"

namespace kernelmill::code {
namespace {

using absl::string_view;

bool IsTripleAt(string_view text, size_t at, char quote) {
  return ByteAt(text, at) == quote && ByteAt(text, at + 1) == quote &&
         ByteAt(text, at + 2) == quote;
}

// Reads a literal and those in its fields. One pass: whatever is not closed ends where its line or
// the text does, and is not read again.
class StringReader {
 public:
  StringReader(string_view text, size_t at) : text_(text), at_(at) {}

  size_t Read(const PythonPrefix& prefix) {
    ReadLiteral(prefix, /*one_line=*/false);
    return at_;
  }

 private:
  // Deeper ones are read as if they had no fields: no one writes them, and the stack is finite.
  static constexpr int kMaxNesting = 64;

  struct Quotes {
    char quote;
    bool triple;
    bool one_line;  // ends with its line, as does all that stands in it
  };

  bool AtEnd(const Quotes& quotes) const {
    return at_ >= text_.size() || (quotes.one_line && IsNewline(text_[at_]));
  }

  bool Closes(const Quotes& quotes) const {
    return quotes.triple ? IsTripleAt(text_, at_, quotes.quote) : text_[at_] == quotes.quote;
  }

  // From the opening quote at at_.
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

  void ReadReplacing(const Quotes& quotes) {
    while (!AtEnd(quotes)) {
      const char c = text_[at_];
      const char next = ByteAt(text_, at_ + 1);
      if (c == '\\') {
        // A brace is one, backslash or no.
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

  // From the brace at at_ past the one that closes it.
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

  void ReadName(const Quotes& quotes) {
    const size_t begin = at_;
    at_ = EndOfName(text_, at_);
    if (!IsQuote(ByteAt(text_, at_))) return;
    const auto prefix = ReadPythonPrefix(text_.substr(begin, at_ - begin));
    if (prefix.has_value()) ReadLiteral(*prefix, quotes.one_line);
  }

  // From the colon at at_ past the brace that ends the field; no further than the closing quotes.
  void ReadSpecifier(const Quotes& quotes) {
    // A field in a specifier in a field: no deeper than the rest.
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

// The base that the letter after a leading zero names; 10 for all else.
int BaseOf(char letter) {
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

bool IsDigitOf(int base, char c) {
  if (IsDigit(c)) return c - '0' < base;
  return base == 16 && absl::ascii_isxdigit(static_cast<unsigned char>(c));
}

size_t EndOfDigits(string_view text, size_t at, int base) {
  while (IsDigitOf(base, ByteAt(text, at)) ||
         (ByteAt(text, at) == '_' && IsDigitOf(base, ByteAt(text, at + 1)))) {
    ++at;
  }
  return at;
}

size_t EndOfExponent(string_view text, size_t at) {
  if (ByteAt(text, at) != 'e' && ByteAt(text, at) != 'E') return at;
  const char sign = ByteAt(text, at + 1);
  const size_t digits = at + (sign == '+' || sign == '-' ? 2 : 1);
  return IsDigit(ByteAt(text, digits)) ? EndOfDigits(text, digits, 10) : at;
}

}  // namespace

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
  // Of two letters one is r. Python has no ru, but nobody would write a name so.
  if (letters.size() == 2 && !prefix.raw) return std::nullopt;
  prefix.replaces |= prefix.is_template_string;
  return prefix;
}

size_t EndOfPythonString(string_view text, size_t quote, const PythonPrefix& prefix) {
  return StringReader(text, quote).Read(prefix);
}

size_t EndOfPythonNumber(string_view text, size_t at) {
  if (text[at] == '0') {
    if (const int base = BaseOf(ByteAt(text, at + 1)); base != 10) {
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

string_view PythonStringContent(string_view literal) {
  while (!literal.empty() && !IsQuote(literal[0])) literal.remove_prefix(1);
  if (literal.empty()) return literal;
  const char quote = literal[0];
  const bool triple = literal.size() >= 6 && IsTripleAt(literal, 0, quote);
  size_t width = triple ? 3 : 1;
  literal.remove_prefix(width);
  while (width > 0 && !literal.empty() && literal.back() == quote) {
    literal.remove_suffix(1);
    --width;
  }
  return literal;
}

}  // namespace kernelmill::code
