#include "services/extractor/core/cuda/uses.h"

#include <algorithm>
#include <cstdint>

#include "services/extractor/core/cuda/names.h"
#include "services/extractor/core/cuda/reserved_words.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// Words after which an expression begins.
bool IsStatementWord(string_view word) {
  static constexpr string_view kWords[] = {"return",    "else",     "do",       "case",    "throw",
                                           "co_return", "co_await", "co_yield", "template"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace

std::vector<std::string> CalledNames(const Code& code, const Brackets& brackets,
                                     const Function& function) {
  std::vector<std::string> names;
  for (uint32_t at = function.body + 1; at < function.last; ++at) {
    if (code.tokens[at].mark != '(') continue;
    const uint32_t name = NameBefore(code, brackets, at);
    if (name == kNoToken || name <= function.body || IsKeyword(code[name])) continue;
    const uint32_t begin = QualifiedBegin(code, brackets, name);
    const uint32_t type = NameBefore(code, brackets, begin);
    if (type != kNoToken && type > function.body && !IsStatementWord(code[type])) continue;
    names.push_back(JoinedWords(code, brackets, begin, name + 1));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace kernelmill::extractor::cuda
