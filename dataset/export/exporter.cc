#include "dataset/export/exporter.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/in_order.h"
#include "common/base/memory.h"
#include "common/base/path.h"
#include "common/base/processors.h"
#include "common/base/status.h"
#include "common/job/job_file.h"
#include "common/job/source_spec.h"
#include "common/manifest/reviews.h"
#include "common/manifest/walk.h"
#include "dataset/analysis/analysis.h"
#include "dataset/analysis/provenance.h"
#include "dataset/card/card.h"
#include "dataset/export/conversation_filter.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/file_manifest.h"
#include "dataset/export/fill_rows.h"
#include "dataset/export/graph_files.h"
#include "dataset/export/history_writer.h"
#include "dataset/export/job_evidence.h"
#include "dataset/export/kernel_writer.h"
#include "dataset/export/mix_files.h"
#include "dataset/export/notices_file.h"
#include "dataset/export/organised_tree.h"
#include "dataset/export/pair_files.h"
#include "dataset/export/report.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/files.h"
#include "dataset/output/json.h"
#include "dataset/output/output_dir.h"
#include "dataset/parquet/tables.h"
#include "dataset/rows/row_schema.h"
#include "kernelmill/v1/rows.pb.h"
#include "kernelmill/v1/source.pb.h"

// An export walks the dataset for the index, which holds everything except texts; for the reviews,
// if the job has some; for the rows; and for the tree of source files, if one is asked for.
// Everything is written into a staging folder beside the output, which takes the output's place at
// the very end. So an export that fails or is killed leaves the earlier one as it was.
//
// Files are the same byte for byte for any number of threads: threads prepare pieces, and InOrder
// hands them to one writer in order.
namespace kernelmill::dataset {
namespace {

// The input of every part of an export, and the folder that it writes to.
struct Work {
  cas::BlobStore& store;
  const DatasetIndex& index;
  const std::string& dir;
  int threads;
};

struct WrittenKernels {
  TrainingCounts counts;
  std::vector<std::string> warnings;
  std::map<std::string, int64_t> references;                     // as KernelWriter has it
  std::optional<std::map<std::string, int64_t>> history, turns;  // as HistoryCounts has them
};

// Writes everything that is made of kept kernels in one walk: rows, pairs and notices; then the
// graphs, which lead to them, and the changes; then the mix, which draws from all of their rows.
absl::StatusOr<WrittenKernels> WriteKernels(const Work& work,
                                            const manifest::FollowedReviews& reviews,
                                            TableWriter* tables, Provenance* provenance,
                                            JobEvidence* evidence) {
  const auto& [store, index, dir, threads] = work;
  ASSIGN_OR_RETURN(PairFiles pairs, PairFiles::Create(dir, index, reviews, tables));
  NoticesFile notices(tables, provenance);
  MixFiles mix(index);
  ConversationFilter conversations;
  ASSIGN_OR_RETURN(const ReferenceGuard references, ReferenceGuard::Make(store, index.manifest));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<KernelWriter> writer,
      KernelWriter::Create(store, index, dir,
                           {tables, &pairs, &notices, &mix, evidence, &references, &conversations},
                           threads));
  RETURN_IF_ERROR(manifest::WalkDataset(store, index.manifest, *writer, threads));
  RETURN_IF_ERROR(writer->Close());
  RETURN_IF_ERROR(pairs.Close());
  ASSIGN_OR_RETURN(const GraphCounts graphs, WriteGraphs(store, index, references, dir, tables));
  ASSIGN_OR_RETURN(const HistoryCounts history,
                   WriteHistory(store, index, references, {tables, &conversations, &mix}));
  RETURN_IF_ERROR(writer->EndTables());
  ASSIGN_OR_RETURN(std::vector<std::string> warnings, mix.Write(dir));
  for (std::string& warning : graphs.ListWarnings()) warnings.push_back(std::move(warning));
  return WrittenKernels{TrainingCounts{{},
                                       writer->fim(),
                                       conversations.counts(),
                                       {pairs.candidates(), pairs.curated(), pairs.repeats(),
                                        pairs.word_overlaps(), pairs.across_splits()},
                                       pairs.parallel().ToJson(),
                                       evidence->ToJson(),
                                       nullptr,
                                       graphs.ToJson(),
                                       history.ToJson()},
                        std::move(warnings), writer->references(), history.GetOutcomes(),
                        history.GetTurns()};
}

// Kernels of the ledger that are rendered as one piece of work.
constexpr size_t kLedgerRows = 256;

// Needs no walk: the index has all that a row of the ledger says.
absl::Status WriteLedger(const DatasetIndex& index, const JobEvidence& evidence, int threads,
                         TableWriter* tables) {
  const size_t count = index.candidates.size();
  return InOrder<RenderedRows>(
      threads, (count + kLedgerRows - 1) / kLedgerRows, 2 * static_cast<size_t>(threads),
      [&](size_t piece) -> absl::StatusOr<RenderedRows> {
        RenderedRows rows;
        v1::LedgerRow row;
        const size_t end = std::min(count, (piece + 1) * kLedgerRows);
        for (size_t i = piece * kLedgerRows; i < end; ++i) {
          row.Clear();
          FillLedgerRow(index, index.candidates[i], &row);
          row.set_task(std::string(evidence.GetState(index.candidates[i])));
          rows.Add(GetSchema<v1::LedgerRow>(), &row);
        }
        return rows;
      },
      [&](size_t, const RenderedRows& rows) {
        return tables->Append(*v1::LedgerRow::descriptor(), rows);
      });
}

// Writes a file whose text is complete in memory.
absl::Status WriteWhole(const std::string& dir, absl::string_view name, absl::string_view text) {
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(absl::StrCat(dir, "/", name)));
  RETURN_IF_ERROR(file.Append(text));
  return file.Close();
}

// Writes the results of kernels that the job ran where its lock has them. The name of such a source
// has the hash of its content.
absl::Status WriteRunResults(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                             const std::string& dir) {
  for (const v1::ManifestSource& source : manifest.sources()) {
    if (source.failed() || !job::IsRunSource(source.source())) continue;
    const std::string folder = absl::StrCat(dir, "/", job::SourceName(source.source()));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return ErrnoStatus(error.value(), folder);
    for (const cas::Digest& digest : source.files()) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::FileShard>(store, digest));
      for (const v1::SourceFile& file : shard.files()) {
        const absl::string_view name = BaseName(file.path());
        if (!absl::EndsWith(name, ".jsonl")) continue;
        RETURN_IF_ERROR(WriteWhole(folder, name, file.content()));
      }
    }
  }
  return absl::OkStatus();
}

// MANIFEST.json, and the tree that it lists where one is wanted.
absl::Status WriteSourceFiles(const Work& work, const ExportRequest& request) {
  const auto& [store, index, dir, threads] = work;
  TreeFiles tree;
  if (request.tree) {
    ASSIGN_OR_RETURN(
        tree, WriteOrganisedTree(store, index, absl::StrCat(dir, "/", kTreeFolder), threads));
  }
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(absl::StrCat(dir, "/", kManifestFile)));
  RETURN_IF_ERROR(
      WriteFileManifest(index, request.dataset, request.tree ? &tree : nullptr, threads, &file));
  return file.Close();
}

// Writes the pages about the dataset's content and authors.
absl::Status WriteAnalysis(const DatasetIndex& index, const std::string& dataset,
                           const Provenance& provenance, const std::string& dir) {
  const Json analysis = AnalysisJson(index.manifest.name(), dataset, index.analysis);
  RETURN_IF_ERROR(WriteWhole(dir, kAnalysisFile, Pretty(analysis)));
  RETURN_IF_ERROR(WriteWhole(dir, kAnalysisPageFile, AnalysisMarkdown(analysis)));
  return WriteWhole(dir, kProvenanceFile, provenance.Markdown(index.manifest.name(), dataset));
}

}  // namespace

// The tables are finished after all rows are there; the card and croissant.json come after the
// tables, since they name files and hashes.
absl::StatusOr<Exported> ExportDataset(cas::BlobStore& store, const ExportRequest& request) {
  // First, since a folder that must not be replaced should fail before hours of work. Memory is
  // given back before each part: after a crawl in this process, and after the index, malloc keeps
  // far more than a part needs.
  ASSIGN_OR_RETURN(StagingDir staging, StagingDir::Create(request.out_dir));
  ReturnFreeMemory(0);
  const int threads = request.threads > 0 ? request.threads : CountProcessors();
  ASSIGN_OR_RETURN(const DatasetIndex index, IndexDataset(store, request.dataset, threads));
  ReturnFreeMemory(0);
  const std::string& dir = staging.path();
  const Work work = {store, index, dir, threads};
  const auto check = [&request] {
    const bool ends = request.is_interrupted && request.is_interrupted();
    return ends ? absl::CancelledError("interrupted") : absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const manifest::FollowedReviews reviews,
                   manifest::FollowReviews(store, index.manifest, index.clusters));
  Provenance provenance;
  ASSIGN_OR_RETURN(TableWriter rows, TableWriter::Create(dir, RowSchemas()));
  ASSIGN_OR_RETURN(JobEvidence evidence, JobEvidence::Load(store, index.manifest));
  ASSIGN_OR_RETURN(WrittenKernels kernels,
                   WriteKernels(work, reviews, &rows, &provenance, &evidence));
  for (std::string& warning : evidence.ListWarnings()) {
    kernels.warnings.push_back(std::move(warning));
  }
  Exported exported;
  exported.warnings = std::move(kernels.warnings);
  exported.notes = evidence.ListNotes();
  exported.tasks = evidence.CountStates();
  exported.history = std::move(kernels.history);
  exported.turns = std::move(kernels.turns);
  if (request.lock.references()) {
    kernels.counts.references = kernels.references;
    exported.references = std::move(kernels.references);
  }
  ReturnFreeMemory(0);
  RETURN_IF_ERROR(check());
  RETURN_IF_ERROR(WriteLedger(index, evidence, threads, &rows));
  RETURN_IF_ERROR(WriteSourceFiles(work, request));
  RETURN_IF_ERROR(WriteRunResults(store, index.manifest, dir));
  kernels.counts.rows = rows.CountRows();
  // The report needs the counts of the rows, and the card needs the report.
  const Json report = Report(index, request.dataset, kernels.counts, reviews, request.failures);
  RETURN_IF_ERROR(WriteWhole(dir, kReportFile, Pretty(report)));
  RETURN_IF_ERROR(check());
  ASSIGN_OR_RETURN(const std::vector<Table> tables, rows.Finish(threads));
  RETURN_IF_ERROR(WriteAnalysis(index, cas::ToString(request.dataset), provenance, dir));
  RETURN_IF_ERROR(WriteWhole(dir, kDatasetInfoFile, Pretty(DatasetInfo(report))));
  RETURN_IF_ERROR(WriteWhole(dir, kCardFile, DatasetCard(report, tables)));
  RETURN_IF_ERROR(
      WriteWhole(dir, kCroissantFile, Pretty(Croissant(report, Created(index), tables))));
  RETURN_IF_ERROR(WriteWhole(dir, kLockFile, job::JobFileYaml(request.lock)));
  // Until here the output was not touched.
  RETURN_IF_ERROR(check());
  RETURN_IF_ERROR(staging.Commit());
  return exported;
}

}  // namespace kernelmill::dataset
