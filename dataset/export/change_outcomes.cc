#include "dataset/export/change_outcomes.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {
namespace {

using Result = v1::KernelRow::Compile::Result;

// Says whether a compiler judged the code.
bool IsJudged(const Result& result) {
  if (result.status() == v1::COMPILE_STATUS_OK) return true;
  return result.status() == v1::COMPILE_STATUS_ERROR && result.stage() != "limit" &&
         result.stage() != "sandbox";
}

const Result* FindJudged(const v1::HistoryRow::Version& version, const Result& like) {
  const auto& results = version.compile().results();
  const auto found = std::find_if(results.begin(), results.end(), [&](const Result& result) {
    return result.toolchain() == like.toolchain() && result.target() == like.target();
  });
  return found != results.end() && IsJudged(*found) ? &*found : nullptr;
}

}  // namespace

absl::StatusOr<VersionResults> VersionResults::Read(cas::BlobStore& store,
                                                    const v1::ManifestSource& source) {
  VersionResults all;
  int part = 0;
  for (int shard = 0; shard < source.version_kernels_size(); ++shard) {
    ASSIGN_OR_RETURN(const auto kernels,
                     cas::GetMessage<v1::KernelShard>(store, source.version_kernels(shard)));
    const size_t first = all.entries_.size();
    for (const v1::Kernel& kernel : kernels.kernels()) {
      all.entries_.push_back({Sha256(kernel.module()), std::nullopt});
    }
    const int parts = shard < source.version_parts_size() ? source.version_parts(shard) : 0;
    size_t at = first;
    for (const int end = part + parts; part < end; ++part) {
      if (part >= source.version_compiled_size()) break;
      ASSIGN_OR_RETURN(auto compiled,
                       cas::GetMessage<v1::CompiledShard>(store, source.version_compiled(part)));
      for (v1::CompiledKernel& kernel : *compiled.mutable_kernels()) {
        if (at < all.entries_.size()) all.entries_[at].compiled = std::move(kernel);
        ++at;
      }
    }
    if (parts == 0) continue;
    if (at != all.entries_.size()) {
      return absl::DataLossError(absl::StrCat("a shard of ", all.entries_.size() - first,
                                              " versions has the results of ", at - first));
    }
    all.kernels_ += static_cast<int64_t>(at - first);
  }
  return all;
}

absl::StatusOr<const v1::CompiledKernel*> VersionResults::Find(
    const v1::KernelVersion& version) const {
  if (!version.has_compiled() || entries_.empty()) return nullptr;
  if (version.compiled() < 0 || version.compiled() >= static_cast<int64_t>(entries_.size())) {
    return absl::DataLossError("a version names a kernel that its source's history does not have");
  }
  const Entry& entry = entries_[static_cast<size_t>(version.compiled())];
  if (entry.module_sha256 != Sha256(version.module())) {
    return absl::DataLossError("a version names a kernel with another module");
  }
  return entry.compiled.has_value() ? &*entry.compiled : nullptr;
}

void FillTurns(v1::HistoryRow* row) {
  bool judged = false, mends = false, breaks = false;
  for (const Result& before : row->before().compile().results()) {
    const Result* const after = FindJudged(row->after(), before);
    if (!IsJudged(before) || after == nullptr) continue;
    judged = true;
    if (before.status() == after->status()) continue;
    const bool mended = after->status() == v1::COMPILE_STATUS_OK;
    (mended ? mends : breaks) = true;
    const Result& refused = mended ? before : *after;
    v1::HistoryRow::Turn* turn = row->add_turns();
    turn->set_toolchain(before.toolchain());
    turn->set_target(before.target());
    turn->set_before(before.status());
    turn->set_after(after->status());
    turn->set_stage(refused.stage());
    turn->set_message(refused.message());
    turn->set_line(refused.line());
  }
  if (!judged) return;
  row->set_repair(mends && !breaks);
  row->set_breaks(breaks && !mends);
}

}  // namespace kernelmill::dataset
