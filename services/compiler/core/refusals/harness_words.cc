#include "services/compiler/core/refusals/harness_words.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::compiler {

using absl::string_view;

namespace {

constexpr string_view kNoKernel = " is no kernel of the module";
constexpr string_view kNoType = "no type for ";
constexpr string_view kNoValue = "no value for ";

// Stages for which the machine may be to blame.
constexpr string_view kMachine[] = {"sandbox", "clock"};

}  // namespace

bool IsAboutStandIn(string_view message) {
  return absl::StrContains(message, "which is not installed") ||
         absl::StrContains(message, "kernelmill_harness");
}

std::string FindMissing(const v1::CompileResult& refused) {
  const string_view message = refused.message();
  if (absl::EndsWith(message, kNoKernel)) return "function";
  for (const string_view stage : kMachine) {
    if (refused.stage() == stage) return refused.stage();
  }
  if (absl::StartsWith(message, kNoType)) {
    return absl::StrCat("type:", message.substr(kNoType.size()));
  }
  if (absl::StartsWith(message, kNoValue)) {
    const string_view name = message.substr(kNoValue.size());
    return absl::StrCat("constexpr:", name.substr(0, name.find(':')));
  }
  return IsAboutStandIn(message) ? "import" : "";
}

void SetUnknown(std::string missing, v1::CompileResult& result) {
  result.set_status(v1::COMPILE_STATUS_UNKNOWN);
  result.set_missing(std::move(missing));
}

bool JudgeStageOfImport(string_view error, v1::CompileResult& result) {
  for (const string_view stage : kMachine) {
    if (!absl::StartsWith(error, absl::StrCat(stage, ": "))) continue;
    SetUnknown(absl::StrCat("import:", stage), result);
    return true;
  }
  if (!absl::StartsWith(error, "limit: ")) return false;
  result.set_stage("limit");
  return true;
}

}  // namespace kernelmill::compiler
