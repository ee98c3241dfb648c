#include "dataset/export/kernel_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/job/csv.h"
#include "common/manifest/ledger.h"
#include "dataset/export/kernel_rows.h"
#include "dataset/export/redact.h"
#include "dataset/output/dataset_files.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {
namespace {

// The config of each file's rows, as a mix names it; "" if no mix draws from the file.
constexpr std::array<const char*, kKernelFileCount> kConfigs = {
    "kernels", "fim", "instruct", "files", "", "", ""};

// The message that is a row of each file.
const google::protobuf::Descriptor& RowType(size_t file) {
  static const std::array<const google::protobuf::Descriptor*, kKernelFileCount> types = {
      v1::KernelRow::descriptor(), v1::FimRow::descriptor(), v1::InstructRow::descriptor(),
      v1::FileRow::descriptor(),   v1::IrRow::descriptor(),  v1::ReferenceRow::descriptor(),
      v1::TaskRow::descriptor()};
  return *types[file];
}

// Bytes of records that are rendered as one piece of work; its last kernel may pass them.
constexpr size_t kBlockBytes = 256 << 10;

// A shard's kept kernels with their rows.
class KeptShard final : public manifest::PreparedShard {
 public:
  struct Kept {
    uint32_t number = 0;
    KernelRows rows;
    std::optional<PairFiles::Half> half;
  };
  std::vector<Kept> kernels;
};

// The ids of the shard's kept kernels by the path of their file, for the files that are kept whole.
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

// Returns the kernels of each file whose signatures may be shown beside other kernels: kept ones
// and duplicates without findings that policies may withhold. The first of equal names counts.
std::map<absl::string_view, Siblings> FindSiblings(const DatasetIndex& index,
                                                   const manifest::ShardView& view) {
  std::map<absl::string_view, Siblings> by_path;
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const v1::Kernel& kernel = view.kernels->kernels(i);
    const uint32_t number = view.first_number + static_cast<uint32_t>(i);
    const v1::Fate fate = index.DecisionOn(number).fate();
    if (fate != v1::FATE_KEPT && fate != v1::FATE_DUPLICATE) continue;
    if (index.IsFile(number) || !view.verdicts->verdicts(i).quality().sensitive().empty()) continue;
    by_path[kernel.path()].try_emplace(kernel.name(), &kernel);
  }
  return by_path;
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
      // A copy is made only for the few kernels that change.
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

// Opens the files that are not tables and writes their heads.
absl::StatusOr<std::unique_ptr<KernelWriter>> KernelWriter::Create(cas::BlobStore& store,
                                                                   const DatasetIndex& index,
                                                                   const std::string& dir,
                                                                   const KernelSinks& sinks,
                                                                   int threads) {
  ASSIGN_OR_RETURN(FileWriter fim_csv, FileWriter::Create(absl::StrCat(dir, "/", kFimFile)));
  RETURN_IF_ERROR(fim_csv.Append(
      job::CsvRow({"prompt", "completion", "id", "license", "weight", "category", "split"})));
  ASSIGN_OR_RETURN(FileWriter functions,
                   FileWriter::Create(absl::StrCat(dir, "/", kFunctionsFile)));
  RETURN_IF_ERROR(functions.Append("["));
  return std::unique_ptr<KernelWriter>(new KernelWriter(
      store, index, sinks, threads, {dir, std::move(fim_csv), std::move(functions)}));
}

KernelWriter::KernelWriter(cas::BlobStore& store, const DatasetIndex& index,
                           const KernelSinks& sinks, int threads, Files files)
    : store_(store),
      index_(index),
      sinks_(sinks),
      files_(std::move(files)),
      queue_(threads, 2 * static_cast<size_t>(threads),
             [this](const RenderedKernels& rendered) { return Write(rendered); }) {
  // Tokens are counted only where a mix needs them: tokenizing costs more than making the row.
  for (size_t file = 0; file < kKernelFileCount; ++file) {
    count_tokens_[file] = sinks_.mix->DrawsFrom(kConfigs[file]);
  }
}

// A source begins, so the one before has ended.
absl::Status KernelWriter::VisitTree(int source, const v1::SourceTree& tree) {
  RETURN_IF_ERROR(EndSource());
  sinks_.notices->StartSource(index_.sources[static_cast<size_t>(source)], tree);
  return absl::OkStatus();
}

// Runs on the threads of the walk. Holdouts have no verdicts and give no rows.
absl::StatusOr<std::unique_ptr<manifest::PreparedShard>> KernelWriter::PrepareShard(
    const manifest::ShardView& view) {
  auto shard = std::make_unique<KeptShard>();
  if (view.verdicts == nullptr) return shard;
  const uint32_t first = view.first_number;
  const bool keeps_files =
      index_.manifest.sources(view.source).source().keep() == v1::SOURCE_KEEP_FILES;
  const KeptIn kept_in = keeps_files ? KernelsOfFiles(index_, first, *view.kernels) : KeptIn();
  const std::map<absl::string_view, Siblings> siblings = FindSiblings(index_, view);
  v1::ReferenceShard references;
  if (!sinks_.evidence->empty() || sinks_.pairs->IsCompared(view.source)) {
    ASSIGN_OR_RETURN(references, ReadReferences(store_, index_, *sinks_.references, view));
  }
  KernelRowMaker maker(index_, *sinks_.evidence, count_tokens_);
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    const uint32_t number = first + static_cast<uint32_t>(i);
    if (index_.DecisionOn(number).fate() != v1::FATE_KEPT) continue;
    const v1::Verdict& verdict = view.verdicts->verdicts(i);
    KeptShard::Kept kept;
    kept.number = number;
    const Seen seen(index_, number, view.kernels->kernels(i), verdict);
    if (index_.IsFile(number)) {
      kept.rows = maker.MakeOfFile(number, seen.kernel(), verdict,
                                   kept_in.at(view.kernels->kernels(i).path()));
    } else {
      const auto of_file = siblings.find(view.kernels->kernels(i).path());
      const v1::KernelReferences* known =
          references.kernels().empty() ? nullptr : &references.kernels(i);
      kept.rows = maker.Make(number, seen.kernel(), seen.verdict(),
                             of_file == siblings.end() ? Siblings() : of_file->second, known);
      kept.half = sinks_.pairs->GetHalf({index_, number, seen.kernel(), seen.verdict()}, known);
    }
    shard->kernels.push_back(std::move(kept));
  }
  return shard;
}

// Runs on one thread, in the order of the shards. Which notices go along depends on the kept
// kernels, so they are noted here.
absl::Status KernelWriter::VisitShard(const manifest::ShardView& view) {
  auto& shard = static_cast<KeptShard&>(*view.prepared);
  for (KeptShard::Kept& kept : shard.kernels) {
    const v1::Verdict& verdict =
        view.verdicts->verdicts(static_cast<int>(kept.number - view.first_number));
    sinks_.notices->AddNamedBy(verdict, index_.GetFile(kept.number).path,
                               index_.IsFile(kept.number));
    if (kept.rows.evidence != nullptr) {
      sinks_.evidence->Note(kept.number, *kept.rows.evidence, kept.rows.has_reference);
    }
    RETURN_IF_ERROR(Keep(kept.number, verdict.quality().tier(), kept.rows));
    if (kept.half) RETURN_IF_ERROR(sinks_.pairs->AddHalf(kept.number, *std::move(kept.half)));
  }
  if (view.verdicts == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(KeepIr(view));
  return KeepReferences(view);
}

// Compilers' texts always go to the temporary file: they are far larger than the rows.
absl::Status KernelWriter::KeepIr(const manifest::ShardView& view) {
  return MakeIrRows(store_, index_, view,
                    [this](uint32_t number, const v1::IrRow& row) -> absl::Status {
                      std::string record;
                      AppendRecord(kIrRows, row, &record);
                      return Spill(number, record);
                    });
}

// So do references, with their modules.
absl::Status KernelWriter::KeepReferences(const manifest::ShardView& view) {
  std::optional<uint32_t> last;
  return MakeReferenceRows(store_, index_, *sinks_.references, view,
                           [&](uint32_t number, const v1::ReferenceRow& row) -> absl::Status {
                             if (last != number) ++references_[row.status()];
                             last = number;
                             std::string record;
                             AppendRecord(kReferenceRows, row, &record);
                             return Spill(number, record);
                           });
}

absl::Status KernelWriter::Spill(uint32_t number, const std::string& record) {
  ASSIGN_OR_RETURN(const TempFile::Extent extent, AppendToFile(record));
  rows_->spilled[number].push_back(extent);
  return absl::OkStatus();
}

// Most sources are small and need no file.
absl::StatusOr<TempFile::Extent> KernelWriter::AppendToFile(const std::string& records) {
  if (!rows_->file.has_value()) {
    ASSIGN_OR_RETURN(rows_->file, TempFile::Create(files_.dir));
  }
  return rows_->file->Append(records);
}

// Keeps the records of a kernel until its source ends: in memory up to kHeldBytes, then in the
// temporary file.
absl::Status KernelWriter::Keep(uint32_t number, int32_t tier, KernelRows& rows) {
  Waiting waiting;
  waiting.number = number;
  waiting.tier = tier;
  waiting.example = !rows.fim_sha1.empty();
  rows.fim_sha1.copy(waiting.fim_sha1.data(), waiting.fim_sha1.size());
  waiting.size = static_cast<uint32_t>(rows.records.size());
  if (index_.manifest.has_mix()) {
    waiting.tokens = std::make_unique<RowTokenCounts>(std::move(rows.tokens));
  }
  // The first records of a source stay in memory, so that a small source writes no temporary file.
  if (rows_->held_bytes + rows.records.size() > kHeldBytes) {
    ASSIGN_OR_RETURN(const TempFile::Extent extent, AppendToFile(rows.records));
    waiting.offset = extent.offset;
  } else {
    rows_->held_bytes += rows.records.size();
    waiting.held = static_cast<uint32_t>(rows_->held.size());
    rows_->held.push_back(std::move(rows.records));
  }
  waiting.instruct = std::move(rows.instruct);
  for (const NotAsked& one : rows.not_asked) sinks_.conversations->Count(one);
  if (!rows.fim_excluded.empty()) ++fim_.excluded[std::string(rows.fim_excluded)];
  rows_->kernels.push_back(std::move(waiting));
  return absl::OkStatus();
}

// Sorts the kernels into the order of the export, counts them in it, and has them rendered and
// written in blocks. Blocks are cut by bytes and not by threads, and written in order, so the files
// are the same for any number of threads.
absl::Status KernelWriter::EndSource() {
  std::sort(
      rows_->kernels.begin(), rows_->kernels.end(),
      [this](const Waiting& a, const Waiting& b) { return index_.Before(a.number, b.number); });
  for (Waiting& kernel : rows_->kernels) Count(kernel);
  if (rows_->file.has_value()) RETURN_IF_ERROR(rows_->file->Flush());
  for (const Block& block : CutBlocks()) {
    RETURN_IF_ERROR(queue_.Push([rows = rows_, block] { return Render(*rows, block); }));
  }
  rows_ = std::make_shared<SourceRows>();
  RETURN_IF_ERROR(sinks_.notices->EndSource());
  return sinks_.pairs->EndSource();
}

// The first of equal examples, in the order of the export, is kept. examples_ lives over all
// sources.
void KernelWriter::Count(Waiting& kernel) {
  if (kernel.example) {
    kernel.repeated.fim = !examples_.insert(kernel.fim_sha1).second;
    ++(kernel.repeated.fim ? fim_.excluded["repeat"] : fim_.rows);
  }
  CountConversations(kernel);
  if (kernel.tokens == nullptr) return;
  for (size_t file = 0; file < kKernelFileCount; ++file) {
    if (!count_tokens_[file] || (file == kFimRows && kernel.repeated.fim)) continue;
    const std::vector<int64_t>& tokens = (*kernel.tokens)[file];
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (file == kInstructRows && (kernel.repeated.instruct >> i & 1) != 0) continue;
      const absl::string_view name = file == kInstructRows ? kernel.instruct[i].template_name : "";
      sinks_.mix->AddRow(kConfigs[file], sinks_.mix->GetFacts(kernel.number, kernel.tier, name),
                         tokens[i]);
    }
  }
}

void KernelWriter::CountConversations(Waiting& kernel) {
  for (size_t i = 0; i < kernel.instruct.size(); ++i) {
    if (sinks_.conversations->Add(kernel.instruct[i])) continue;
    kernel.repeated.instruct |= static_cast<uint8_t>(1U << i);
  }
}

// Cuts after the kernel with which a block reaches kBlockBytes; a kernel is never divided.
std::vector<KernelWriter::Block> KernelWriter::CutBlocks() const {
  std::vector<Block> blocks;
  size_t bytes = kBlockBytes;  // the size of the last block; at first no block is open
  for (size_t i = 0; i < rows_->kernels.size(); ++i) {
    if (bytes >= kBlockBytes) {
      blocks.push_back({i, i});
      bytes = 0;
    }
    blocks.back().end = i + 1;
    bytes += rows_->kernels[i].size;
    const auto spilled = rows_->spilled.find(rows_->kernels[i].number);
    if (spilled == rows_->spilled.end()) continue;
    for (const TempFile::Extent& extent : spilled->second)
      bytes += static_cast<size_t>(extent.size);
  }
  return blocks;
}

// Runs on many threads. A kernel is in one block only, so its records are freed here.
absl::StatusOr<RenderedKernels> KernelWriter::Render(SourceRows& rows, const Block& block) {
  RenderedKernels rendered;
  KernelRenderer renderer;
  for (size_t i = block.begin; i < block.end; ++i) {
    const Waiting& kernel = rows.kernels[i];
    if (kernel.held != Waiting::kSpilled) {
      const std::string records = std::move(rows.held[kernel.held]);
      RETURN_IF_ERROR(renderer.Add(records, kernel.repeated, &rendered));
    } else {
      ASSIGN_OR_RETURN(const std::string records, rows.file->Read({kernel.offset, kernel.size}));
      RETURN_IF_ERROR(renderer.Add(records, kernel.repeated, &rendered));
    }
    const auto spilled = rows.spilled.find(kernel.number);
    if (spilled == rows.spilled.end()) continue;
    for (const TempFile::Extent& extent : spilled->second) {
      ASSIGN_OR_RETURN(const std::string record, rows.file->Read(extent));
      RETURN_IF_ERROR(renderer.Add(record, kernel.repeated, &rendered));
    }
  }
  return rendered;
}

// Runs on the queue's thread that takes. triton_functions.json is one list: every element comes
// with a comma before it, which the first one loses.
absl::Status KernelWriter::Write(const RenderedKernels& rendered) {
  for (size_t file = 0; file < kKernelFileCount; ++file) {
    RETURN_IF_ERROR(sinks_.tables->Append(RowType(file), rendered.rows[file]));
  }
  RETURN_IF_ERROR(files_.fim_csv.Append(rendered.fim_csv));
  absl::string_view functions = rendered.functions;
  if (functions.empty()) return absl::OkStatus();
  if (std::exchange(first_function_, false)) functions.remove_prefix(1);  // the comma
  return files_.functions.Append(functions);
}

// An empty list is written as [] and a newline.
absl::Status KernelWriter::Close() {
  RETURN_IF_ERROR(EndSource());
  RETURN_IF_ERROR(queue_.Drain());
  RETURN_IF_ERROR(files_.functions.Append(first_function_ ? "]\n" : "\n]\n"));
  RETURN_IF_ERROR(files_.functions.Close());
  return files_.fim_csv.Close();
}

absl::Status KernelWriter::EndTables() {
  for (size_t file = 0; file < kKernelFileCount; ++file) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> first, sinks_.tables->EndLines(RowType(file)));
    sinks_.mix->MoveToFront(kConfigs[file], first);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
