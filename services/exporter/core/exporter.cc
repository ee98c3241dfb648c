#include "services/exporter/core/exporter.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/config/csv.h"
#include "common/config/job_file.h"
#include "common/dataset/fim.h"
#include "common/dataset/walk.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/output/files.h"
#include "services/exporter/core/output/json.h"
#include "services/exporter/core/output/output_dir.h"
#include "services/exporter/core/pair_files.h"
#include "services/exporter/core/records.h"
#include "services/exporter/core/redact.h"
#include "services/exporter/core/report.h"
#include "services/exporter/core/schema/dataset_card.h"

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
    RETURN_IF_ERROR(files.fim_.Append(
        config::CsvRow({"prompt", "completion", "id", "license", "weight", "category"})));
    RETURN_IF_ERROR(files.functions_.Append("["));
    return files;
  }

  absl::Status AddRecord(absl::string_view line) { return kernels_.Append(line); }

  // False: an example of that identity was there before.
  absl::StatusOr<bool> AddExample(absl::string_view row, const std::string& identity) {
    if (!examples_.insert(identity).second) return false;
    RETURN_IF_ERROR(fim_.Append(row));
    return true;
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

// Writes notices.jsonl: of each source, once, the licence and NOTICE files that the verdicts of its
// kept kernels name.
class NoticesFile {
 public:
  explicit NoticesFile(FileWriter file) : file_(std::move(file)) {}

  // Begins a source; the one before must have ended.
  void StartSource(const SourceEntry& source, const v1::SourceTree& tree) {
    source_ = source;
    *license_files_.mutable_license_files() = tree.license_files();
  }

  void AddNamedBy(const v1::License& license) {
    for (const v1::LicenseEvidence& found : license.found()) named_.insert(found.path());
    named_.insert(license.notices().begin(), license.notices().end());
  }

  // Writes what was named, by path.
  absl::Status EndSource() {
    for (const v1::SourceFile& file : license_files_.license_files()) {
      if (!named_.contains(ToUtf8(file.path()))) continue;
      RETURN_IF_ERROR(file_.Append(absl::StrCat(Canonical(NoticeRecord(source_, file)), "\n")));
    }
    license_files_.Clear();
    named_.clear();
    return absl::OkStatus();
  }

  absl::Status Close() { return file_.Close(); }

 private:
  FileWriter file_;
  SourceEntry source_;
  v1::SourceTree license_files_;  // of the source; nothing else of its tree
  std::set<std::string> named_;
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
  KernelWriter(const DatasetIndex& index, TempFile* temp_file, KernelFiles* files, PairFiles* pairs,
               NoticesFile* notices)
      : index_(index), temp_file_(*temp_file), files_(*files), pairs_(*pairs), notices_(*notices) {}

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override {
    RETURN_IF_ERROR(EndSource());
    notices_.StartSource(index_.sources[static_cast<size_t>(source)], tree);
    return absl::OkStatus();
  }

  absl::Status VisitShard(const dataset::ShardView& view) override {
    if (view.verdicts == nullptr) return absl::OkStatus();
    for (int i = 0; i < view.kernels->kernels_size(); ++i) {
      const uint32_t number = view.first_number + static_cast<uint32_t>(i);
      if (index_.DecisionOn(number).fate() != v1::FATE_KEPT) continue;
      notices_.AddNamedBy(view.verdicts->verdicts(i).license());
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
    RETURN_IF_ERROR(notices_.EndSource());
    RETURN_IF_ERROR(pairs_.EndSource());
    return temp_file_.Clear();
  }

  // Once the last source ended.
  const FimCounts& fim() const { return fim_; }

 private:
  // Where the kernel's part of each file waits in the temporary file; of size 0 where it has none.
  struct Rendered {
    uint32_t number = 0;
    TempFile::Extent record;
    TempFile::Extent example;
    TempFile::Extent function;
    std::string identity;  // of the example
  };

  absl::Status Render(uint32_t number, const v1::Kernel& original, const v1::Verdict& verdict) {
    v1::Kernel kernel = Redacted(original, verdict.quality(), index_.manifest.quality());
    if (dataset::WithholdsLauncher(index_.DecisionOn(number),
                                   index_.manifest.dedup().contamination())) {
      kernel.mutable_launcher()->clear_text();
    }
    Rendered rendered;
    rendered.number = number;
    ASSIGN_OR_RETURN(
        rendered.record,
        temp_file_.Append(Canonical(KernelRecord(index_, number, kernel, verdict)) + "\n"));
    const dataset::FimPair pair = dataset::MakeFimPair(kernel);
    if (pair.excluded.empty()) {
      rendered.identity = dataset::FimPairSha1(pair);
      ASSIGN_OR_RETURN(rendered.example, temp_file_.Append(ExampleRow(number, pair, verdict)));
    } else {
      ++fim_.excluded[std::string(pair.excluded)];
    }
    if (kernel.dsl() == v1::DSL_TRITON || kernel.dsl() == v1::DSL_GLUON) {
      ASSIGN_OR_RETURN(rendered.function, temp_file_.Append(FunctionText(kernel)));
    }
    rendered_.push_back(std::move(rendered));
    return pairs_.AddKernel(number, kernel);
  }

  // A line of fim_sft.csv, with what a trainer selects and weighs rows by.
  std::string ExampleRow(uint32_t number, const dataset::FimPair& pair,
                         const v1::Verdict& verdict) const {
    const SourceEntry& source = index_.SourceOf(number);
    return config::CsvRow({config::CsvText(pair.prompt), config::CsvText(pair.completion),
                           index_.kernels[number].id, verdict.license().expression(),
                           Canonical(Number(source.weight)), config::CsvText(source.category)});
  }

  absl::Status Write(const Rendered& kernel) {
    ASSIGN_OR_RETURN(const std::string record, temp_file_.Read(kernel.record));
    RETURN_IF_ERROR(files_.AddRecord(record));
    if (kernel.example.size > 0) {
      ASSIGN_OR_RETURN(const std::string row, temp_file_.Read(kernel.example));
      ASSIGN_OR_RETURN(const bool added, files_.AddExample(row, kernel.identity));
      ++(added ? fim_.rows : fim_.excluded["repeat"]);
    }
    if (kernel.function.size > 0) {
      ASSIGN_OR_RETURN(const std::string element, temp_file_.Read(kernel.function));
      RETURN_IF_ERROR(files_.AddFunction(element));
    }
    return absl::OkStatus();
  }

  const DatasetIndex& index_;
  TempFile& temp_file_;
  KernelFiles& files_;
  PairFiles& pairs_;
  NoticesFile& notices_;
  std::vector<Rendered> rendered_;
  FimCounts fim_;
};

// What was written, for the report.
struct KernelCounts {
  FimCounts fim;
  PairCounts pairs;
};

absl::StatusOr<KernelCounts> WriteKernels(cas::BlobStore& store, const DatasetIndex& index,
                                          const std::string& dir) {
  ASSIGN_OR_RETURN(TempFile temp_file, TempFile::Create(dir));
  ASSIGN_OR_RETURN(KernelFiles files, KernelFiles::Create(dir));
  ASSIGN_OR_RETURN(PairFiles pairs, PairFiles::Create(dir, index));
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(absl::StrCat(dir, "/", kNoticesFile)));
  NoticesFile notices(std::move(file));
  KernelWriter writer(index, &temp_file, &files, &pairs, &notices);
  RETURN_IF_ERROR(dataset::WalkDataset(store, index.manifest, writer));
  RETURN_IF_ERROR(writer.EndSource());
  RETURN_IF_ERROR(files.Close());
  RETURN_IF_ERROR(pairs.Close());
  RETURN_IF_ERROR(notices.Close());
  return KernelCounts{writer.fim(), {pairs.candidates(), pairs.curated()}};
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
  ASSIGN_OR_RETURN(const KernelCounts counts, WriteKernels(store, index, dir));
  RETURN_IF_ERROR(WriteLedger(index, dir));
  RETURN_IF_ERROR(WriteWhole(dir, kManifestFile, Pretty(FileManifest(index, request.dataset))));
  RETURN_IF_ERROR(WriteWhole(
      dir, kReportFile,
      Pretty(Report(index, request.dataset, counts.fim, counts.pairs, request.failures))));
  RETURN_IF_ERROR(WriteWhole(
      dir, kCardFile,
      DatasetCard(index.manifest.name(), cas::ToString(request.dataset), index.sums.kept)));
  RETURN_IF_ERROR(WriteWhole(dir, kLockFile, config::JobFileYaml(request.lock)));
  return staging.Commit();
}

}  // namespace kernelmill::exporter
