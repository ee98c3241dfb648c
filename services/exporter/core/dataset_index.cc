#include "services/exporter/core/dataset_index.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/config/job_spec.h"
#include "common/config/opt_out.h"
#include "common/dataset/source_check.h"
#include "common/dataset/splits.h"
#include "common/dataset/walk.h"
#include "services/exporter/core/verdict_json.h"

namespace kernelmill::exporter {
namespace {

void CountChecks(const v1::Verdict& verdict, CheckCounts* counts) {
  for (const v1::RuleResult& result : verdict.rules()) {
    for (const char* outcome : {"pass", "fail", "exempt"}) {
      (*counts)[result.rule()][outcome] += OutcomeWord(result) == outcome;
    }
  }
}

std::optional<std::string> PointerOf(const v1::Kernel& kernel) {
  return kernel.has_json_pointer() ? std::optional<std::string>(kernel.json_pointer())
                                   : std::nullopt;
}

// Kernels of a JSON file stand in the order of its strings, as they are numbered.
int LineInFile(const KernelEntry& kernel) { return kernel.json_pointer ? 0 : kernel.first_line; }
int ColumnInFile(const KernelEntry& kernel) { return kernel.json_pointer ? 0 : kernel.column; }

// Of the kernel itself, or of one that stands within it.
bool HasOptedOutText(const v1::Decision& decision) {
  return decision.fate() == v1::FATE_REJECTED &&
         (decision.reason() == config::kOptOutReason ||
          decision.reason() == absl::StrCat(config::kOptOutReason, ":source"));
}

class IndexVisitor final : public dataset::DatasetVisitor {
 public:
  explicit IndexVisitor(DatasetIndex* index)
      : index_(*index),
        total_(index->manifest, index->clusters),
        pairs_(index->manifest, index->clusters),
        opt_out_(index->manifest, index->clusters) {
    for (const v1::ManifestSource& source : index_.manifest.sources()) AddSource(source);
    index_.first_numbers.resize(index_.sources.size());
    index_.by_split["train"];
    if (!index_.manifest.has_splits()) return;
    for (const v1::Split split : {v1::SPLIT_VALIDATION, v1::SPLIT_TEST}) {
      index_.by_split[std::string(dataset::SplitName(split))];
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

  absl::Status VisitShard(const dataset::ShardView& view) override {
    RETURN_IF_ERROR(total_.VisitShard(view));
    RETURN_IF_ERROR(pairs_.VisitShard(view));
    RETURN_IF_ERROR(opt_out_.VisitShard(view));
    RETURN_IF_ERROR(per_source_[view.source]->VisitShard(view));
    index_.first_numbers[view.source].push_back(view.first_number);
    std::map<std::string, uint32_t> files;  // of this shard, by path
    for (const v1::ExtractedFile& file : view.kernels->files()) {
      files[file.path()] = static_cast<uint32_t>(index_.files.size());
      index_.files.push_back({view.source, file.path(), file.size_bytes(), file.lines(),
                              file.sha256(), file.has_triton_jit(), 0, false, false, ""});
    }
    for (int i = 0; i < view.kernels->kernels_size(); ++i) {
      const v1::Kernel& kernel = view.kernels->kernels(i);
      const auto file = files.find(kernel.path());
      if (file == files.end()) {
        return absl::DataLossError(
            absl::StrCat("kernel ", kernel.id(), " is of no file of its shard"));
      }
      index_.kernels.push_back({file->second, kernel.first_line(), kernel.last_line(),
                                kernel.column(), kernel.dsl(), kernel.role(), kernel.form(),
                                kernel.id(), kernel.sha256(), PointerOf(kernel)});
      if (view.verdicts != nullptr) AddCandidate(view, i, kernel, view.verdicts->verdicts(i));
    }
    return absl::OkStatus();
  }

  // Takes the sums over; checks what only the whole dataset can show.
  absl::Status Finish() {
    index_.sums = total_.sums();
    index_.pairs = pairs_.Find();
    index_.opt_out = opt_out_.Counts();
    for (size_t i = 0; i < per_source_.size(); ++i) index_.sources[i].sums = per_source_[i]->sums();
    RETURN_IF_ERROR(dataset::CheckConservation(index_.sums));
    for (FileEntry& file : index_.files) {
      if (file.withheld.empty() && launchers_.contains({file.source, file.path})) {
        file.withheld = "holds:contaminated";
      }
    }
    for (const uint32_t number : index_.candidates) RETURN_IF_ERROR(AddToCluster(number));
    CountFilesAndClusters();
    std::sort(index_.candidates.begin(), index_.candidates.end(),
              [this](uint32_t a, uint32_t b) { return index_.Before(a, b); });
    return absl::OkStatus();
  }

 private:
  void AddSource(const v1::ManifestSource& source) {
    SourceEntry entry;
    entry.repository = config::SourceName(source.source());
    entry.url = source.source().url();
    entry.category =
        source.source().category().empty() ? entry.repository : source.source().category();
    entry.tier = std::max(source.source().tier(), 1);
    if (source.source().weight() != 0) entry.weight = source.source().weight();
    entry.holdout = dataset::IsHoldout(source.source());
    entry.failed = source.failed();
    index_.sources.push_back(std::move(entry));
    per_source_.push_back(
        std::make_unique<dataset::LedgerVisitor>(index_.manifest, index_.clusters));
  }

  void AddCandidate(const dataset::ShardView& view, int i, const v1::Kernel& kernel,
                    const v1::Verdict& verdict) {
    const uint32_t number = view.first_number + static_cast<uint32_t>(i);
    index_.candidates.push_back(number);
    // Without a decision the ledger does not add up, which Finish says.
    const v1::Decision* decision = dataset::DecisionOn(index_.clusters, number);
    if (decision == nullptr) return;
    SourceEntry& source = index_.sources[view.source];
    Withhold(view.source, view.kernels->kernels(i), number, *decision);
    if (index_.IsFile(number)) return AddFile(number, *decision, verdict, &source);
    index_.analysis.AddKernel(OriginOf(source), kernel, verdict, *decision);
    ++source.fates[{std::string(dataset::FateName(decision->fate())), decision->reason()}];
    if (HasOptedOutText(*decision)) index_.files[index_.kernels[number].file].opted_out = true;
    if (decision->fate() != v1::FATE_KEPT) return;
    ++index_.files[index_.kernels[number].file].kept;
    CountChecks(verdict, &source.checks);
    ++source.licenses[verdict.license().expression()];
    AddTokens(verdict.source_tokens(), &source.tokens.source);
    AddTokens(verdict.module_tokens(), &source.tokens.module);
    const std::string split_name(index_.SplitOf(number));
    SplitEntry& split = index_.by_split[split_name];
    ++split.kernels;
    split.repositories += repositories_[split_name].insert(source.repository).second;
    AddTokens(verdict.source_tokens(), &split.tokens.source);
    AddTokens(verdict.module_tokens(), &split.tokens.module);
  }

  // Notes what a kernel, or the file itself, says against its file.
  void Withhold(int source, const v1::Kernel& kernel, uint32_t number,
                const v1::Decision& decision) {
    std::string& withheld = index_.files[index_.kernels[number].file].withheld;
    const std::string kind = dataset::KindOf(decision.reason());
    const bool contaminated = decision.fate() == v1::FATE_CONTAMINATED;
    const bool rejected =
        decision.fate() == v1::FATE_REJECTED && (dataset::WithholdsFile(kind) || kind == "holds");
    if (index_.IsFile(number)) {
      if (contaminated || rejected) withheld = decision.reason();
    } else if (withheld.empty() && (contaminated || rejected)) {
      withheld = absl::StrCat("holds:", contaminated ? "contaminated" : kind);
    }
    if (dataset::WithholdsLauncher(decision, index_.manifest.dedup().contamination())) {
      launchers_.emplace(source, kernel.launcher().path());
    }
  }

  void AddFile(uint32_t number, const v1::Decision& decision, const v1::Verdict& verdict,
               SourceEntry* source) {
    ++source->file_fates[{std::string(dataset::FateName(decision.fate())), decision.reason()}];
    if (decision.fate() != v1::FATE_KEPT) return;
    index_.files[index_.kernels[number].file].kept_whole = true;
    AddTokens(verdict.source_tokens(), &source->file_tokens);
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
      const auto found = index_.duplicates.find(number);
      const size_t duplicates = found == index_.duplicates.end() ? 0 : found->second.size();
      index_.analysis.AddCluster(1 + static_cast<int64_t>(duplicates));
    }
  }

  absl::Status CheckHoldout(uint32_t number, uint32_t holdout) const {
    const v1::Decision* decision = dataset::DecisionOn(index_.clusters, holdout);
    if (decision != nullptr && decision->fate() == v1::FATE_HOLDOUT) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat("kernel ", index_.kernels[number].id, " matches a holdout's that is none"));
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
    const v1::Decision* leader = dataset::DecisionOn(index_.clusters, decision.leader());
    if (leader == nullptr || leader->fate() != needed) {
      return absl::DataLossError(absl::StrCat("kernel ", index_.kernels[number].id, " is ",
                                              std::string(dataset::FateName(decision.fate())),
                                              " of one that is not ",
                                              std::string(dataset::FateName(needed))));
    }
    if (needed == v1::FATE_KEPT) index_.duplicates[decision.leader()].push_back(number);
    return absl::OkStatus();
  }

  DatasetIndex& index_;
  dataset::LedgerVisitor total_;
  dataset::CuratedPairFinder pairs_;
  OptOutCounter opt_out_;
  std::set<std::pair<int, std::string>>
      launchers_;  // sources and paths of those that are holdouts'
  std::vector<std::unique_ptr<dataset::LedgerVisitor>> per_source_;
  std::map<std::string, std::set<std::string>> repositories_;  // of each split
};

}  // namespace

void AddTokens(const v1::TokenCounts& more, v1::TokenCounts* sum) {
  sum->set_cl100k_base(sum->cl100k_base() + more.cl100k_base());
  sum->set_o200k_base(sum->o200k_base() + more.o200k_base());
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
  return dataset::SplitName(splits.splits_size() == 0 ? v1::SPLIT_TRAIN
                                                      : splits.splits(static_cast<int>(number)));
}

absl::StatusOr<DatasetIndex> IndexDataset(cas::BlobStore& store, const cas::Digest& dataset,
                                          int threads) {
  DatasetIndex index;
  ASSIGN_OR_RETURN(index.manifest, dataset::GetManifest(store, dataset));
  ASSIGN_OR_RETURN(index.clusters, cas::GetMessage<v1::Clusters>(store, index.manifest.clusters()));
  ASSIGN_OR_RETURN(index.splits, dataset::GetSplits(store, index.manifest, index.clusters));
  IndexVisitor visitor(&index);
  dataset::CheckingVisitor checked(store, index.manifest, visitor);
  RETURN_IF_ERROR(dataset::WalkDataset(store, index.manifest, checked, threads));
  RETURN_IF_ERROR(visitor.Finish());
  return index;
}

}  // namespace kernelmill::exporter
