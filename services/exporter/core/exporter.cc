#include "services/exporter/core/exporter.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/status.h"
#include "common/config/csv.h"
#include "common/config/job_file.h"
#include "common/dataset/fim.h"
#include "common/dataset/walk.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/file_manifest.h"
#include "services/exporter/core/json.h"
#include "services/exporter/core/notices.h"
#include "services/exporter/core/output_dir.h"
#include "services/exporter/core/pair_files.h"
#include "services/exporter/core/records.h"
#include "services/exporter/core/redact.h"
#include "services/exporter/core/report.h"
#include "services/exporter/core/spool.h"

namespace kernelmill::exporter {
namespace {

// The three files that hold text of kept kernels.
class KernelFiles {
 public:
  static absl::StatusOr<KernelFiles> Create(const std::string& dir) {
    ASSIGN_OR_RETURN(FileWriter kernels, FileWriter::Create(absl::StrCat(dir, "/", kKernelsFile)));
    ASSIGN_OR_RETURN(FileWriter fim, FileWriter::Create(absl::StrCat(dir, "/", kFimFile)));
    ASSIGN_OR_RETURN(FileWriter functions,
                     FileWriter::Create(absl::StrCat(dir, "/", kFunctionsFile)));
    KernelFiles files(std::move(kernels), std::move(fim), std::move(functions));
    RETURN_IF_ERROR(files.fim_.Append(config::CsvRow({"prompt", "completion"})));
    RETURN_IF_ERROR(files.functions_.Append("["));
    return files;
  }

  absl::Status AddRecord(absl::string_view line) { return kernels_.Append(line); }

  // Examples that were there before, by their identity, are passed over.
  absl::Status AddExample(absl::string_view row, const std::string& identity) {
    if (!examples_.insert(identity).second) return absl::OkStatus();
    return fim_.Append(row);
  }

  absl::Status AddFunction(absl::string_view element) {
    return functions_.Append(absl::StrCat(std::exchange(first_, false) ? "\n" : ",\n", element));
  }

  absl::Status Close() {
    RETURN_IF_ERROR(functions_.Append(first_ ? "]\n" : "\n]\n"));
    RETURN_IF_ERROR(kernels_.Close());
    RETURN_IF_ERROR(fim_.Close());
    return functions_.Close();
  }

 private:
  KernelFiles(FileWriter kernels, FileWriter fim, FileWriter functions)
      : kernels_(std::move(kernels)), fim_(std::move(fim)), functions_(std::move(functions)) {}

  FileWriter kernels_;
  FileWriter fim_;
  FileWriter functions_;
  absl::flat_hash_set<std::string> examples_;
  bool first_ = true;
};

// An element of the list in triton_functions.json, indented as the list's other lines are.
std::string FunctionText(const v1::Kernel& kernel) {
  std::string text = Pretty(FunctionRecord(kernel));
  text.pop_back();
  return absl::StrCat("  ", absl::StrReplaceAll(text, {{"\n", "\n  "}}));
}

// Renders each kept kernel where the walk meets it, by shard, and writes a source's kernels in
// their order, by path and line, when the source ends.
class KernelWriter final : public dataset::DatasetVisitor {
 public:
  KernelWriter(const DatasetIndex& index, Spool* spool, KernelFiles* files, PairFiles* pairs,
               NoticesFile* notices)
      : index_(index), spool_(*spool), files_(*files), pairs_(*pairs), notices_(*notices) {}

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override {
    RETURN_IF_ERROR(EndSource());
    notices_.Start(index_.sources[static_cast<size_t>(source)], tree);
    return absl::OkStatus();
  }

  absl::Status VisitShard(const dataset::ShardView& view) override {
    if (view.verdicts == nullptr) return absl::OkStatus();
    for (int i = 0; i < view.kernels->kernels_size(); ++i) {
      const uint32_t number = view.first_number + static_cast<uint32_t>(i);
      if (index_.DecisionOn(number).fate() != v1::FATE_KEPT) continue;
      notices_.Name(view.verdicts->verdicts(i).license());
      RETURN_IF_ERROR(Render(number, view.kernels->kernels(i), view.verdicts->verdicts(i)));
    }
    return absl::OkStatus();
  }

  absl::Status EndSource() {
    std::sort(rendered_.begin(), rendered_.end(), [this](const Rendered& a, const Rendered& b) {
      return index_.Before(a.number, b.number);
    });
    for (const Rendered& kernel : rendered_) RETURN_IF_ERROR(Write(kernel));
    rendered_.clear();
    RETURN_IF_ERROR(notices_.End());
    RETURN_IF_ERROR(pairs_.EndSource());
    return spool_.Clear();
  }

 private:
  // Where the kernel's part of each file lies in the spool; of size 0 where it has none.
  struct Rendered {
    uint32_t number = 0;
    Spool::Extent record;
    Spool::Extent example;
    Spool::Extent function;
    std::string identity;  // of the example
  };

  absl::Status Render(uint32_t number, const v1::Kernel& original, const v1::Verdict& verdict) {
    const v1::Kernel kernel = Redacted(original, verdict.quality(), index_.manifest.quality());
    Rendered rendered;
    rendered.number = number;
    ASSIGN_OR_RETURN(
        rendered.record,
        spool_.Append(Canonical(KernelRecord(index_, number, kernel, verdict)) + "\n"));
    const dataset::FimPair pair = dataset::MakeFimPair(kernel);
    if (HasExample(kernel, pair)) {
      rendered.identity = dataset::FimPairSha1(pair);
      ASSIGN_OR_RETURN(rendered.example,
                       spool_.Append(config::CsvRow(
                           {config::CsvText(pair.prompt), config::CsvText(pair.completion)})));
    }
    if (kernel.dsl() == v1::DSL_TRITON || kernel.dsl() == v1::DSL_GLUON) {
      ASSIGN_OR_RETURN(rendered.function, spool_.Append(FunctionText(kernel)));
    }
    rendered_.push_back(std::move(rendered));
    return pairs_.AddKernel(number, kernel);
  }

  absl::Status Write(const Rendered& kernel) {
    ASSIGN_OR_RETURN(const std::string record, spool_.Read(kernel.record));
    RETURN_IF_ERROR(files_.AddRecord(record));
    if (kernel.example.size > 0) {
      ASSIGN_OR_RETURN(const std::string row, spool_.Read(kernel.example));
      RETURN_IF_ERROR(files_.AddExample(row, kernel.identity));
    }
    if (kernel.function.size > 0) {
      ASSIGN_OR_RETURN(const std::string element, spool_.Read(kernel.function));
      RETURN_IF_ERROR(files_.AddFunction(element));
    }
    return absl::OkStatus();
  }

  const DatasetIndex& index_;
  Spool& spool_;
  KernelFiles& files_;
  PairFiles& pairs_;
  NoticesFile& notices_;
  std::vector<Rendered> rendered_;
};

absl::StatusOr<PairCounts> WriteKernels(cas::BlobStore& store, const DatasetIndex& index,
                                        const std::string& dir) {
  ASSIGN_OR_RETURN(Spool spool, Spool::Create(dir));
  ASSIGN_OR_RETURN(KernelFiles files, KernelFiles::Create(dir));
  ASSIGN_OR_RETURN(PairFiles pairs, PairFiles::Create(dir, index));
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(absl::StrCat(dir, "/", kNoticesFile)));
  NoticesFile notices(std::move(file));
  KernelWriter writer(index, &spool, &files, &pairs, &notices);
  RETURN_IF_ERROR(dataset::WalkDataset(store, index.manifest, writer));
  RETURN_IF_ERROR(writer.EndSource());
  RETURN_IF_ERROR(files.Close());
  RETURN_IF_ERROR(pairs.Close());
  RETURN_IF_ERROR(notices.Close());
  return PairCounts{pairs.candidates(), pairs.curated()};
}

absl::Status WriteLedger(const DatasetIndex& index, const std::string& dir) {
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(absl::StrCat(dir, "/", kLedgerFile)));
  for (const uint32_t number : index.candidates) {
    RETURN_IF_ERROR(file.Append(Canonical(LedgerRecord(index, number)) + "\n"));
  }
  return file.Close();
}

absl::Status WriteWhole(const std::string& dir, absl::string_view name, absl::string_view text) {
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(absl::StrCat(dir, "/", name)));
  RETURN_IF_ERROR(file.Append(text));
  return file.Close();
}

}  // namespace

absl::Status ExportDataset(cas::BlobStore& store, const ExportRequest& request) {
  ASSIGN_OR_RETURN(StagingDir staging, StagingDir::Create(request.out_dir));
  ASSIGN_OR_RETURN(const DatasetIndex index, IndexDataset(store, request.dataset));
  const std::string& dir = staging.path();
  ASSIGN_OR_RETURN(const PairCounts pairs, WriteKernels(store, index, dir));
  RETURN_IF_ERROR(WriteLedger(index, dir));
  RETURN_IF_ERROR(WriteWhole(dir, kManifestFile, Pretty(FileManifest(index, request.dataset))));
  RETURN_IF_ERROR(WriteWhole(dir, kReportFile,
                             Pretty(Report(index, request.dataset, pairs, request.failures))));
  RETURN_IF_ERROR(WriteWhole(dir, kLockFile, config::JobFileYaml(request.lock)));
  return staging.Commit();
}

}  // namespace kernelmill::exporter
