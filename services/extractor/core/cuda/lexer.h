#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LEXER_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LEXER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kernelmill::extractor::cuda {

// A piece of code: offsets into the text.
struct Token {
  enum Kind : uint8_t { kWord, kNumber, kString, kPunctuation };
  uint32_t begin;
  uint32_t end;
  Kind kind;
  char mark;  // of punctuation of one byte that byte, else NUL: what most questions are about
};

// What a directive asks: whether `expression` is defined, or what its value is; or the opposite.
struct Condition {
  absl::string_view expression;  // empty: nothing
  bool of_definition = false;
  bool negated = false;
};

// A line that chooses between texts, and the index of the token that it stands before.
struct Directive {
  enum Kind : uint8_t { kIf, kElif, kElse, kEndif };
  Kind kind;
  uint32_t before;
  uint32_t begin;  // of the line from its '#' on, without the line end
  uint32_t end;
  Condition condition;
};

// #include "path" or <path>.
struct Include {
  uint32_t begin;  // as a directive's
  uint32_t end;
  absl::string_view path;
  bool angled;
};

// #define or #undef.
struct Macro {
  uint32_t begin;  // as a directive's, with the lines that a backslash joins
  uint32_t end;
  absl::string_view name;
  absl::string_view rest;  // after the name: "(a, b) text", or blanks and a text
  bool undefines = false;

  bool takes_arguments() const { return !rest.empty() && rest[0] == '('; }
};

// CUDA C++ without comments and preprocessor lines. What `#if 0` leaves out is a comment too.
struct Code {
  absl::string_view text;
  std::vector<Token> tokens;
  std::vector<Directive> directives;
  std::vector<Include> includes;
  std::vector<Macro> macros;
  bool is_template = false;  // of Jinja: C++ only once it is filled in
  // Words that make a function one of the kind: the qualifier, and macros of this text that are
  // defined as words with it among them.
  absl::flat_hash_set<absl::string_view> global_words = {"__global__"};
  absl::flat_hash_set<absl::string_view> device_words = {"__device__"};

  uint32_t size() const { return static_cast<uint32_t>(tokens.size()); }
  absl::string_view operator[](uint32_t token) const {
    const Token& t = tokens[token];
    return text.substr(t.begin, t.end - t.begin);
  }
  // Whether there is such a token, and it is `word`.
  bool Is(uint32_t token, absl::string_view word) const {
    return token < size() && (*this)[token] == word;
  }
  bool IsWord(uint32_t token) const { return token < size() && tokens[token].kind == Token::kWord; }
};

// Total on any bytes, in linear time. Strings that are not closed end with their line; comments and
// raw strings that are not end with the text. Operators are C++'s longest, with CUDA's <<< and >>>.
// `text` is smaller than 4 GiB and outlives the result.
Code Lex(absl::string_view text);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LEXER_H_
