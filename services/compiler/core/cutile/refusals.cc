#include "services/compiler/core/cutile/refusals.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/signature/rules.h"

namespace kernelmill::compiler::cutile {
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

void SetUnknown(std::string missing, v1::CompileResult& result) {
  result.set_status(v1::COMPILE_STATUS_UNKNOWN);
  result.set_missing(std::move(missing));
}

}  // namespace

void JudgeRefusal(const v1::KernelSignature& signature, bool compiles_elsewhere,
                  v1::CompileResult& result) {
  const absl::string_view message = result.message();
  if (result.stage() == "sandbox" || result.stage() == "clock") {
    return SetUnknown(result.stage(), result);
  }
  if (absl::EndsWith(message, " is no kernel of the module")) {
    return SetUnknown("function", result);
  }
  // Stand-ins of the harness (absent.py).
  if (absl::StrContains(message, "which is not installed") ||
      absl::StrContains(message, "kernelmill_harness")) {
    return SetUnknown("import", result);
  }
  // No argument changes what cuTile has.
  if (compiles_elsewhere || absl::StrContains(message, "Module 'cuda.tile' has no attribute"))
    return;
  if (std::string guess = FindGuess(signature); !guess.empty()) {
    SetUnknown(std::move(guess), result);
  }
}

}  // namespace kernelmill::compiler::cutile
