#include "services/extractor/core/cuda/reserved_words.h"

#include "absl/container/flat_hash_set.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;
using WordSet = absl::flat_hash_set<string_view>;

}  // namespace

bool IsClassKey(string_view word) { return word == "class" || word == "struct" || word == "union"; }

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

}  // namespace kernelmill::extractor::cuda
