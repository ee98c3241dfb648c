#include "common/manifest/opt_out_count.h"

#include <cstddef>
#include <set>

#include "common/base/status.h"
#include "common/manifest/ledger.h"

namespace kernelmill::manifest {

OptOutCounter::OptOutCounter(const v1::DatasetManifest& manifest, const v1::Clusters& clusters)
    : manifest_(manifest),
      clusters_(clusters),
      index_(manifest.opt_out()),
      counts_(static_cast<size_t>(manifest.opt_out_size())) {}

absl::Status OptOutCounter::VisitTree(int source, const v1::SourceTree& tree) {
  if (counts_.empty()) return absl::OkStatus();
  // Only these entries can name a file of this source; most sources have none.
  naming_ = index_.Naming(manifest_.sources(source).source());
  google::protobuf::RepeatedPtrField<v1::OptOut> entries;
  for (const int entry : naming_) {
    *entries.Add() = manifest_.opt_out(entry);
    ++counts_[static_cast<size_t>(entry)].sources;
  }
  ASSIGN_OR_RETURN(names_, job::SourceOptOut::Compile(entries));
  hashes_.clear();
  if (names_.empty()) return absl::OkStatus();
  for (const v1::FileEntry& file : tree.files()) hashes_[file.path()] = file.sha256();
  return absl::OkStatus();
}

std::vector<int> OptOutCounter::FindEntries(absl::string_view path,
                                            absl::string_view sha256) const {
  const auto file = hashes_.find(path);
  const absl::string_view of_file =
      file == hashes_.end() ? absl::string_view() : absl::string_view(file->second);
  std::vector<int> entries = names_.Naming(path, {of_file, sha256});
  for (int& entry : entries) entry = naming_[static_cast<size_t>(entry)];
  return entries;
}

// Counts a rejected kernel with the entries that name it. Three cases: it is like a kernel that is
// named (then its leader's entries count, once these are known, in Counts); it is named itself; or
// it carries a text of a named file, as a piece of its module or as its launcher.
void OptOutCounter::Add(uint32_t number, const v1::Kernel& kernel, const v1::Decision& decision) {
  // A reason with more text after it says that the kernel carries a text of others.
  const bool itself = decision.reason() == job::kOptOutReason;
  // The leader is the kernel for whose sake this one is rejected.
  if (decision.leader() != number) {
    others_.emplace_back(decision.leader(), itself);
  } else if (itself) {
    for (const int entry : named_[number] = FindEntries(kernel.path(), kernel.sha256())) {
      ++counts_[static_cast<size_t>(entry)].kernels;
    }
  } else {
    std::set<int> entries;
    const auto add = [&](const std::string& path) {
      for (const int entry : FindEntries(path, "")) entries.insert(entry);
    };
    for (const v1::ModulePiece& piece : kernel.pieces()) {
      // Pieces of other sources have paths in those.
      if (piece.used_source().empty()) add(piece.path());
    }
    if (kernel.has_launcher()) add(kernel.launcher().path());
    for (const int entry : entries) ++counts_[static_cast<size_t>(entry)].carriers;
  }
}

absl::Status OptOutCounter::VisitShard(const ShardView& view) {
  if (counts_.empty()) return absl::OkStatus();
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const uint32_t number = view.first_number + static_cast<uint32_t>(i);
    const v1::Decision* decision = DecisionOn(clusters_, number);
    if (decision == nullptr || decision->fate() != v1::FATE_REJECTED) continue;
    if (ReasonKind(decision->reason()) != job::kOptOutReason) continue;
    Add(number, view.kernels->kernels(i), *decision);
  }
  return absl::OkStatus();
}

// The leader of a kernel may come later in the walk, so these are counted at the end.
std::vector<OptOutCount> OptOutCounter::Counts() const {
  std::vector<OptOutCount> counts = counts_;
  for (const auto& [of, is_copy] : others_) {
    const auto entries = named_.find(of);
    if (entries == named_.end()) continue;
    for (const int entry : entries->second) {
      OptOutCount& count = counts[static_cast<size_t>(entry)];
      ++(is_copy ? count.copies : count.carriers);
    }
  }
  return counts;
}

}  // namespace kernelmill::manifest
