#include "services/extractor/core/cuda/names.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/code/brackets.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;

namespace {

using WordSet = absl::flat_hash_set<string_view>;

// Bounds on what is searched for backwards. A search backwards may start at every token, so that an
// unbounded one would take quadratic time.
constexpr uint32_t kMaxArguments = 256;
constexpr int kMaxParts = 64;
constexpr size_t kMaxName = 512;

// Returns how many template argument lists a token opens (if positive) or closes.
int AngleChange(const Code& code, uint32_t at) {
  const Token& token = code.tokens[at];
  if (token.kind != Token::kPunctuation) return 0;
  if (token.mark != '\0') return token.mark == '<' ? 1 : token.mark == '>' ? -1 : 0;
  return code[at] == ">>" ? -2 : code[at] == ">>>" ? -3 : 0;
}

// Returns the '<' of the template arguments that end with the token before `end`; kNoToken if no
// such one is there.
uint32_t AngleBegin(const Code& code, const Brackets& brackets, uint32_t end) {
  const uint32_t stop = end > kMaxArguments ? end - kMaxArguments : 0;
  int depth = 0;
  for (uint32_t at = end; at > stop;) {
    const char mark = code.tokens[--at].mark;
    if (mark == ';' || code::IsOpeningBracket(mark)) return kNoToken;
    const uint32_t match = brackets.match[at];
    if (match != kNoToken) {
      if (match > at) return kNoToken;
      at = match;
      continue;
    }
    depth -= AngleChange(code, at);
    if (depth <= 0) return depth == 0 && mark == '<' ? at : kNoToken;
  }
  return kNoToken;
}

}  // namespace

bool IsClassKey(string_view word) { return word == "class" || word == "struct" || word == "union"; }

// The sets of words below overlap, because they answer different questions: may a declaration begin
// here (specifiers, types), must an expression follow (expression words), may a word follow a
// parameter list (trailers), may it come before parentheses that hold no parameters (attributes).
bool IsTypeWord(string_view word) {
  static const auto& words =
      *new WordSet{"auto", "bool", "char",  "char16_t", "char32_t", "char8_t", "double", "float",
                   "int",  "long", "short", "signed",   "unsigned", "void",    "wchar_t"};
  return words.contains(word);
}

bool IsSpecifier(string_view word) {
  static const auto& words = *new WordSet{"const",        "constexpr",    "consteval",
                                          "constinit",    "extern",       "friend",
                                          "inline",       "mutable",      "register",
                                          "static",       "thread_local", "typedef",
                                          "typename",     "virtual",      "volatile",
                                          "explicit",     "__restrict",   "__restrict__",
                                          "__device__",   "__host__",     "__forceinline__",
                                          "__inline__",   "__noinline__", "__shared__",
                                          "__constant__", "__managed__",  "__grid_constant__",
                                          "__global__",   "restrict"};
  return words.contains(word);
}

bool IsExpressionWord(string_view word) {
  static const auto& words = *new WordSet{
      "return",  "else",      "do",       "case",      "throw",    "new",      "delete",   "sizeof",
      "alignof", "alignas",   "decltype", "co_return", "co_await", "co_yield", "and",      "or",
      "not",     "operator",  "typeof",   "typeid",    "noexcept", "requires", "template", "public",
      "private", "protected", "if",       "while",     "for",      "switch",   "default",  "asm",
      "__asm__", "__asm",     "break",    "continue",  "namespace"};
  return words.contains(word);
}

bool IsReserved(string_view word) {
  static const auto& words = *new WordSet{"catch",
                                          "const_cast",
                                          "dynamic_cast",
                                          "false",
                                          "final",
                                          "goto",
                                          "nullptr",
                                          "override",
                                          "static_assert",
                                          "static_cast",
                                          "reinterpret_cast",
                                          "this",
                                          "true",
                                          "try",
                                          "using",
                                          "concept",
                                          "export",
                                          "defined"};
  return IsTypeWord(word) || IsSpecifier(word) || IsExpressionWord(word) || IsClassKey(word) ||
         word == "enum" || words.contains(word);
}

bool IsTrailer(string_view word) {
  return word == "const" || word == "volatile" || word == "noexcept" || word == "override" ||
         word == "final" || word == "requires" || word == "try" || word == "throw" ||
         word == "__attribute__";
}

bool IsAttribute(string_view word) {
  static const auto& words = *new WordSet{"__align__",
                                          "__attribute",
                                          "__attribute__",
                                          "__block_size__",
                                          "__cluster_dims__",
                                          "__declspec",
                                          "__launch_bounds__",
                                          "__maxnreg__",
                                          "__typeof__",
                                          "alignas",
                                          "asm",
                                          "decltype",
                                          "explicit",
                                          "noexcept",
                                          "requires",
                                          "static_assert",
                                          "throw",
                                          "typeof"};
  return words.contains(word);
}

bool IsKeyword(string_view word) {
  static const auto& words = *new WordSet{"alignas",     "alignof",     "asm",
                                          "__asm__",     "auto",        "bool",
                                          "case",        "catch",       "char",
                                          "const",       "constexpr",   "co_return",
                                          "co_await",    "decltype",    "defined",
                                          "delete",      "do",          "double",
                                          "else",        "float",       "for",
                                          "goto",        "if",          "int",
                                          "long",        "new",         "noexcept",
                                          "operator",    "return",      "short",
                                          "signed",      "sizeof",      "static_assert",
                                          "switch",      "throw",       "typedef",
                                          "typeid",      "typename",    "typeof",
                                          "unsigned",    "using",       "void",
                                          "volatile",    "while",       "__attribute__",
                                          "template",    "requires",    "this",
                                          "const_cast",  "static_cast", "reinterpret_cast",
                                          "dynamic_cast"};
  return words.contains(word);
}

// '<' may just as well compare. The search gives up at tokens that template arguments cannot hold.
AngleSearch FindAngleEnd(const Code& code, const Brackets& brackets, uint32_t open, uint32_t most) {
  // Braces in arguments make a value, mostly {}. A longer block is a body: the '<' compared.
  constexpr uint32_t kMaxBracedValue = 16;
  int depth = 0;
  uint32_t at = open;
  const uint32_t end = most < code.size() - open ? open + most : code.size();
  for (; at < end; ++at) {
    const char mark = code.tokens[at].mark;
    if (mark == ';' || mark == '}' || mark == ')' || mark == ']') break;
    if (code::IsOpeningBracket(mark)) {
      const uint32_t close = brackets.match[at];
      if (close == kNoToken || (mark == '{' && close > at + kMaxBracedValue)) break;
      at = close;
      continue;
    }
    depth += AngleChange(code, at);
    if (depth <= 0) return {at, true};
  }
  return {at, false};
}

// Returns the name that ends before `end`: a word, or the word before template arguments. kNoToken
// if neither is there.
uint32_t NameBefore(const Code& code, const Brackets& brackets, uint32_t end) {
  if (end == 0) return kNoToken;
  if (code.IsWord(end - 1)) return end - 1;
  const bool ends_launch = brackets.match[end - 1] != kNoToken;
  if (AngleChange(code, end - 1) >= 0 || ends_launch) return kNoToken;
  const uint32_t open = AngleBegin(code, brackets, end);
  return open != kNoToken && open > 0 && code.IsWord(open - 1) ? open - 1 : kNoToken;
}

// Returns the first token of the qualified name that ends with `name`: a for a::b<T>::c.
uint32_t QualifiedBegin(const Code& code, const Brackets& brackets, uint32_t name) {
  for (int part = 0; part < kMaxParts && name > 0 && code[name - 1] == "::"; ++part) {
    const uint32_t before = NameBefore(code, brackets, name - 1);
    if (before == kNoToken || IsKeyword(code[before])) break;
    name = before;
  }
  return name;
}

// Joins the words of [begin, end) with "::", without template arguments.
std::string JoinedWords(const Code& code, const Brackets& brackets, uint32_t begin, uint32_t end) {
  std::string joined;
  for (uint32_t at = begin; at < end && joined.size() < kMaxName; ++at) {
    if (code[at] == "<") at = FindAngleEnd(code, brackets, at).token;
    if (at < end && code.IsWord(at)) {
      absl::StrAppend(&joined, joined.empty() ? "" : "::", code[at]);
    }
  }
  return joined;
}

// Reads the name after a class key. Returns false if something stops before a body that cannot be
// in a class's head, as in `struct S f() {`.
bool ClassName(const Code& code, const Brackets& brackets, uint32_t key, uint32_t brace,
               std::string& name) {
  name.clear();
  constexpr uint32_t kMaxHead = 64;
  for (uint32_t at = key + 1; at <= std::min(brace, key + kMaxHead); ++at) {
    const absl::string_view token = code[at];
    if (token == "{" || token == ":" || token == "<" || token == "final") return true;
    if (code::IsOpeningBracket(code.tokens[at].mark)) {  // an attribute's
      if (brackets.match[at] == kNoToken) return false;
      at = brackets.match[at];
    } else if (code.IsWord(at)) {
      const bool nested = at > key + 1 && code[at - 1] == "::";
      name = nested ? absl::StrCat(name, "::", token) : std::string(token);
    } else if (token != "::") {
      return false;
    }
  }
  return false;
}

}  // namespace kernelmill::extractor::cuda
