#include "services/extractor/core/cuda/lexer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/code/bytes.h"
#include "common/code/c.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// One pass over the bytes. Text that #if 0 leaves out is lexed as well, because its directives are
// nested, but its tokens are dropped while skipped_ is positive.
class Lexer {
 public:
  Lexer(string_view text, const dsl::Language& language) : text_(text) {
    code_.text = text;
    code_.qualifiers = &language.qualifiers;
    code_.takers = &language.takers;
  }

  Code Run() {
    while (at_ < text_.size()) Step();
    return std::move(code_);
  }

 private:
  // The current branch of an #if whose #endif has not come. Only #if 0, #if 1 and the like are
  // decided here: the branches of all others stay in the text.
  enum State : uint8_t {
    kOpen,   // the condition is not known: each branch stays
    kNever,  // this branch is left out, and so were all before it
    kTaken,  // this branch stays, all others are left out
    kDone,   // an earlier branch was taken: this one is left out
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
      if ((c == '{' || c == '}') && IsJinja(c)) code_.is_template = true;
      Take(code::EndOfCOperator(text_, at_), Token::kPunctuation);
    }
  }

  // Jinja begins statements with {% and ends values with }}. C++ has no {% (except in the digraphs
  // %> and %:), and no }} right before a name.
  bool IsJinja(char c) const {
    const char next = code::ByteAt(text_, at_ + 1);
    const char after = code::ByteAt(text_, at_ + 2);
    if (c == '{') return next == '%' && after != '>' && after != ':';
    return c == '}' && next == '}' && code::IsCNameByte(after);
  }

  // A token of one punctuation byte has this byte in `mark`, so that most checks need no comparison
  // of texts.
  void Take(size_t end, Token::Kind kind) {
    if (skipped_ == 0) {
      const bool is_mark = kind == Token::kPunctuation && end == at_ + 1;
      code_.tokens.push_back({static_cast<uint32_t>(at_), static_cast<uint32_t>(end), kind,
                              is_mark ? text_[at_] : '\0'});
    }
    at_ = end;
  }

  // A word right before a quote may be a string's prefix: R"(...)", u8"...".
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

  // Returns the end of the preprocessor line at `at`. Comments and strings in it may hold line
  // ends.
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
    line_begin_ = static_cast<uint32_t>(at_);
    line_end_ = static_cast<uint32_t>(end);
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      OpenCondition(word == "if" ? Evaluate(line) : kOpen, ReadCondition(word, line));
    } else if (word == "elif" || word == "elifdef" || word == "elifndef") {
      NextBranch(Directive::kElif, ReadCondition(word.substr(2), line));
    } else if (word == "else") {
      NextBranch(Directive::kElse, {});
    } else if (word == "endif") {
      CloseCondition();
    } else if (skipped_ == 0) {
      ReadOther(word, line);
    }
    at_ = end;
  }

  // The order of macros stays: an #undef ends the definitions before it.
  void ReadOther(string_view word, string_view line) {
    if (word == "include") {
      ReadInclude(line);
    } else if (word == "undef") {
      code_.macros.push_back(
          {line_begin_, line_end_, line.substr(0, WordLength(line)), "", /*undefines=*/true});
    } else if (word == "define") {
      const size_t size = WordLength(line);
      code_.macros.push_back({line_begin_, line_end_, line.substr(0, size), line.substr(size)});
      ReadDefinition(line);
    }
  }

  void ReadInclude(string_view line) {
    if (line.empty() || (line[0] != '"' && line[0] != '<')) return;
    const bool angled = line[0] == '<';
    const size_t end = line.find(angled ? '>' : '"', 1);
    if (end == string_view::npos) return;
    code_.includes.push_back({line_begin_, line_end_, line.substr(1, end - 1), angled});
  }

  // Reads what follows `word`: if, ifdef or ifndef. `#if defined(X)` asks the same as `#ifdef X`,
  // and
  // `#if !defined(X)` the opposite. Longer expressions are kept as they are.
  static Condition ReadCondition(string_view word, string_view line) {
    Condition condition;
    if (const size_t comment = std::min(line.find("//"), line.find("/*"));
        comment != string_view::npos) {
      line = absl::StripTrailingAsciiWhitespace(line.substr(0, comment));
    }
    condition.expression = line;
    if (word != "if") {
      condition.of_definition = true;
      condition.negated = word == "ifndef";
      return condition;
    }
    string_view asked = line;
    const bool negated = absl::ConsumePrefix(&asked, "!");
    asked = absl::StripLeadingAsciiWhitespace(asked);
    if (!absl::ConsumePrefix(&asked, "defined")) return condition;
    asked = absl::StripLeadingAsciiWhitespace(asked);
    if (absl::ConsumePrefix(&asked, "(") && !absl::ConsumeSuffix(&asked, ")")) return condition;
    asked = absl::StripAsciiWhitespace(asked);
    if (asked.empty() || WordLength(asked) != asked.size()) return condition;
    return {asked, /*of_definition=*/true, negated};
  }

  // A macro without parameters that is defined as words with a qualifier among them stands for that
  // qualifier: #define MY_KERNEL extern "C" __global__. One with a body in it does not.
  void ReadDefinition(string_view definition) {
    const size_t size = WordLength(definition);
    const string_view name = definition.substr(0, size);
    definition.remove_prefix(size);
    if (name.empty() || absl::StartsWith(definition, "(")) return;
    if (absl::StrContains(definition, '{')) return;
    if (code_.HasKernelWord(definition)) code_.kernel_macros.insert(name);
    if (code_.HasDeviceWord(definition)) code_.device_macros.insert(name);
  }

  static size_t WordLength(string_view text) { return code::EndOfCName(text, 0); }

  // Decides only constants. A comment may follow the constant.
  static State Evaluate(string_view expression) {
    const string_view word = expression.substr(0, WordLength(expression));
    const string_view rest = absl::StripLeadingAsciiWhitespace(expression.substr(word.size()));
    if (!rest.empty() && rest[0] != '/') return kOpen;
    if (word == "0" || word == "false") return kNever;
    return word == "1" || word == "true" ? kTaken : kOpen;
  }

  void Add(Directive::Kind kind, const Condition& condition) {
    if (skipped_ > 0) return;
    code_.directives.push_back({kind, code_.size(), line_begin_, line_end_, condition});
  }

  static bool IsSkipped(State state) { return state == kNever || state == kDone; }

  void OpenCondition(State state, const Condition& condition) {
    if (skipped_ > 0) state = kDone;
    if (state == kOpen) Add(Directive::kIf, condition);
    if (IsSkipped(state)) ++skipped_;
    conditions_.push_back(state);
  }

  // Changes the state at an #elif or #else. After #if 0, an #elif begins a conditional of its own,
  // whose #if was never written; after a taken branch, all others are left out.
  void NextBranch(Directive::Kind kind, const Condition& condition) {
    if (conditions_.empty()) return;
    State& state = conditions_.back();
    if (state == kOpen) {
      Add(kind, condition);
    } else if (state == kTaken) {
      state = kDone;
      ++skipped_;
    } else if (state == kNever) {
      --skipped_;
      state = kind == Directive::kElif ? kOpen : kTaken;
      if (state == kOpen) Add(Directive::kIf, condition);
    }
  }

  void CloseCondition() {
    if (conditions_.empty()) return;
    if (conditions_.back() == kOpen) Add(Directive::kEndif, {});
    if (IsSkipped(conditions_.back())) --skipped_;
    conditions_.pop_back();
  }

  const string_view text_;
  Code code_;
  size_t at_ = 0;
  bool line_start_ = true;
  uint32_t line_begin_ = 0;  // the current directive's line
  uint32_t line_end_ = 0;
  std::vector<State> conditions_;
  size_t skipped_ = 0;  // how many of conditions_ leave the text out
};

bool Holds(const std::vector<string_view>& words, string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool AnyWord(string_view text, absl::FunctionRef<bool(string_view)> fits) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = code::EndOfCName(text, at);
    if (end > at && fits(text.substr(at, end - at))) return true;
    at = std::max(end, at + 1);
  }
  return false;
}

}  // namespace

bool Code::IsOfKernel(absl::string_view word) const {
  return Holds(qualifiers->kernel, word) || kernel_macros.contains(word);
}

bool Code::IsOfDevice(absl::string_view word) const {
  return Holds(qualifiers->device, word) || device_macros.contains(word);
}

bool Code::HasKernelWord(absl::string_view text) const {
  return AnyWord(text, [this](absl::string_view word) { return IsOfKernel(word); });
}

bool Code::HasDeviceWord(absl::string_view text) const {
  return AnyWord(text, [this](absl::string_view word) { return IsOfDevice(word); });
}

bool Code::HasTaker(absl::string_view text) const {
  return AnyWord(text, [this](absl::string_view word) { return Holds(takers->members, word); });
}

Code Lex(absl::string_view text) {
  static const dsl::Language& cuda = *dsl::FindLanguage(dsl::kCuda);
  return Lex(text, cuda);
}

Code Lex(absl::string_view text, const dsl::Language& language) {
  return Lexer(text, language).Run();
}

}  // namespace kernelmill::extractor::cuda
