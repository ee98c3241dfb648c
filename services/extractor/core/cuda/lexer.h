#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LEXER_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LEXER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/dsl/language.h"

namespace kernelmill::extractor::cuda {

// A token of C++, as offsets into the text.
struct Token {
  enum Kind : uint8_t { kWord, kNumber, kString, kPunctuation };
  uint32_t begin;
  uint32_t end;
  Kind kind;
  char mark;  // the byte of one-byte punctuation, else NUL; most readers need no more of a token
};

// The question of an #if or #elif: whether `expression` is defined, or whether it is true.
struct Condition {
  absl::string_view expression;  // empty: no question
  bool of_definition = false;
  bool negated = false;
};

// A directive that chooses between texts.
struct Directive {
  enum Kind : uint8_t { kIf, kElif, kElse, kEndif };
  Kind kind;
  uint32_t before;  // the first token after it
  uint32_t begin;   // of the line from its '#' on, without the line end
  uint32_t end;
  Condition condition;
};

// #include "path" or <path>.
struct Include {
  uint32_t begin;  // as in Directive
  uint32_t end;
  absl::string_view path;
  bool angled;
};

// #define or #undef.
struct Macro {
  uint32_t begin;  // as in Directive, with the lines that a backslash joins
  uint32_t end;
  absl::string_view name;
  absl::string_view rest;  // after the name: "(a, b) text", or blanks and a text
  bool undefines = false;

  bool takes_arguments() const { return !rest.empty() && rest[0] == '('; }
};

// The tokens of a CUDA C++ text, without comments and preprocessor lines, and its preprocessor
// lines apart. Text that `#if 0` excludes counts as a comment. Refers to the text.
struct Code {
  absl::string_view text;
  std::vector<Token> tokens;
  std::vector<Directive> directives;
  std::vector<Include> includes;
  std::vector<Macro> macros;
  bool is_template = false;  // a Jinja template, which becomes C++ only once it is filled in
  const dsl::Qualifiers* qualifiers = nullptr;  // the language's
  const dsl::KernelTakers* takers = nullptr;    // the language's
  // Macros of this text whose definition contains a qualifier of kernels or of device functions.
  absl::flat_hash_set<absl::string_view> kernel_macros;
  absl::flat_hash_set<absl::string_view> device_macros;

  uint32_t size() const { return static_cast<uint32_t>(tokens.size()); }
  absl::string_view operator[](uint32_t token) const {
    const Token& t = tokens[token];
    return text.substr(t.begin, t.end - t.begin);
  }
  // Returns whether the token exists and is `word`.
  bool Is(uint32_t token, absl::string_view word) const {
    return token < size() && (*this)[token] == word;
  }
  // Return whether the word marks a kernel or a device function.
  bool IsOfKernel(absl::string_view word) const;
  bool IsOfDevice(absl::string_view word) const;
  // Return whether a word of the text is one of these.
  bool HasKernelWord(absl::string_view text) const;
  bool HasDeviceWord(absl::string_view text) const;
  // Returns whether a word of the text may take kernels.
  bool HasTaker(absl::string_view text) const;
  bool IsWord(uint32_t token) const { return token < size() && tokens[token].kind == Token::kWord; }
};

// Cuts a text into tokens. Total on any bytes, in linear time. An unclosed string ends with its
// line; an unclosed comment or raw string ends with the text. Operators are the longest ones of
// C++, plus CUDA's <<< and >>>. `text` is smaller than 4 GiB and outlives the result. The first
// function reads the text as CUDA.
Code Lex(absl::string_view text);
Code Lex(absl::string_view text, const dsl::Language& language);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LEXER_H_
