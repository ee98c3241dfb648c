#include "dataset/export/shard_index.h"

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/job/opt_out.h"
#include "common/manifest/ledger.h"

namespace kernelmill::dataset {
namespace {

// The bytes that hexadecimal digits stand for, which a walk has checked.
template <size_t kSize>
std::array<char, kSize> BytesOf(absl::string_view digits) {
  std::array<char, kSize> bytes = {};
  absl::HexStringToBytes(digits).copy(bytes.data(), kSize);
  return bytes;
}

// Of the kernel itself, or of one that stands within it.
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

class ShardIndexer {
 public:
  ShardIndexer(const DatasetIndex& index, const manifest::ShardView& view)
      : index_(index), view_(view), shard_(std::make_unique<ShardIndex>()) {
    const SourceEntry& source = index.sources[static_cast<size_t>(view.source)];
    origin_ = {view.tree->repository(), source.category, source.tier};
  }

  absl::StatusOr<std::unique_ptr<ShardIndex>> Run() {
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
    entry.sha256_bytes = BytesOf<32>(file.sha256());
    entry.has_triton_jit = file.has_triton_jit();
  }

  absl::Status AddKernel(uint32_t place, const v1::Kernel& kernel) {
    const auto file = places_.find(kernel.path());
    if (file == places_.end()) {
      return absl::DataLossError(
          absl::StrCat("kernel ", kernel.id(), " is of no file of its shard"));
    }
    KernelEntry& entry = shard_->kernels.emplace_back();
    entry.file = file->second;
    entry.first_line = kernel.first_line();
    entry.last_line = kernel.last_line();
    entry.column = kernel.column();
    entry.dsl = kernel.dsl();
    entry.role = kernel.role();
    entry.form = kernel.form();
    entry.in_json = kernel.has_json_pointer();
    entry.id_bytes = BytesOf<16>(kernel.id());
    entry.sha256_bytes = BytesOf<32>(kernel.sha256());
    if (entry.in_json) shard_->json_pointers[place] = kernel.json_pointer();
    return absl::OkStatus();
  }

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
    SplitCounts& split = shard_->by_split[std::string(index_.SplitOf(number))];
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
  absl::flat_hash_map<absl::string_view, uint32_t> places_;  // of files, by path
  std::unique_ptr<ShardIndex> shard_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ShardIndex>> IndexShard(const DatasetIndex& index,
                                                       const manifest::ShardView& view) {
  return ShardIndexer(index, view).Run();
}

}  // namespace kernelmill::dataset
