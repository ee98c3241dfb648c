#include "services/extractor/core/cuda/lexer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

constexpr std::array<bool, 256> WordBytes() {
  std::array<bool, 256> word{};
  for (int c = 0; c < 256; ++c) {
    word[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '$' || c >= 0x80;
  }
  return word;
}

constexpr std::array<bool, 256> kWordBytes = WordBytes();

bool IsWordByte(char c) { return kWordBytes[static_cast<unsigned char>(c)]; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNewline(char c) { return c == '\n' || c == '\r'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v'; }

bool IsRawPrefix(string_view word) {
  return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

bool IsPrefix(string_view word) {
  return word == "L" || word == "u" || word == "U" || word == "u8";
}

class Lexer {
 public:
  explicit Lexer(string_view text) : text_(text) { code_.text = text; }

  Code Run() {
    while (at_ < text_.size()) Step();
    return std::move(code_);
  }

 private:
  // What is known of an #if whose #endif has not come.
  enum Condition : uint8_t {
    kOpen,   // nothing: each branch counts
    kNever,  // no branch so far was taken; this one is not
    kTaken,  // this branch is taken
    kDone,   // one before was
  };

  char Peek(size_t offset = 1) const {
    return at_ + offset < text_.size() ? text_[at_ + offset] : '\0';
  }

  void Step() {
    const char c = text_[at_];
    if (IsNewline(c)) {
      line_start_ = true;
      ++at_;
    } else if (IsBlank(c)) {
      ++at_;
    } else if (c == '/' && Peek() == '/') {
      at_ = LineEnd(at_);
    } else if (c == '/' && Peek() == '*') {
      at_ = CommentEnd(at_);
    } else if (c == '\\' && IsNewline(Peek())) {
      at_ += 2;
    } else if (c == '#' && line_start_) {
      ReadDirective();
    } else {
      line_start_ = false;
      ReadToken(c);
    }
  }

  void ReadToken(char c) {
    if (c == '"' || c == '\'') {
      Take(LiteralEnd(at_), Token::kString);
    } else if (IsDigit(c) || (c == '.' && IsDigit(Peek()))) {
      Take(NumberEnd(), Token::kNumber);
    } else if (IsWordByte(c)) {
      ReadWord();
    } else {
      Take(at_ + OperatorLength(), Token::kPunctuation);
    }
  }

  void Take(size_t end, Token::Kind kind) {
    if (skipped_ == 0) {
      const bool is_mark = kind == Token::kPunctuation && end == at_ + 1;
      code_.tokens.push_back({static_cast<uint32_t>(at_), static_cast<uint32_t>(end), kind,
                              is_mark ? text_[at_] : '\0'});
    }
    at_ = end;
  }

  void ReadWord() {
    const size_t end = at_ + WordLength(text_.substr(at_));
    if (end < text_.size() && (text_[end] == '"' || text_[end] == '\'')) {
      const string_view word = text_.substr(at_, end - at_);
      if (text_[end] == '"' && IsRawPrefix(word)) return Take(RawEnd(end), Token::kString);
      if (IsPrefix(word)) return Take(LiteralEnd(end), Token::kString);
    }
    Take(end, Token::kWord);
  }

  size_t NumberEnd() const {
    size_t end = at_ + 1;
    while (end < text_.size()) {
      const char c = text_[end];
      const char last = absl::ascii_tolower(static_cast<unsigned char>(text_[end - 1]));
      const bool sign = (c == '+' || c == '-') && (last == 'p' || (last == 'e' && !IsHex()));
      const bool separator = c == '\'' && end + 1 < text_.size() && IsWordByte(text_[end + 1]);
      if (!IsWordByte(c) && c != '.' && !sign && !separator) break;
      ++end;
    }
    return end;
  }

  bool IsHex() const { return text_[at_] == '0' && (Peek() == 'x' || Peek() == 'X'); }

  size_t OperatorLength() const {
    if (!absl::ascii_ispunct(static_cast<unsigned char>(Peek()))) return 1;
    const string_view three = text_.substr(at_, 3);
    for (const string_view known : {"<<<", ">>>", "<<=", ">>=", "...", "->*", "<=>"}) {
      if (three == known) return 3;
    }
    const char a = text_[at_];
    const char b = Peek();
    if (b == a && absl::StrContains(":+-<>=&|#", a)) return 2;
    if (b == '=' && absl::StrContains("<>=!+-*/%&|^", a)) return 2;
    return a == '-' && b == '>' ? 2 : 1;
  }

  // The line's end after `at`; a backslash before a line end joins the next line to it.
  size_t LineEnd(size_t at) const {
    while (at < text_.size() && !IsNewline(text_[at])) {
      at = text_[at] == '\\' ? AfterEscape(at) : at + 1;
    }
    return std::min(at, text_.size());
  }

  // After a backslash at `at` and what it takes with it.
  size_t AfterEscape(size_t at) const {
    const bool pair = text_.substr(at + 1, 2) == "\r\n";
    return std::min(at + (pair ? 3 : 2), text_.size());
  }

  size_t CommentEnd(size_t at) const {
    const size_t end = text_.find("*/", at + 2);
    return end == string_view::npos ? text_.size() : end + 2;
  }

  size_t LiteralEnd(size_t quote) const {
    size_t at = quote + 1;
    while (at < text_.size() && !IsNewline(text_[at])) {
      if (text_[at] == text_[quote]) return at + 1;
      at = text_[at] == '\\' ? AfterEscape(at) : at + 1;
    }
    return std::min(at, text_.size());
  }

  size_t RawEnd(size_t quote) const {
    constexpr size_t kMaxDelimiter = 16;
    const size_t paren = text_.substr(quote + 1, kMaxDelimiter + 1).find('(');
    if (paren == string_view::npos) return LiteralEnd(quote);
    const std::string close = absl::StrCat(")", text_.substr(quote + 1, paren), "\"");
    const size_t end = text_.find(close, quote + 1 + paren);
    return end == string_view::npos ? text_.size() : end + close.size();
  }

  // The end of the preprocessor line at `at`: comments and strings in it may hold what would end
  // it.
  size_t DirectiveEnd(size_t at) const {
    while (at < text_.size() && !IsNewline(text_[at])) {
      const char c = text_[at];
      const char next = at + 1 < text_.size() ? text_[at + 1] : '\0';
      if (c == '\\') {
        at = AfterEscape(at);
      } else if (c == '/' && next == '/') {
        return LineEnd(at);
      } else if (c == '/' && next == '*') {
        at = CommentEnd(at);
      } else if (c == '"' || c == '\'') {
        at = LiteralEnd(at);
      } else {
        ++at;
      }
    }
    return std::min(at, text_.size());
  }

  void ReadDirective() {
    const size_t end = DirectiveEnd(at_ + 1);
    string_view line = absl::StripAsciiWhitespace(text_.substr(at_ + 1, end - at_ - 1));
    const string_view word = line.substr(0, WordLength(line));
    line = absl::StripLeadingAsciiWhitespace(line.substr(word.size()));
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      OpenCondition(word == "if" ? ValueOf(line) : kOpen);
    } else if (word == "elif" || word == "elifdef" || word == "elifndef") {
      NextBranch(Directive::kElif);
    } else if (word == "else") {
      NextBranch(Directive::kElse);
    } else if (word == "endif") {
      CloseCondition();
    } else if (word == "define" && skipped_ == 0) {
      ReadDefinition(line);
    }
    at_ = end;
  }

  // Of a macro without parameters whose text is no code by itself.
  void ReadDefinition(string_view definition) {
    const size_t size = WordLength(definition);
    const string_view name = definition.substr(0, size);
    definition.remove_prefix(size);
    if (name.empty() || absl::StartsWith(definition, "(")) return;
    if (absl::StrContains(definition, '{')) return;
    while (!definition.empty()) {
      const size_t length = WordLength(definition);
      const string_view word = definition.substr(0, length);
      if (code_.global_words.contains(word)) code_.global_words.insert(name);
      if (code_.device_words.contains(word)) code_.device_words.insert(name);
      definition.remove_prefix(std::max<size_t>(length, 1));
    }
  }

  static size_t WordLength(string_view text) {
    size_t size = 0;
    while (size < text.size() && IsWordByte(text[size])) ++size;
    return size;
  }

  static Condition ValueOf(string_view expression) {
    const string_view word = expression.substr(0, WordLength(expression));
    const string_view rest = absl::StripLeadingAsciiWhitespace(expression.substr(word.size()));
    if (!rest.empty() && rest[0] != '/') return kOpen;
    if (word == "0" || word == "false") return kNever;
    return word == "1" || word == "true" ? kTaken : kOpen;
  }

  void Add(Directive::Kind kind) {
    if (skipped_ == 0) code_.directives.push_back({kind, code_.size()});
  }

  static bool IsSkipped(Condition condition) { return condition == kNever || condition == kDone; }

  void OpenCondition(Condition condition) {
    if (skipped_ > 0) condition = kDone;
    if (condition == kOpen) Add(Directive::kIf);
    if (IsSkipped(condition)) ++skipped_;
    conditions_.push_back(condition);
  }

  void NextBranch(Directive::Kind kind) {
    if (conditions_.empty()) return;
    Condition& condition = conditions_.back();
    if (condition == kOpen) {
      Add(kind);
    } else if (condition == kTaken) {
      condition = kDone;
      ++skipped_;
    } else if (condition == kNever) {
      --skipped_;
      condition = kind == Directive::kElif ? kOpen : kTaken;
      if (condition == kOpen) Add(Directive::kIf);
    }
  }

  void CloseCondition() {
    if (conditions_.empty()) return;
    if (conditions_.back() == kOpen) Add(Directive::kEndif);
    if (IsSkipped(conditions_.back())) --skipped_;
    conditions_.pop_back();
  }

  const string_view text_;
  Code code_;
  size_t at_ = 0;
  bool line_start_ = true;
  std::vector<Condition> conditions_;
  size_t skipped_ = 0;  // how many of them leave the text out
};

}  // namespace

Code Lex(absl::string_view text) { return Lexer(text).Run(); }

}  // namespace kernelmill::extractor::cuda
