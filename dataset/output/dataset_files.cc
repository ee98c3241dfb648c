#include "dataset/output/dataset_files.h"

#include "common/job/source_spec.h"
#include "kernelmill/v1/rows.pb.h"

// The table of an export's files. Presence says when a file is there: always, only with a mix or
// with results, on request, or made later by tools. A folder has the ending that its files must
// have.
namespace kernelmill::dataset {
namespace {

using Presence = DatasetFile::Presence;

// The name and the description are those of the message's option.
template <typename Row>
DatasetFile MakeRowFile() {
  static const v1::RowFile& file =
      *new v1::RowFile(Row::descriptor()->options().GetExtension(v1::row_file));
  return {file.name().c_str(), &Row::default_instance(), nullptr, Presence::kAlways,
          file.description().c_str()};
}

DatasetFile File(const char* name, const char* description, Presence presence = Presence::kAlways) {
  return {name, nullptr, nullptr, presence, description};
}

DatasetFile Folder(const char* name, const char* ending, Presence presence,
                   const char* description) {
  return {name, nullptr, ending, presence, description};
}

}  // namespace

// Every file of an export, in one list: the schemas of rows, the check of the output folder and the
// documentation are made from it.
const std::vector<DatasetFile>& DatasetFiles() {
  static const auto* const files = new std::vector<DatasetFile>{
      MakeRowFile<v1::KernelRow>(),
      MakeRowFile<v1::FimRow>(),
      MakeRowFile<v1::InstructRow>(),
      MakeRowFile<v1::PairRow>(),
      MakeRowFile<v1::ParallelRow>(),
      MakeRowFile<v1::FileRow>(),
      MakeRowFile<v1::IrRow>(),
      MakeRowFile<v1::ReferenceRow>(),
      MakeRowFile<v1::HistoryRow>(),
      MakeRowFile<v1::TaskRow>(),
      MakeRowFile<v1::GraphRow>(),
      MakeRowFile<v1::LedgerRow>(),
      MakeRowFile<v1::NoticeRow>(),
      Folder(kTablesFolder, ".parquet", Presence::kAlways,
             "The rows of every .jsonl file as Parquet, by split."),
      File(kFimFile, "Prompt and completion, for fill-in-the-middle training."),
      File(kTranslationsFile, "The texts of the pairs that a person made or accepted."),
      File(kFunctionsFile, "Each module, fenced, for text completion."),
      File(kManifestFile, "The source files by category."),
      File(kReportFile, "The sums, by source and by category; the policies; the failures."),
      File(kAnalysisFile, "Counts by repository, operation, licence and so on."),
      File(kAnalysisPageFile, "The same for people."),
      File(kProvenanceFile, "Every source with its share, copyright holders and licences."),
      File(kCardFile, "The dataset card."),
      File(kCroissantFile, "The files with their hashes and fields, as Croissant."),
      File(kDatasetInfoFile, "The files that LLaMA-Factory reads."),
      File(kLockFile, "The job with every source pinned."),
      File(kMixFile, "The phases of the mix.", Presence::kOfMix),
      Folder(kMixFolder, ".npy", Presence::kOfMix, "The rows of each phase, in their order."),
      Folder(job::kRunFolder, ".jsonl", Presence::kOfRun,
             "The results of kernels that the job ran, as the lock names them."),
      Folder(kTreeFolder, "", Presence::kOnRequest, "The source files themselves, by category."),
      Folder(kFiguresFolder, ".png", Presence::kByTools, "Written by kernelmill.figures."),
      Folder(kTokensFolder, "", Presence::kByTools, "Written by kernelmill.tokens."),
  };
  return *files;
}

}  // namespace kernelmill::dataset
