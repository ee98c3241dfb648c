#include "services/extractor/core/cuda/uses.h"

#include <algorithm>
#include <cstdint>

#include "services/extractor/core/cuda/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// Words that may stand beside a type and are none.
bool IsSpecifier(string_view word) {
  static constexpr string_view kWords[] = {
      "const",    "volatile",   "struct",       "class", "enum",
      "typename", "__restrict", "__restrict__", "union", "__grid_constant__"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// Words after which an expression begins.
bool IsStatementWord(string_view word) {
  static constexpr string_view kWords[] = {"return",    "else",     "do",       "case",    "throw",
                                           "co_return", "co_await", "co_yield", "template"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// Reads one parameter: the last word at its outer level is its name, if a type stands before it.
class Parameter {
 public:
  Parameter(const Code& code, const Brackets& brackets, uint32_t begin, uint32_t end)
      : code_(code), brackets_(brackets), begin_(begin), end_(end) {}

  // kNoToken: it has none.
  uint32_t Name() {
    for (uint32_t at = begin_; at < end_; ++at) {
      const string_view token = code_[at];
      if (token == "=" || (token == "[" && name_ != kNoToken)) break;
      if (token == "(" && (code_.Is(at + 1, "*") || code_.Is(at + 1, "&"))) {
        return code_.IsWord(at + 2) ? at + 2 : kNoToken;  // a pointer to a function, an array
      }
      if (code_.IsWord(at)) {
        ReadWord(at, token);
      } else if (token != "::") {
        TakeForType();
      }
      at = AfterBrackets(at, token);
    }
    return has_type_ ? name_ : kNoToken;
  }

 private:
  void ReadWord(uint32_t at, string_view word) {
    if (IsSpecifier(word)) return;
    TakeForType();
    const bool qualified = at > begin_ && code_[at - 1] == "::";
    if (qualified || IsKeyword(word)) {
      has_type_ = true;
    } else {
      name_ = at;
    }
  }

  // What was read so far is a type: something follows that cannot follow a name.
  void TakeForType() {
    if (name_ != kNoToken) has_type_ = true;
    name_ = kNoToken;
  }

  uint32_t AfterBrackets(uint32_t at, string_view token) const {
    if (token == "<") {
      const AngleSearch angle = FindAngleEnd(code_, brackets_, at);
      return angle.found ? angle.token : end_;
    }
    const uint32_t close = brackets_.match[at];
    return close != kNoToken && close > at ? close : at;
  }

  const Code& code_;
  const Brackets& brackets_;
  const uint32_t begin_;
  const uint32_t end_;
  uint32_t name_ = kNoToken;
  bool has_type_ = false;
};

}  // namespace

std::vector<std::string> ParameterNames(const Code& code, const Brackets& brackets,
                                        const Enclosed& parameters) {
  std::vector<std::string> names;
  uint32_t begin = parameters.open + 1;
  const auto add = [&](uint32_t end) {
    const uint32_t name = Parameter(code, brackets, begin, end).Name();
    if (name != kNoToken) names.emplace_back(code[name]);
    begin = end + 1;
  };
  uint32_t no_arguments_before = 0;
  for (uint32_t at = begin; at < parameters.close; ++at) {
    const string_view token = code[at];
    if (token == ",") {
      add(at);
    } else if (token == "<" && at >= no_arguments_before) {
      const AngleSearch angle = FindAngleEnd(code, brackets, at);
      if (angle.found) at = angle.token;
      if (!angle.found) no_arguments_before = angle.token;
    } else if ((token == "(" || token == "[" || token == "{") && brackets.match[at] != kNoToken) {
      at = brackets.match[at];
    }
  }
  add(parameters.close);
  return names;
}

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
