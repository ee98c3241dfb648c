// An entry may name a path or the SHA-256 of a file or of a kernel's source. The hash catches a
// file that was moved or copied within the source. Copies in other sources are caught later, as
// duplicates of a rejected kernel.
#include "services/validator/core/opt_out.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::validator {

absl::StatusOr<OptOuts> OptOuts::Create(
    const v1::SourceTree& tree, const google::protobuf::RepeatedPtrField<v1::OptOut>& entries) {
  ASSIGN_OR_RETURN(job::SourceOptOut names, job::SourceOptOut::Compile(entries));
  OptOuts opt_outs(std::move(names));
  if (opt_outs.names_.empty()) return opt_outs;
  for (const v1::FileEntry& file : tree.files()) opt_outs.hashes_[file.path()] = file.sha256();
  return opt_outs;
}

// Remembers its answers: the kernels of a file, and the pieces of their modules, ask about few
// paths.
bool OptOuts::NamesFile(const std::string& path) {
  const auto [known, is_new] = files_.try_emplace(path, false);
  if (!is_new) return known->second;
  const auto hash = hashes_.find(path);
  known->second = names_.Names(path, {hash == hashes_.end() ? "" : hash->second});
  return known->second;
}

// Returns why the kernel is rejected; empty if it is not. A kernel is also rejected if its module
// or its launcher contains text of an opted-out file.
std::string OptOuts::ReasonFor(const v1::Kernel& kernel) {
  if (NamesFile(kernel.path()) || names_.Names(kernel.path(), {kernel.sha256()})) {
    return job::kOptOutReason;
  }
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    if (piece.path().empty() || !piece.used_source().empty()) continue;
    if (NamesFile(piece.path())) {
      return absl::StrCat(job::kOptOutReason, ":module");
    }
  }
  if (kernel.has_launcher() && NamesFile(kernel.launcher().path())) {
    return absl::StrCat(job::kOptOutReason, ":launcher");
  }
  return "";
}

void OptOuts::Reject(const v1::Kernel& kernel, v1::Verdict* verdict) {
  if (names_.empty()) return;
  const std::string reason = ReasonFor(kernel);
  if (reason.empty()) return;
  verdict->add_reasons(reason);
  std::sort(verdict->mutable_reasons()->begin(), verdict->mutable_reasons()->end());
  verdict->set_accepted(false);
}

}  // namespace kernelmill::validator
