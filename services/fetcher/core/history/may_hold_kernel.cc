#include "services/fetcher/core/history/may_hold_kernel.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/dsl/languages.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

bool IsWordByte(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// Says whether a text names a "jit" that is not another library's, such as torch.jit.
bool NamesJit(absl::string_view content) {
  constexpr absl::string_view kJit = "jit";
  for (size_t at = content.find(kJit); at != absl::string_view::npos;
       at = content.find(kJit, at + 1)) {
    const size_t end = at + kJit.size();
    if (end < content.size() && IsWordByte(content[end])) continue;
    if (at == 0) return true;
    if (IsWordByte(content[at - 1])) continue;
    if (content[at - 1] != '.') return true;
    size_t begin = at - 1;
    while (begin > 0 && IsWordByte(content[begin - 1])) --begin;
    if (!dsl::IsOtherJit(content.substr(begin, at - 1 - begin))) return true;
  }
  return false;
}

}  // namespace

bool MayHoldKernel(absl::string_view content) {
  if (!ContentSkipReason(content).empty()) return false;
  for (const absl::string_view word : {"pallas", "__global__", "__device__"}) {
    if (absl::StrContains(content, word)) return true;
  }
  return NamesJit(content);
}

}  // namespace kernelmill::fetcher
