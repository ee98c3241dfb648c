#include "dataset/export/dataset_index.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/dsl/languages.h"
#include "common/job/opt_out.h"
#include "common/job/source_spec.h"
#include "common/manifest/curated_pairs.h"
#include "common/manifest/ledger.h"
#include "common/manifest/source_check.h"
#include "common/manifest/walk.h"
#include "dataset/analysis/analysis.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"

// Makes the index of a dataset in one walk. On the threads of the walk, ShardIndexer turns a shard
// into a ShardIndex: entries of files and kernels with places within the shard, and counts. On the
// visiting thread, IndexVisitor joins the parts in order and shifts their places by what came
// before. Finish then does what needs the whole dataset: it checks that the ledger adds up, that
// each decision's leader has the fate that the decision implies, and sorts the candidates into the
// order of the exported files.
namespace kernelmill::dataset {

namespace {

// A shard's part of the index, and what is counted of its kernels alone: made where the shard is
// prepared, so that the visitor only has to join them.
struct ShardIndex final : public manifest::PreparedShard {
  std::vector<FileEntry> files;
  std::vector<KernelEntry> kernels;               // their `file` is a place in `files`
  std::map<uint32_t, std::string> json_pointers;  // by place in `kernels`
  std::map<uint32_t, std::string> withheld;       // by place in `files`
  std::vector<std::string> launchers;             // paths of those that are a holdout's
  SourceCounts counts;                            // what it adds to those of its source
  std::map<std::string, SplitCounts> by_split;    // what it adds to those of each split
  manifest::MarkerCounts markers;
  Analysis analysis;
};

// The bytes that hexadecimal digits stand for, which a walk has checked.
template <size_t kSize>
std::array<char, kSize> ToBytes(absl::string_view digits) {
  std::array<char, kSize> bytes = {};
  absl::HexStringToBytes(digits).copy(bytes.data(), kSize);
  return bytes;
}

// A text of the kernel itself, or of one within it.
bool HasOptedOutText(const v1::Decision& decision) {
  return decision.fate() == v1::FATE_REJECTED &&
         (decision.reason() == job::kOptOutReason ||
          decision.reason() == absl::StrCat(job::kOptOutReason, ":source"));
}

void CountChecks(const v1::Verdict& verdict, CheckCounts* counts) {
  for (const v1::RuleResult& result : verdict.rules()) {
    Count(result.outcome(), (*counts)[result.rule()]);
  }
}

// Runs on a thread of the walk and uses only constant parts of the index: manifest, clusters,
// splits.
class ShardIndexer {
 public:
  ShardIndexer(const DatasetIndex& index, const manifest::ShardView& view)
      : index_(index), view_(view), shard_(std::make_unique<ShardIndex>()) {
    const SourceEntry& source = index.sources[static_cast<size_t>(view.source)];
    origin_ = {view.tree->repository(), source.category, source.tier};
  }

  absl::StatusOr<std::unique_ptr<ShardIndex>> Run() {
    shard_->markers = manifest::CountMarkers(view_);
    for (const v1::ExtractedFile& file : view_.kernels->files()) AddFile(file);
    for (int i = 0; i < view_.kernels->kernels_size(); ++i) {
      RETURN_IF_ERROR(AddKernel(static_cast<uint32_t>(i), view_.kernels->kernels(i)));
      if (view_.verdicts != nullptr) AddCandidate(i);
    }
    return std::move(shard_);
  }

 private:
  void AddFile(const v1::ExtractedFile& file) {
    places_[file.path()] = static_cast<uint32_t>(shard_->files.size());
    FileEntry& entry = shard_->files.emplace_back();
    entry.source = view_.source;
    entry.path = file.path();
    entry.size_bytes = file.size_bytes();
    entry.lines = file.lines();
    entry.sha256_bytes = ToBytes<32>(file.sha256());
    entry.has_triton_jit = file.has_triton_jit();
  }

  // DATA_LOSS: the kernel's path is not one of the shard's files.
  absl::Status AddKernel(uint32_t place, const v1::Kernel& kernel) {
    const auto file = places_.find(kernel.path());
    if (file == places_.end()) {
      return absl::DataLossError(
          absl::StrCat("kernel ", kernel.id(), " is of no file of its shard"));
    }
    const uint8_t language = dsl::GetNumber(kernel.dsl());
    if (language == 0 && !kernel.dsl().empty()) {
      return absl::UnimplementedError(absl::StrCat("kernel ", kernel.id(), " is in the language ",
                                                   kernel.dsl(), ", which this version lacks"));
    }
    KernelEntry& entry = shard_->kernels.emplace_back();
    entry.file = file->second;
    entry.first_line = kernel.first_line();
    entry.last_line = kernel.last_line();
    entry.column = kernel.column();
    entry.language = language;
    entry.role = kernel.role();
    entry.form = kernel.form();
    entry.in_json = kernel.has_json_pointer();
    entry.id_bytes = ToBytes<16>(kernel.id());
    entry.sha256_bytes = ToBytes<32>(kernel.sha256());
    entry.name = kernel.name();
    entry.qualname = kernel.qualname();
    if (entry.in_json) shard_->json_pointers[place] = kernel.json_pointer();
    return absl::OkStatus();
  }

  // Counts a kernel or whole file of a source that is no holdout. Only kept ones count for checks,
  // compilers, licences, tokens and splits.
  void AddCandidate(int i) {
    const uint32_t number = view_.first_number + static_cast<uint32_t>(i);
    const v1::Kernel& kernel = view_.kernels->kernels(i);
    const v1::Verdict& verdict = view_.verdicts->verdicts(i);
    // Without a decision the ledger does not add up, which the index says.
    const v1::Decision* decision = manifest::DecisionOn(index_.clusters, number);
    if (decision == nullptr) return;
    const uint32_t file = shard_->kernels[static_cast<size_t>(i)].file;
    Withhold(kernel, file, *decision);
    if (manifest::IsFile(kernel)) return AddWholeFile(file, verdict, *decision);
    shard_->analysis.AddKernel(origin_, kernel, verdict, *decision);
    SourceCounts& counts = shard_->counts;
    ++counts.fates[{std::string(manifest::FateName(decision->fate())), decision->reason()}];
    if (HasOptedOutText(*decision)) shard_->files[file].opted_out = true;
    if (decision->fate() != v1::FATE_KEPT) return;
    ++shard_->files[file].kept;
    CountChecks(verdict, &counts.checks);
    AddCompiled(verdict, &counts.compile);
    ++counts.licenses[verdict.license().expression()];
    SplitCounts& split = shard_->by_split[std::string(index_.GetSplit(number))];
    ++split.kernels;
    for (TokenSums* tokens : {&counts.tokens, &split.tokens}) {
      AddTokens(verdict.source_tokens(), &tokens->source);
      AddTokens(verdict.module_tokens(), &tokens->module);
    }
  }

  // Notes what a kernel, or the file itself, says against its file.
  void Withhold(const v1::Kernel& kernel, uint32_t file, const v1::Decision& decision) {
    const std::string kind = manifest::ReasonKind(decision.reason());
    const bool contaminated = decision.fate() == v1::FATE_CONTAMINATED;
    const bool rejected =
        decision.fate() == v1::FATE_REJECTED && (manifest::WithholdsFile(kind) || kind == "holds");
    if (contaminated || rejected) {
      if (manifest::IsFile(kernel)) {
        shard_->withheld[file] = decision.reason();
      } else {
        shard_->withheld.try_emplace(file,
                                     absl::StrCat("holds:", contaminated ? "contaminated" : kind));
      }
    }
    if (manifest::WithholdsLauncher(decision, index_.manifest.dedup().contamination())) {
      shard_->launchers.push_back(kernel.launcher().path());
    }
  }

  // The record of a whole file counts apart from kernels everywhere.
  void AddWholeFile(uint32_t file, const v1::Verdict& verdict, const v1::Decision& decision) {
    ++shard_->counts
          .file_fates[{std::string(manifest::FateName(decision.fate())), decision.reason()}];
    if (decision.fate() != v1::FATE_KEPT) return;
    shard_->files[file].kept_whole = true;
    AddTokens(verdict.source_tokens(), &shard_->counts.file_tokens);
  }

  const DatasetIndex& index_;
  const manifest::ShardView& view_;
  Analysis::Origin origin_;
  absl::flat_hash_map<absl::string_view, uint32_t> places_;  // places of files, by path
  std::unique_ptr<ShardIndex> shard_;
};

}  // namespace

namespace {

// `view` as PrepareShard has it; of `index` the manifest, the clusters and the splits are there.
// DATA_LOSS: a kernel is of no file of the shard.
absl::StatusOr<std::unique_ptr<ShardIndex>> IndexShard(const DatasetIndex& index,
                                                       const manifest::ShardView& view) {
  return ShardIndexer(index, view).Run();
}

}  // namespace

namespace {

template <size_t kSize>
std::string Digits(const std::array<char, kSize>& bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), kSize));
}

// Kernels of a JSON file are in the order of its strings, as they are numbered.
int LineInFile(const KernelEntry& kernel) { return kernel.in_json ? 0 : kernel.first_line; }
int ColumnInFile(const KernelEntry& kernel) { return kernel.in_json ? 0 : kernel.column; }

// Visits on one thread, in order; PrepareShard runs on many.
class IndexVisitor final : public manifest::DatasetVisitor {
 public:
  explicit IndexVisitor(DatasetIndex* index)
      : index_(*index),
        total_(index->manifest, index->clusters),
        pairs_(index->manifest, index->clusters),
        opt_out_(index->manifest, index->clusters),
        unmatched_(index->manifest, index->clusters, index->splits) {
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

  // The order of the visitors does not matter; they know nothing of each other.
  absl::Status VisitTree(int source, const v1::SourceTree& tree) override {
    SourceEntry& entry = index_.sources[source];
    entry.repository = tree.repository();
    entry.commit = tree.commit();
    entry.commit_time = tree.commit_time();
    entry.unselected_files = tree.unselected_files();
    RETURN_IF_ERROR(total_.VisitTree(source, tree));
    RETURN_IF_ERROR(pairs_.VisitTree(source, tree));
    RETURN_IF_ERROR(opt_out_.VisitTree(source, tree));
    RETURN_IF_ERROR(unmatched_.VisitTree(source, tree));
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
    auto& shard = static_cast<ShardIndex&>(*view.prepared);
    unmatched_.VisitShard(view, shard.markers);
    Join(view, shard);
    return absl::OkStatus();
  }

  // Takes the sums over; checks what only the whole dataset can show.
  absl::Status Finish(cas::BlobStore& store) {
    RETURN_IF_ERROR(unmatched_.ReadHistories(store));
    index_.sums = total_.sums();
    index_.pairs = pairs_.Find();
    index_.opt_out = opt_out_.Counts();
    index_.unmatched = unmatched_.Find(index_.sums, index_.opt_out);
    for (size_t i = 0; i < per_source_.size(); ++i) index_.sources[i].sums = per_source_[i]->sums();
    RETURN_IF_ERROR(manifest::CheckConservation(index_.sums));
    WithholdLaunchers();
    // All decisions are known now, so that leaders can be looked up.
    for (const uint32_t number : index_.candidates) RETURN_IF_ERROR(AddToCluster(number));
    std::sort(index_.duplicates.begin(), index_.duplicates.end());
    CountFilesAndClusters();
    std::sort(index_.candidates.begin(), index_.candidates.end(),
              [this](uint32_t a, uint32_t b) { return index_.Before(a, b); });
    return absl::OkStatus();
  }

 private:
  // Fills in what the manifest says of a source; the tree adds repository and commit when it is
  // visited.
  void AddSource(const v1::ManifestSource& source) {
    SourceEntry entry;
    entry.repository = job::SourceName(source.source());
    entry.url = source.source().url();
    entry.category =
        source.source().category().empty() ? entry.repository : source.source().category();
    entry.tier = std::max(source.source().tier(), 1);
    if (source.source().weight() != 0) entry.weight = source.source().weight();
    entry.holdout = manifest::IsHoldout(source.source());
    entry.evidence = manifest::IsEvidence(source.source());
    entry.failed = source.failed();
    entry.hash_computed = source.source().hash_computed();
    index_.sources.push_back(std::move(entry));
    per_source_.push_back(
        std::make_unique<manifest::LedgerVisitor>(index_.manifest, index_.clusters));
  }

  // Appends a shard's part to the index. Afterwards kernels[n] is the kernel with the number n,
  // since shards come in the order of the numbering.
  void Join(const manifest::ShardView& view, ShardIndex& shard) {
    const auto first_file = static_cast<uint32_t>(index_.files.size());
    for (KernelEntry& kernel : shard.kernels) kernel.file += first_file;
    // All kernels are in the index, those of holdouts too; candidates are listed apart.
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

  // Withholds the files of launchers that have a holdout's text, if nothing else withholds them.
  void WithholdLaunchers() {
    if (launchers_.empty()) return;
    for (uint32_t i = 0; i < index_.files.size(); ++i) {
      const FileEntry& file = index_.files[i];
      if (launchers_.contains({file.source, file.path})) {
        index_.withheld.try_emplace(i, "holds:contaminated");
      }
    }
  }

  static Analysis::Origin GetOrigin(const SourceEntry& source) {
    return {source.repository, source.category, source.tier};
  }

  // Needs the fates of all kernels, so it runs at the end.
  void CountFilesAndClusters() {
    for (const FileEntry& file : index_.files) {
      if (file.kept == 0) continue;
      index_.analysis.AddFile(GetOrigin(index_.sources[file.source]), file.lines, file.size_bytes);
    }
    for (const uint32_t number : index_.candidates) {
      if (index_.DecisionOn(number).fate() != v1::FATE_KEPT || index_.IsFile(number)) continue;
      index_.analysis.AddCluster(1 + static_cast<int64_t>(index_.FindDuplicates(number).size()));
    }
  }

  // Every kernel that a contamination names must be a holdout's.
  absl::Status CheckHoldout(uint32_t number, uint32_t holdout) const {
    const v1::Decision* decision = manifest::DecisionOn(index_.clusters, holdout);
    if (decision != nullptr && decision->fate() == v1::FATE_HOLDOUT) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("kernel ", index_.kernels[number].id(),
                                            " matches a kernel that is not a holdout's"));
  }

  // Checks a decision's leader: a duplicate's is kept, a contaminated kernel's is a holdout, and
  // that of a kernel which is rejected for another's sake is rejected. Otherwise the dataset
  // contradicts itself.
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
  manifest::OptOutCounter opt_out_;
  manifest::UnmatchedFinder unmatched_;
  std::set<std::pair<int, std::string>>
      launchers_;  // sources and paths of those that are holdouts'
  std::vector<std::unique_ptr<manifest::LedgerVisitor>> per_source_;
  std::map<std::string, std::set<std::string>> repositories_;  // the sources of each split
};

}  // namespace

void AddTokens(const v1::TokenCounts& more, v1::TokenCounts* sum) {
  sum->set_cl100k_base(sum->cl100k_base() + more.cl100k_base());
  sum->set_o200k_base(sum->o200k_base() + more.o200k_base());
}

// Every member of SourceCounts must be added here, or a group would lack it.
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

// The pairs are sorted by the kept kernel, so its duplicates are one range.
absl::Span<const std::pair<uint32_t, uint32_t>> DatasetIndex::FindDuplicates(
    uint32_t number) const {
  const auto begin = std::lower_bound(duplicates.begin(), duplicates.end(), std::pair(number, 0u));
  auto end = begin;
  while (end != duplicates.end() && end->first == number) ++end;
  return absl::MakeConstSpan(duplicates).subspan(begin - duplicates.begin(), end - begin);
}

// Numbers decide between kernels at one place, so the order is total.
bool DatasetIndex::Before(uint32_t a, uint32_t b) const {
  const KernelEntry& ka = kernels[a];
  const KernelEntry& kb = kernels[b];
  const FileEntry& fa = files[ka.file];
  const FileEntry& fb = files[kb.file];
  return std::make_tuple(fa.source, absl::string_view(fa.path), LineInFile(ka), ColumnInFile(ka),
                         a) < std::make_tuple(fb.source, absl::string_view(fb.path), LineInFile(kb),
                                              ColumnInFile(kb), b);
}

// A file that is opted out is not even named.
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

absl::string_view DatasetIndex::GetSplit(uint32_t number) const {
  return manifest::SplitName(splits.splits_size() == 0 ? v1::SPLIT_TRAIN
                                                       : splits.splits(static_cast<int>(number)));
}

// The walk goes through CheckingVisitor, which compares each kernel with its file's content.
absl::StatusOr<DatasetIndex> IndexDataset(cas::BlobStore& store, const cas::Digest& dataset,
                                          int threads) {
  DatasetIndex index;
  ASSIGN_OR_RETURN(index.manifest, manifest::GetManifest(store, dataset));
  ASSIGN_OR_RETURN(index.clusters, cas::GetMessage<v1::Clusters>(store, index.manifest.clusters()));
  ASSIGN_OR_RETURN(index.splits, manifest::GetSplits(store, index.manifest, index.clusters));
  IndexVisitor visitor(&index);
  manifest::CheckingVisitor checked(store, index.manifest, visitor);
  RETURN_IF_ERROR(manifest::WalkDataset(store, index.manifest, checked, threads));
  RETURN_IF_ERROR(visitor.Finish(store));
  return index;
}

}  // namespace kernelmill::dataset
