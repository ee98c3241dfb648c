#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_CODE_TEXT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_CODE_TEXT_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::extractor {

// Tokens [begin, end) of a CodeText.
struct TokenSpan {
  size_t begin = 0;
  size_t end = 0;
};

// The number of calls of each function, by the last part of its name; "@" is Python's operator.
using CallCounts = absl::flat_hash_map<absl::string_view, int>;

// The tokens of a Python or C text without comments, and what they tell without a grammar: matching
// brackets, statements, functions, calls. Total on any text, in linear time. All views point into
// the text, which outlives this object. Immutable.
class CodeText {
 public:
  CodeText(absl::string_view text, code::Language language);

  bool is_c() const { return language_ == code::Language::kC; }
  size_t size() const { return tokens_.size(); }
  absl::string_view operator[](size_t at) const { return tokens_[at].text; }
  TokenSpan all() const { return {0, tokens_.size()}; }

  // Returns whether the token is a name and no keyword.
  bool IsName(size_t at) const;
  // Returns the token before `end` that closes the bracket at `open`; end - 1 if none does.
  size_t FindClose(size_t open, size_t end) const;

  // Returns the statements in order. The header of a Python block, as in "if x:", is a statement of
  // its own.
  std::vector<TokenSpan> Statements(TokenSpan span) const;
  // Returns the span of each function after its name: in Python up to the end of its indented
  // block, in C up to its closing brace. The first of several functions with one name is kept. C
  // functions do not overlap.
  absl::flat_hash_map<absl::string_view, TokenSpan> Functions() const;
  // Adds the calls within a span.
  void CountCalls(TokenSpan span, CallCounts& calls) const;

 private:
  bool BeginsStatement(size_t at) const { return tokens_[at].begins_statement; }
  size_t Column(size_t at) const;
  void AddPythonFunctions(absl::flat_hash_map<absl::string_view, TokenSpan>& functions) const;
  void AddCFunctions(absl::flat_hash_map<absl::string_view, TokenSpan>& functions) const;
  bool IsTemplateCall(size_t name, size_t end) const;

  const absl::string_view text_;
  const code::Language language_;
  std::vector<code::Token> tokens_;
  std::vector<size_t> closes_;  // see code::MatchBrackets
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_CODE_TEXT_H_
