#include "dataset/export/kernel_writer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/in_order.h"
#include "common/base/status.h"
#include "common/manifest/ledger.h"
#include "dataset/export/ir_rows.h"
#include "dataset/export/redact.h"

namespace kernelmill::dataset {
namespace {

// The config of each file's rows, as a mix names it; of a file that no mix draws from "".
constexpr std::array<const char*, kKernelFileCount> kConfigs = {"kernels", "fim",   "", "instruct",
                                                                "",        "files", ""};

// A shard's kept kernels, rendered.
class RenderedShard final : public manifest::PreparedShard {
 public:
  struct Kept {
    uint32_t number = 0;
    KernelRows rows;
    std::optional<PairFiles::Half> half;
  };
  std::vector<Kept> kernels;
};

// Of the shard's kept kernels the ids, by the path of their file, for the files that are kept
// whole.
using KeptIn = std::map<absl::string_view, std::vector<std::string>>;

KeptIn KernelsOfFiles(const DatasetIndex& index, uint32_t first, const v1::KernelShard& kernels) {
  KeptIn kept;
  for (int i = 0; i < kernels.kernels_size(); ++i) {
    const uint32_t number = first + static_cast<uint32_t>(i);
    if (index.DecisionOn(number).fate() != v1::FATE_KEPT) continue;
    std::vector<std::string>& ids = kept[kernels.kernels(i).path()];
    if (!index.IsFile(number)) ids.push_back(kernels.kernels(i).id());
  }
  return kept;
}

// The kernel and its verdict with what policies withhold left out of their texts; most as they are.
class Seen {
 public:
  Seen(const DatasetIndex& index, uint32_t number, const v1::Kernel& original,
       const v1::Verdict& verdict)
      : original_(original), original_verdict_(verdict) {
    const v1::QualityPolicy& policy = index.manifest.quality();
    const auto& findings = verdict.quality().sensitive();
    if (std::any_of(findings.begin(), findings.end(),
                    [&](const v1::Sensitive& finding) { return IsRedacted(finding, policy); })) {
      changed_ = Redacted(original, verdict.quality(), policy);
      if (verdict.has_compiled()) {
        changed_verdict_ = verdict;
        *changed_verdict_->mutable_compiled() =
            RedactedEvidence(verdict.compiled(), original, verdict.quality(), policy);
      }
    }
    if (manifest::WithholdsLauncher(index.DecisionOn(number),
                                    index.manifest.dedup().contamination())) {
      if (!changed_) changed_ = original;
      changed_->mutable_launcher()->clear_text();
    }
  }

  const v1::Kernel& kernel() const { return changed_ ? *changed_ : original_; }
  const v1::Verdict& verdict() const {
    return changed_verdict_ ? *changed_verdict_ : original_verdict_;
  }

 private:
  const v1::Kernel& original_;
  const v1::Verdict& original_verdict_;
  std::optional<v1::Kernel> changed_;
  std::optional<v1::Verdict> changed_verdict_;
};

}  // namespace

KernelWriter::KernelWriter(cas::BlobStore& store, const DatasetIndex& index, TempFile* temp_file,
                           KernelFiles* files, PairFiles* pairs, NoticesFile* notices,
                           MixFiles* mix, int threads)
    : store_(store),
      index_(index),
      temp_file_(*temp_file),
      files_(*files),
      pairs_(*pairs),
      notices_(*notices),
      mix_(*mix),
      threads_(threads) {
  for (size_t file = 0; file < kKernelFileCount; ++file) {
    count_tokens_[file] = mix_.DrawsFrom(kConfigs[file]);
  }
}

absl::Status KernelWriter::VisitTree(int source, const v1::SourceTree& tree) {
  RETURN_IF_ERROR(EndSource());
  notices_.StartSource(index_.sources[static_cast<size_t>(source)], tree);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<manifest::PreparedShard>> KernelWriter::PrepareShard(
    const manifest::ShardView& view) {
  auto shard = std::make_unique<RenderedShard>();
  if (view.verdicts == nullptr) return shard;
  const uint32_t first = view.first_number;
  const bool keeps_files =
      index_.manifest.sources(view.source).source().keep() == v1::SOURCE_KEEP_FILES;
  const KeptIn kept_in = keeps_files ? KernelsOfFiles(index_, first, *view.kernels) : KeptIn();
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const uint32_t number = first + static_cast<uint32_t>(i);
    if (index_.DecisionOn(number).fate() != v1::FATE_KEPT) continue;
    const v1::Verdict& verdict = view.verdicts->verdicts(i);
    RenderedShard::Kept kept;
    kept.number = number;
    const Seen seen(index_, number, view.kernels->kernels(i), verdict);
    if (index_.IsFile(number)) {
      kept.rows = RenderFile(index_, number, seen.kernel(), verdict,
                             kept_in.at(view.kernels->kernels(i).path()));
    } else {
      kept.rows = RenderKernel(index_, number, seen.kernel(), seen.verdict(), count_tokens_);
      kept.half = pairs_.HalfOf(number, seen.kernel());
    }
    shard->kernels.push_back(std::move(kept));
  }
  return shard;
}

absl::Status KernelWriter::VisitShard(const manifest::ShardView& view) {
  auto& shard = static_cast<RenderedShard&>(*view.prepared);
  for (RenderedShard::Kept& kept : shard.kernels) {
    const v1::Verdict& verdict =
        view.verdicts->verdicts(static_cast<int>(kept.number - view.first_number));
    notices_.AddNamedBy(verdict, index_.FileOf(kept.number).path, index_.IsFile(kept.number));
    RETURN_IF_ERROR(Keep(kept.number, verdict.quality().tier(), kept.rows));
    if (kept.half) RETURN_IF_ERROR(pairs_.AddHalf(kept.number, *std::move(kept.half)));
  }
  return view.verdicts == nullptr ? absl::OkStatus() : KeepIr(view);
}

absl::Status KernelWriter::KeepIr(const manifest::ShardView& view) {
  return RenderIr(store_, index_, view,
                  [this](uint32_t number, absl::string_view line) -> absl::Status {
                    ASSIGN_OR_RETURN(const TempFile::Extent extent, temp_file_.Append(line));
                    ir_[number].push_back(extent);
                    return absl::OkStatus();
                  });
}

absl::Status KernelWriter::Keep(uint32_t number, int32_t tier, KernelRows& rows) {
  Waiting waiting;
  waiting.number = number;
  waiting.tier = tier;
  waiting.example = !rows.fim_sha1.empty();
  rows.fim_sha1.copy(waiting.fim_sha1.data(), waiting.fim_sha1.size());
  waiting.sizes = rows.sizes;
  if (index_.manifest.has_mix()) {
    waiting.tokens = std::make_unique<RowTokenCounts>(std::move(rows.tokens));
  }
  if (held_bytes_ + rows.text.size() > kHeldBytes) {
    ASSIGN_OR_RETURN(const TempFile::Extent extent, temp_file_.Append(rows.text));
    waiting.offset = extent.offset;
  } else {
    held_bytes_ += rows.text.size();
    waiting.held = static_cast<uint32_t>(held_.size());
    held_.push_back(std::move(rows.text));
  }
  for (const absl::string_view name : rows.templates) ++instruct_[std::string(name)];
  if (!rows.fim_excluded.empty()) ++fim_.excluded[std::string(rows.fim_excluded)];
  waiting_.push_back(std::move(waiting));
  return absl::OkStatus();
}

absl::Status KernelWriter::EndSource() {
  std::sort(waiting_.begin(), waiting_.end(), [this](const Waiting& a, const Waiting& b) {
    return index_.Before(a.number, b.number);
  });
  for (Waiting& kernel : waiting_) Count(kernel);
  RETURN_IF_ERROR(temp_file_.Flush());
  RETURN_IF_ERROR(InOrder<KernelFile>(
      threads_, waiting_.empty() ? 0 : kKernelFileCount, kKernelFileCount,
      [this](size_t file) -> absl::StatusOr<KernelFile> {
        RETURN_IF_ERROR(WriteRows(static_cast<KernelFile>(file)));
        return static_cast<KernelFile>(file);
      },
      [](size_t, KernelFile) { return absl::OkStatus(); }));
  waiting_.clear();
  held_.clear();
  held_bytes_ = 0;
  ir_.clear();
  RETURN_IF_ERROR(notices_.EndSource());
  RETURN_IF_ERROR(pairs_.EndSource());
  return temp_file_.Clear();
}

// Of equal examples the first alone is a row.
bool KernelWriter::HasRows(const Waiting& kernel, size_t file) {
  const bool of_example = file == kFimRows || file == kFimCsv;
  return kernel.sizes[file] > 0 && !(kernel.repeat && of_example);
}

void KernelWriter::Count(Waiting& kernel) {
  if (kernel.example) {
    kernel.repeat = !files_.IsNewExample(kernel.fim_sha1);
    ++(kernel.repeat ? fim_.excluded["repeat"] : fim_.rows);
  }
  if (kernel.tokens == nullptr) return;
  for (size_t file = 0; file < kKernelFileCount; ++file) {
    if (!count_tokens_[file] || !HasRows(kernel, file)) continue;
    for (const int64_t tokens : (*kernel.tokens)[file]) {
      mix_.AddRow(kConfigs[file], kernel.number, tokens, kernel.tier);
    }
  }
}

absl::Status KernelWriter::WriteRows(KernelFile file) {
  for (const Waiting& kernel : waiting_) {
    if (file == kIrRows) RETURN_IF_ERROR(WriteIr(kernel));
    if (!HasRows(kernel, file)) continue;
    const int64_t begin =
        std::accumulate(kernel.sizes.begin(), kernel.sizes.begin() + file, int64_t{0});
    const size_t size = kernel.sizes[file];
    if (kernel.held != Waiting::kSpilled) {
      const absl::string_view all = held_[kernel.held];
      RETURN_IF_ERROR(files_.Append(file, all.substr(static_cast<size_t>(begin), size)));
      continue;
    }
    ASSIGN_OR_RETURN(const std::string text,
                     temp_file_.Read({kernel.offset + begin, static_cast<int64_t>(size)}));
    RETURN_IF_ERROR(files_.Append(file, text));
  }
  return absl::OkStatus();
}

absl::Status KernelWriter::WriteIr(const Waiting& kernel) {
  const auto ir = ir_.find(kernel.number);
  if (ir == ir_.end()) return absl::OkStatus();
  for (const TempFile::Extent& extent : ir->second) {
    ASSIGN_OR_RETURN(const std::string line, temp_file_.Read(extent));
    RETURN_IF_ERROR(files_.Append(kIrRows, line));
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
