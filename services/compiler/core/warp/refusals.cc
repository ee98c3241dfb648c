#include "services/compiler/core/warp/refusals.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kernelmill::compiler::warp {
namespace {

// Said by the harness (warp_frontend.py).
constexpr absl::string_view kNoType = "no type for ";
constexpr absl::string_view kNoKernel = " is no kernel of the module";

// Returns what a message says is missing; empty if it says that the kernel is wrong.
std::string FindMissing(const v1::CompileResult& result) {
  const absl::string_view message = result.message();
  if (result.stage() == "sandbox" || result.stage() == "clock") return result.stage();
  if (absl::EndsWith(message, kNoKernel)) return "function";
  if (absl::StartsWith(message, kNoType)) {
    return absl::StrCat("type:", message.substr(kNoType.size()));
  }
  // Stand-ins of the harness (absent.py).
  if (absl::StrContains(message, "which is not installed") ||
      absl::StrContains(message, "kernelmill_harness")) {
    return "import";
  }
  if (absl::StrContains(message, "MathDx") || absl::StrContains(message, "mathdx"))
    return "library";
  return "";
}

}  // namespace

void JudgeRefusal(v1::CompileResult& result) {
  std::string missing = FindMissing(result);
  if (missing.empty()) return;
  result.set_status(v1::COMPILE_STATUS_UNKNOWN);
  result.set_missing(std::move(missing));
}

}  // namespace kernelmill::compiler::warp
