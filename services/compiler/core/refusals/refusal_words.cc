#include "services/compiler/core/refusals/refusal_words.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/compiler/core/refusals/harness_words.h"
#include "services/compiler/core/signature/rules.h"

namespace kernelmill::compiler {
namespace {

bool IsGuessed(absl::string_view rule) { return GetCertainty(rule) == Certainty::kGuessed; }

// Returns the first guess of a signature; empty if all of it was read.
std::string FindGuess(const v1::KernelSignature& signature) {
  for (const v1::ConstexprValue& value : signature.constexprs()) {
    if (IsGuessed(value.rule())) return absl::StrCat("constexpr:", value.name());
  }
  for (const v1::ArgumentType& argument : signature.arguments()) {
    if (IsGuessed(argument.rule())) return absl::StrCat("type:", argument.name());
  }
  return "";
}

}  // namespace

void JudgeRefusal(const RefusalWords& words, const v1::KernelSignature& signature,
                  bool compiles_elsewhere, v1::CompileResult& result) {
  if (std::string missing = FindMissing(result); !missing.empty()) {
    return SetUnknown(std::move(missing), result);
  }
  const auto is_said = [&](absl::string_view fragment) {
    return absl::StrContains(result.message(), fragment);
  };
  for (const RefusalWords::Missing& row : words.missing) {
    if (is_said(row.fragment)) return SetUnknown(std::string(row.missing), result);
  }
  if (compiles_elsewhere ||
      std::any_of(words.never_taken.begin(), words.never_taken.end(), is_said)) {
    return;
  }
  if (std::string guess = FindGuess(signature); !guess.empty()) {
    SetUnknown(std::move(guess), result);
  }
}

}  // namespace kernelmill::compiler
