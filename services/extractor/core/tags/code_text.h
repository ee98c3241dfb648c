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

// How often what is called, by the last part of its name; "@" stands for Python's operator.
using CallCounts = absl::flat_hash_map<absl::string_view, int>;

// A text as tokens without comments, with what can be told of it without a grammar: brackets that
// match, statements, functions, calls. Total on any text, in linear time. Views point into `text`,
// which outlives it.
class CodeText {
 public:
  CodeText(absl::string_view text, code::Language language);

  bool is_c() const { return language_ == code::Language::kC; }
  size_t size() const { return tokens_.size(); }
  absl::string_view operator[](size_t at) const { return tokens_[at].text; }
  TokenSpan all() const { return {0, tokens_.size()}; }

  // A name that is no keyword.
  bool IsName(size_t at) const;
  // Of an opening bracket the place of the one that closes it, before `end`; else the last place.
  size_t CloseOf(size_t open, size_t end) const;

  // In order. Of Python the header of a block is one by itself: "if x:".
  std::vector<TokenSpan> Statements(TokenSpan span) const;
  // By name, of two of a name the first: the span after the name, in Python with what stands
  // indented below it, in C up to the closing brace. Those of C do not overlap.
  absl::flat_hash_map<absl::string_view, TokenSpan> Functions() const;
  void CountCalls(TokenSpan span, CallCounts& calls) const;

 private:
  bool BeginsStatement(size_t at) const { return tokens_[at].begins_statement; }
  size_t ColumnOf(size_t at) const;
  void MatchBrackets();
  void AddPythonFunctions(absl::flat_hash_map<absl::string_view, TokenSpan>& functions) const;
  void AddCFunctions(absl::flat_hash_map<absl::string_view, TokenSpan>& functions) const;
  bool IsTemplateCall(size_t name, size_t end) const;

  const absl::string_view text_;
  const code::Language language_;
  std::vector<code::Token> tokens_;
  std::vector<size_t> closes_;  // of opening brackets; of others their own place
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_CODE_TEXT_H_
