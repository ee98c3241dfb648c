// The basic idea: shingles tell how similar two kernels are as texts, but a kernel for exp and one
// for sin can differ in a single token. The set of operations names what is computed: calls,
// operators, comparisons and constants. Two similar kernels with different sets are kept as
// different kernels (same_kernel.h).

#include "services/deduplicator/core/sign/operations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/base/hash.h"
#include "common/base/word_list.h"
#include "common/code/brackets.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;

constexpr string_view kOperators[] = {"+",  "-",  "*", "/",  "//", "%",   "**",  "@",  "&",
                                      "|",  "^",  "~", "<<", ">>", "not", "and", "or", "!",
                                      "&&", "||", "<", ">",  "<=", ">=",  "==",  "!="};

// Words that an opening bracket may follow although they are no functions.
constexpr string_view kKeywords[] = {"if",    "elif",  "else",   "for",    "while",  "in",
                                     "not",   "and",   "or",     "is",     "return", "assert",
                                     "yield", "await", "lambda", "switch", "sizeof", "def"};

// Smaller constants are epsilons: they keep a division finite and do not define the operation.
constexpr double kLeastConstant = 0.001;

bool HasText(const Token& token, string_view text) { return token.text == text; }

// Returns the index after the colon that ends the first `def`'s signature, or 0 if there is no
// `def`.
size_t FindBody(absl::Span<const Token> tokens) {
  size_t def = 0;
  while (def < tokens.size() && !HasText(tokens[def], "def")) ++def;
  const size_t colon = code::FindOutsideBrackets(tokens, def, tokens.size(), ":");
  return colon < tokens.size() ? colon + 1 : 0;
}

// Returns the operator of `x += y` as that of `x + y`; empty if the text is not an operator.
string_view Plain(string_view text) {
  if (IsAmong<kOperators>(text)) return text;
  return absl::ConsumeSuffix(&text, "=") ? text : "";
}

// Parses a number of Python or C. Returns nothing unless it counts as a constant.
std::optional<double> Constant(string_view text) {
  const std::string digits = absl::StrReplaceAll(text, {{"_", ""}, {"'", ""}});
  string_view number = digits;
  if (number.size() > 1 && (number[1] == 'x' || number[1] == 'X')) return std::nullopt;
  while (!number.empty() && string_view("fFlL").find(number.back()) != string_view::npos) {
    number.remove_suffix(1);
  }
  double value;
  if (!absl::SimpleAtod(number, &value) || !std::isfinite(value)) return std::nullopt;
  if (value < kLeastConstant || value == std::floor(value)) return std::nullopt;
  return value;
}

}  // namespace

// Returns the set of operations as sorted hashes. Python's signature is left out, because its
// defaults and annotations compute nothing.
std::vector<uint64_t> Operations(absl::Span<const Token> tokens, Language language,
                                 string_view kernel_name) {
  std::vector<uint64_t> found;
  const auto add = [&](string_view kind, string_view what) {
    found.push_back(StableHash64(absl::StrCat(kind, " ", what)));
  };
  for (size_t i = language == Language::kPython ? FindBody(tokens) : 0; i < tokens.size(); ++i) {
    const string_view text = tokens[i].text;
    const bool is_operator = tokens[i].kind == Token::kOperator || IsAmong<kOperators>(text);
    if (is_operator && IsAmong<kOperators>(Plain(text))) add("operator", Plain(text));
    if (tokens[i].kind == Token::kNumber) {
      const std::optional<double> constant = Constant(text);
      if (constant.has_value()) add("constant", absl::StrCat(*constant));
    }
    const bool is_called = tokens[i].kind == Token::kName && i + 1 < tokens.size() &&
                           HasText(tokens[i + 1], "(") && text != kernel_name;
    if (is_called && !IsAmong<kKeywords>(text) && !IsAmong<kPlumbing>(text)) add("function", text);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace kernelmill::deduplicator
