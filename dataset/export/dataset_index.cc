#include "dataset/export/dataset_index.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/job/source_spec.h"
#include "common/manifest/ledger.h"
#include "common/manifest/source_check.h"
#include "common/manifest/walk.h"
#include "dataset/export/shard_index.h"

namespace kernelmill::dataset {
namespace {

template <size_t kSize>
std::string Digits(const std::array<char, kSize>& bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), kSize));
}

// Kernels of a JSON file stand in the order of its strings, as they are numbered.
int LineInFile(const KernelEntry& kernel) { return kernel.in_json ? 0 : kernel.first_line; }
int ColumnInFile(const KernelEntry& kernel) { return kernel.in_json ? 0 : kernel.column; }

class IndexVisitor final : public manifest::DatasetVisitor {
 public:
  explicit IndexVisitor(DatasetIndex* index)
      : index_(*index),
        total_(index->manifest, index->clusters),
        pairs_(index->manifest, index->clusters),
        opt_out_(index->manifest, index->clusters) {
    for (const v1::ManifestSource& source : index_.manifest.sources()) AddSource(source);
    // Or each would be there twice over, and more, while it grows.
    const auto kernels = static_cast<size_t>(index_.clusters.decisions_size());
    index_.kernels.reserve(kernels);
    index_.candidates.reserve(kernels);
    index_.by_split["train"];
    if (!index_.manifest.has_splits()) return;
    for (const v1::Split split : {v1::SPLIT_VALIDATION, v1::SPLIT_TEST}) {
      index_.by_split[std::string(manifest::SplitName(split))];
    }
  }

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override {
    SourceEntry& entry = index_.sources[source];
    entry.repository = tree.repository();
    entry.commit = tree.commit();
    entry.commit_time = tree.commit_time();
    entry.unselected_files = tree.unselected_files();
    RETURN_IF_ERROR(total_.VisitTree(source, tree));
    RETURN_IF_ERROR(pairs_.VisitTree(source, tree));
    RETURN_IF_ERROR(opt_out_.VisitTree(source, tree));
    return per_source_[source]->VisitTree(source, tree);
  }

  absl::StatusOr<std::unique_ptr<manifest::PreparedShard>> PrepareShard(
      const manifest::ShardView& view) override {
    return IndexShard(index_, view);
  }

  absl::Status VisitShard(const manifest::ShardView& view) override {
    RETURN_IF_ERROR(total_.VisitShard(view));
    RETURN_IF_ERROR(pairs_.VisitShard(view));
    RETURN_IF_ERROR(opt_out_.VisitShard(view));
    RETURN_IF_ERROR(per_source_[view.source]->VisitShard(view));
    Join(view, static_cast<ShardIndex&>(*view.prepared));
    return absl::OkStatus();
  }

  // Takes the sums over; checks what only the whole dataset can show.
  absl::Status Finish() {
    index_.sums = total_.sums();
    index_.pairs = pairs_.Find();
    index_.opt_out = opt_out_.Counts();
    for (size_t i = 0; i < per_source_.size(); ++i) index_.sources[i].sums = per_source_[i]->sums();
    RETURN_IF_ERROR(manifest::CheckConservation(index_.sums));
    WithholdLaunchers();
    for (const uint32_t number : index_.candidates) RETURN_IF_ERROR(AddToCluster(number));
    std::sort(index_.duplicates.begin(), index_.duplicates.end());
    CountFilesAndClusters();
    std::sort(index_.candidates.begin(), index_.candidates.end(),
              [this](uint32_t a, uint32_t b) { return index_.Before(a, b); });
    return absl::OkStatus();
  }

 private:
  void AddSource(const v1::ManifestSource& source) {
    SourceEntry entry;
    entry.repository = job::SourceName(source.source());
    entry.url = source.source().url();
    entry.category =
        source.source().category().empty() ? entry.repository : source.source().category();
    entry.tier = std::max(source.source().tier(), 1);
    if (source.source().weight() != 0) entry.weight = source.source().weight();
    entry.holdout = manifest::IsHoldout(source.source());
    entry.failed = source.failed();
    index_.sources.push_back(std::move(entry));
    per_source_.push_back(
        std::make_unique<manifest::LedgerVisitor>(index_.manifest, index_.clusters));
  }

  void Join(const manifest::ShardView& view, ShardIndex& shard) {
    const auto first_file = static_cast<uint32_t>(index_.files.size());
    for (KernelEntry& kernel : shard.kernels) kernel.file += first_file;
    index_.kernels.insert(index_.kernels.end(), shard.kernels.begin(), shard.kernels.end());
    std::move(shard.files.begin(), shard.files.end(), std::back_inserter(index_.files));
    for (auto& [place, pointer] : shard.json_pointers) {
      index_.json_pointers[view.first_number + place] = std::move(pointer);
    }
    for (auto& [place, reason] : shard.withheld) {
      index_.withheld[first_file + place] = std::move(reason);
    }
    for (std::string& path : shard.launchers) launchers_.emplace(view.source, std::move(path));
    if (view.verdicts != nullptr) {
      for (uint32_t i = 0; i < shard.kernels.size(); ++i) {
        index_.candidates.push_back(view.first_number + i);
      }
    }
    SourceEntry& source = index_.sources[view.source];
    AddCounts(shard.counts, &source.counts);
    for (const auto& [name, counts] : shard.by_split) {
      SplitCounts& split = index_.by_split[name];
      split.kernels += counts.kernels;
      split.repositories += repositories_[name].insert(source.repository).second;
      AddTokens(counts.tokens.source, &split.tokens.source);
      AddTokens(counts.tokens.module, &split.tokens.module);
    }
    index_.analysis.Add(shard.analysis);
  }

  // Files that a launcher of a holdout's text stands in, and that nothing else withholds.
  void WithholdLaunchers() {
    if (launchers_.empty()) return;
    for (uint32_t i = 0; i < index_.files.size(); ++i) {
      const FileEntry& file = index_.files[i];
      if (launchers_.contains({file.source, file.path})) {
        index_.withheld.try_emplace(i, "holds:contaminated");
      }
    }
  }

  static Analysis::Origin OriginOf(const SourceEntry& source) {
    return {source.repository, source.category, source.tier};
  }

  void CountFilesAndClusters() {
    for (const FileEntry& file : index_.files) {
      if (file.kept == 0) continue;
      index_.analysis.AddFile(OriginOf(index_.sources[file.source]), file.lines, file.size_bytes);
    }
    for (const uint32_t number : index_.candidates) {
      if (index_.DecisionOn(number).fate() != v1::FATE_KEPT || index_.IsFile(number)) continue;
      index_.analysis.AddCluster(1 + static_cast<int64_t>(index_.DuplicatesOf(number).size()));
    }
  }

  absl::Status CheckHoldout(uint32_t number, uint32_t holdout) const {
    const v1::Decision* decision = manifest::DecisionOn(index_.clusters, holdout);
    if (decision != nullptr && decision->fate() == v1::FATE_HOLDOUT) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat("kernel ", index_.kernels[number].id(), " matches a holdout's that is none"));
  }

  absl::Status AddToCluster(uint32_t number) {
    const v1::Decision& decision = index_.DecisionOn(number);
    for (const v1::Contamination& match : decision.contamination()) {
      RETURN_IF_ERROR(CheckHoldout(number, match.holdout()));
    }
    v1::Fate needed;
    if (decision.fate() == v1::FATE_DUPLICATE) {
      needed = v1::FATE_KEPT;
    } else if (decision.fate() == v1::FATE_CONTAMINATED) {
      needed = v1::FATE_HOLDOUT;
    } else if (decision.fate() == v1::FATE_REJECTED && decision.leader() != number) {
      needed = v1::FATE_REJECTED;
    } else {
      return absl::OkStatus();
    }
    const v1::Decision* leader = manifest::DecisionOn(index_.clusters, decision.leader());
    if (leader == nullptr || leader->fate() != needed) {
      return absl::DataLossError(absl::StrCat("kernel ", index_.kernels[number].id(), " is ",
                                              std::string(manifest::FateName(decision.fate())),
                                              " of one that is not ",
                                              std::string(manifest::FateName(needed))));
    }
    if (needed == v1::FATE_KEPT) index_.duplicates.emplace_back(decision.leader(), number);
    return absl::OkStatus();
  }

  DatasetIndex& index_;
  manifest::LedgerVisitor total_;
  manifest::CuratedPairFinder pairs_;
  OptOutCounter opt_out_;
  std::set<std::pair<int, std::string>>
      launchers_;  // sources and paths of those that are holdouts'
  std::vector<std::unique_ptr<manifest::LedgerVisitor>> per_source_;
  std::map<std::string, std::set<std::string>> repositories_;  // of each split
};

}  // namespace

void AddTokens(const v1::TokenCounts& more, v1::TokenCounts* sum) {
  sum->set_cl100k_base(sum->cl100k_base() + more.cl100k_base());
  sum->set_o200k_base(sum->o200k_base() + more.o200k_base());
}

void AddCounts(const SourceCounts& more, SourceCounts* sum) {
  for (const auto& [fate, count] : more.fates) sum->fates[fate] += count;
  for (const auto& [check, outcomes] : more.checks) AddTo(outcomes, sum->checks[check]);
  AddTo(more.compile, sum->compile);
  for (const auto& [license, count] : more.licenses) sum->licenses[license] += count;
  AddTokens(more.tokens.source, &sum->tokens.source);
  AddTokens(more.tokens.module, &sum->tokens.module);
  for (const auto& [fate, count] : more.file_fates) sum->file_fates[fate] += count;
  AddTokens(more.file_tokens, &sum->file_tokens);
}

std::string FileEntry::sha256() const { return Digits(sha256_bytes); }
std::string KernelEntry::id() const { return Digits(id_bytes); }
std::string KernelEntry::sha256() const { return Digits(sha256_bytes); }

absl::Span<const std::pair<uint32_t, uint32_t>> DatasetIndex::DuplicatesOf(uint32_t number) const {
  const auto begin = std::lower_bound(duplicates.begin(), duplicates.end(), std::pair(number, 0u));
  auto end = begin;
  while (end != duplicates.end() && end->first == number) ++end;
  return absl::MakeConstSpan(duplicates).subspan(begin - duplicates.begin(), end - begin);
}

bool DatasetIndex::Before(uint32_t a, uint32_t b) const {
  const KernelEntry& ka = kernels[a];
  const KernelEntry& kb = kernels[b];
  const FileEntry& fa = files[ka.file];
  const FileEntry& fb = files[kb.file];
  return std::make_tuple(fa.source, absl::string_view(fa.path), LineInFile(ka), ColumnInFile(ka),
                         a) < std::make_tuple(fb.source, absl::string_view(fb.path), LineInFile(kb),
                                              ColumnInFile(kb), b);
}

std::vector<uint32_t> DatasetIndex::ListedFiles() const {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < files.size(); ++i) {
    if ((files[i].kept > 0 || files[i].kept_whole) && !files[i].opted_out) numbers.push_back(i);
  }
  // Stable: of equal paths, which a hostile tree may have, the first shard's come first.
  std::stable_sort(numbers.begin(), numbers.end(), [this](uint32_t a, uint32_t b) {
    return std::tie(files[a].source, files[a].path) < std::tie(files[b].source, files[b].path);
  });
  return numbers;
}

absl::string_view DatasetIndex::SplitOf(uint32_t number) const {
  return manifest::SplitName(splits.splits_size() == 0 ? v1::SPLIT_TRAIN
                                                       : splits.splits(static_cast<int>(number)));
}

absl::StatusOr<DatasetIndex> IndexDataset(cas::BlobStore& store, const cas::Digest& dataset,
                                          int threads) {
  DatasetIndex index;
  ASSIGN_OR_RETURN(index.manifest, manifest::GetManifest(store, dataset));
  ASSIGN_OR_RETURN(index.clusters, cas::GetMessage<v1::Clusters>(store, index.manifest.clusters()));
  ASSIGN_OR_RETURN(index.splits, manifest::GetSplits(store, index.manifest, index.clusters));
  IndexVisitor visitor(&index);
  manifest::CheckingVisitor checked(store, index.manifest, visitor);
  RETURN_IF_ERROR(manifest::WalkDataset(store, index.manifest, checked, threads));
  RETURN_IF_ERROR(visitor.Finish());
  return index;
}

}  // namespace kernelmill::dataset
