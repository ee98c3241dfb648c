#include "services/extractor/core/cuda/lexer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/code/bytes.h"
#include "common/code/c.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

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

  void Step() {
    const char c = text_[at_];
    if (code::IsNewline(c)) {
      line_start_ = true;
      ++at_;
    } else if (code::IsBlank(c)) {
      ++at_;
    } else if (const size_t comment = code::EndOfCComment(text_, at_); comment > at_) {
      at_ = comment;
    } else if (const size_t spliced = code::EndOfLineSplice(text_, at_); spliced > at_) {
      at_ = spliced;
    } else if (c == '#' && line_start_) {
      ReadDirective();
    } else {
      line_start_ = false;
      ReadToken(c);
    }
  }

  void ReadToken(char c) {
    if (code::IsQuote(c)) {
      Take(code::EndOfCString(text_, at_, code::CPrefix::kNone), Token::kString);
    } else if (code::IsNumberAt(text_, at_)) {
      Take(code::EndOfCNumber(text_, at_), Token::kNumber);
    } else if (code::IsCNameByte(c)) {
      ReadWord();
    } else {
      Take(code::EndOfCOperator(text_, at_), Token::kPunctuation);
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
    const size_t end = code::EndOfCName(text_, at_);
    if (const char quote = code::ByteAt(text_, end); code::IsQuote(quote)) {
      const code::CPrefix prefix = code::ReadCPrefix(text_.substr(at_, end - at_), quote);
      if (prefix != code::CPrefix::kNone) {
        return Take(code::EndOfCString(text_, end, prefix), Token::kString);
      }
    }
    Take(end, Token::kWord);
  }

  // The end of the preprocessor line at `at`: comments and strings in it may hold what would end
  // it.
  size_t DirectiveEnd(size_t at) const {
    while (at < text_.size() && !code::IsNewline(text_[at])) {
      if (const size_t comment = code::EndOfCComment(text_, at); comment > at) {
        at = comment;
      } else if (const size_t spliced = code::EndOfLineSplice(text_, at); spliced > at) {
        at = spliced;
      } else if (code::IsQuote(text_[at])) {
        at = code::EndOfCString(text_, at, code::CPrefix::kNone);
      } else {
        ++at;
      }
    }
    return at;
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

  static size_t WordLength(string_view text) { return code::EndOfCName(text, 0); }

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
