#include "services/validator/core/quality/compile_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kernelmill::validator {
namespace {

v1::RuleResult RuleOf(absl::string_view check, v1::RuleResult::Outcome outcome,
                      std::string reason = "") {
  v1::RuleResult result;
  result.set_rule(std::string(check));
  result.set_outcome(outcome);
  result.set_reason(std::move(reason));
  return result;
}

const v1::CompileResult* FirstOf(v1::CompileStatus status, const v1::CompiledKernel& compiled) {
  const auto found =
      std::find_if(compiled.results().begin(), compiled.results().end(),
                   [&](const v1::CompileResult& result) { return result.status() == status; });
  return found == compiled.results().end() ? nullptr : &*found;
}

// What was missing to tell, of a kernel that nothing else is known of.
v1::RuleResult Untold(absl::string_view check, const v1::CompiledKernel& compiled) {
  if (!compiled.not_attempted().empty()) {
    return RuleOf(check, v1::RuleResult::OUTCOME_EXEMPT,
                  absl::StrCat("not compiled: ", compiled.not_attempted()));
  }
  const v1::CompileResult* unknown = FirstOf(v1::COMPILE_STATUS_UNKNOWN, compiled);
  return RuleOf(
      check, v1::RuleResult::OUTCOME_EXEMPT,
      absl::StrCat("unknown: ", unknown == nullptr ? "no result" : unknown->missing().c_str()));
}

v1::RuleResult Compiles(absl::string_view check, const v1::CompiledKernel& compiled) {
  if (FirstOf(v1::COMPILE_STATUS_OK, compiled) != nullptr) {
    return RuleOf(check, v1::RuleResult::OUTCOME_PASS);
  }
  const v1::CompileResult* error = FirstOf(v1::COMPILE_STATUS_ERROR, compiled);
  if (error == nullptr) return Untold(check, compiled);
  // Its message may quote the source, a secret in it too.
  return RuleOf(check, v1::RuleResult::OUTCOME_FAIL,
                absl::StrCat(error->stage(), ": ", error->toolchain(), " for ", error->target()));
}

// Whether the module could not be loaded for want of something that is not its own.
bool IsForeign(const v1::ModuleImport& failed, const v1::CompiledKernel& compiled) {
  return std::any_of(compiled.results().begin(), compiled.results().end(),
                     [&](const v1::CompileResult& result) {
                       return result.toolchain() == failed.toolchain() &&
                              result.status() == v1::COMPILE_STATUS_UNKNOWN;
                     });
}

v1::RuleResult Imports(absl::string_view check, const v1::CompiledKernel& compiled) {
  const v1::ModuleImport* failed = nullptr;
  for (const v1::ModuleImport& one : compiled.imports()) {
    if (one.ok()) return RuleOf(check, v1::RuleResult::OUTCOME_PASS);
    if (failed == nullptr && !IsForeign(one, compiled)) failed = &one;
  }
  if (failed == nullptr) return Untold(check, compiled);
  return RuleOf(check, v1::RuleResult::OUTCOME_FAIL, absl::StrCat("import: ", failed->toolchain()));
}

}  // namespace

v1::RuleResult CompilerRule(absl::string_view check, const v1::CompiledKernel& compiled) {
  return check == "compiles" ? Compiles(check, compiled) : Imports(check, compiled);
}

}  // namespace kernelmill::validator
