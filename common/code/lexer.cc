// The basic idea: a lexer by hand for each language, one pass, with the shared rules for literals
// in python.cc and c.cc. It never fails: an unclosed literal ends with its line or with the text,
// and an unexpected byte is an operator. So it can read broken files, other languages and binary
// data.

#include "common/code/lexer.h"

#include <cstddef>
#include <utility>

#include "common/code/brackets.h"
#include "common/code/bytes.h"
#include "common/code/c.h"
#include "common/code/python.h"

namespace kernelmill::code {
namespace {

using absl::string_view;

// The lexer of Python. It tracks the depth of brackets, since a line end inside brackets does not
// end a statement.
class PythonLexer {
 public:
  explicit PythonLexer(string_view text) : text_(text) { tokens_.reserve(text.size() / 3); }

  std::vector<Token> Run() {
    while (at_ < text_.size()) Step();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (IsNewline(c)) {
      begins_statement_ |= depth_ == 0;
      ++at_;
    } else if (IsBlank(c)) {
      ++at_;
    } else if (c == '#') {
      const size_t end = EndOfLine(text_, at_);
      tokens_.push_back({text_.substr(at_, end - at_), Token::kComment});
      at_ = end;
    } else if (const size_t end = EndOfLineSplice(text_, at_); end > at_) {
      at_ = end;
    } else if (IsQuote(c)) {
      Take(EndOfPythonString(text_, at_, {}), Token::kString);
    } else if (IsNumberAt(text_, at_)) {
      Take(EndOfPythonNumber(text_, at_), Token::kNumber);
    } else if (IsNameByte(c)) {
      TakeName();
    } else {
      TakeOperator();
    }
  }

  // A name right before a quote may be the prefix of a string, such as rb or f.
  void TakeName() {
    const size_t end = EndOfName(text_, at_);
    if (IsQuote(ByteAt(text_, end))) {
      if (const auto prefix = ReadPythonPrefix(text_.substr(at_, end - at_))) {
        return Take(EndOfPythonString(text_, end, *prefix), Token::kString);
      }
    }
    Take(end, Token::kName);
  }

  // A closing bracket too many does not make the depth negative, so one typo cannot hide all later
  // statements. A semicolon outside brackets begins a statement after it.
  void TakeOperator() {
    const char c = text_[at_];
    const bool ends_statement = c == ';' && depth_ == 0;
    begins_statement_ |= ends_statement;
    if (IsOpeningBracket(c)) ++depth_;
    if (IsClosingBracket(c) && depth_ > 0) --depth_;
    Take(EndOfPythonOperator(text_, at_), Token::kOperator);
    begins_statement_ = ends_statement;
  }

  // Comments are pushed elsewhere: they do not use up begins_statement_.
  void Take(size_t end, Token::Kind kind) {
    tokens_.push_back({text_.substr(at_, end - at_), kind, begins_statement_});
    begins_statement_ = false;
    at_ = end;
  }

  const string_view text_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
  int depth_ = 0;  // open brackets
  bool begins_statement_ = true;
};

// The lexer of C, C++ and CUDA.
class CLexer {
 public:
  explicit CLexer(string_view text) : text_(text) { tokens_.reserve(text.size() / 3); }

  std::vector<Token> Run() {
    while (at_ < text_.size()) Step();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (IsBlank(c) || IsNewline(c)) {
      ++at_;
    } else if (const size_t comment = EndOfCComment(text_, at_); comment > at_) {
      Take(comment, Token::kComment);
    } else if (const size_t spliced = EndOfLineSplice(text_, at_); spliced > at_) {
      at_ = spliced;
    } else if (IsQuote(c)) {
      Take(EndOfCString(text_, at_, CPrefix::kNone), Token::kString);
    } else if (IsNumberAt(text_, at_)) {
      Take(EndOfCNumber(text_, at_), Token::kNumber);
    } else if (IsCNameByte(c)) {
      TakeName();
    } else {
      Take(EndOfCOperator(text_, at_), Token::kOperator);
    }
  }

  void TakeName() {
    const size_t end = EndOfCName(text_, at_);
    if (const char quote = ByteAt(text_, end); IsQuote(quote)) {
      const CPrefix prefix = ReadCPrefix(text_.substr(at_, end - at_), quote);
      if (prefix != CPrefix::kNone) return Take(EndOfCString(text_, end, prefix), Token::kString);
    }
    Take(end, Token::kName);
  }

  void Take(size_t end, Token::Kind kind) {
    tokens_.push_back({text_.substr(at_, end - at_), kind});
    at_ = end;
  }

  const string_view text_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Lex(string_view text, Language language) {
  return language == Language::kC ? CLexer(text).Run() : PythonLexer(text).Run();
}

}  // namespace kernelmill::code
