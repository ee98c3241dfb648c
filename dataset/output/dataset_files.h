#ifndef KERNELMILL_DATASET_OUTPUT_DATASET_FILES_H_
#define KERNELMILL_DATASET_OUTPUT_DATASET_FILES_H_

#include <google/protobuf/message.h>

#include <vector>

namespace kernelmill::dataset {

// The names of a dataset's files. DatasetFiles() describes them.
inline constexpr char kKernelsFile[] = "kernels.jsonl";
inline constexpr char kFimFile[] = "fim_sft.csv";
inline constexpr char kFimRowsFile[] = "fim.jsonl";
inline constexpr char kInstructFile[] = "instruct.jsonl";
inline constexpr char kPairsFile[] = "cuda_triton_pairs.jsonl";
inline constexpr char kParallelFile[] = "parallel.jsonl";
inline constexpr char kTranslationsFile[] = "cu2triton_sft.csv";
inline constexpr char kFunctionsFile[] = "triton_functions.json";
inline constexpr char kWholeFilesFile[] = "files.jsonl";
inline constexpr char kIrFile[] = "ir.jsonl";
inline constexpr char kReferencesFile[] = "references.jsonl";
inline constexpr char kHistoryFile[] = "history.jsonl";
inline constexpr char kTasksFile[] = "tasks.jsonl";
inline constexpr char kGraphsFile[] = "pytorch_triton.jsonl";
inline constexpr char kManifestFile[] = "MANIFEST.json";
inline constexpr char kLedgerFile[] = "ledger.jsonl";
inline constexpr char kNoticesFile[] = "notices.jsonl";
inline constexpr char kReportFile[] = "report.json";
inline constexpr char kLockFile[] = "job.lock.yaml";
inline constexpr char kDatasetInfoFile[] = "dataset_info.json";
inline constexpr char kAnalysisFile[] = "ANALYSIS.json";
inline constexpr char kAnalysisPageFile[] = "ANALYSIS.md";
inline constexpr char kProvenanceFile[] = "PROVENANCE.md";
inline constexpr char kMixFile[] = "mix.json";
inline constexpr char kCardFile[] = "README.md";
inline constexpr char kCroissantFile[] = "croissant.json";
inline constexpr char kTreeFolder[] = "tree";
inline constexpr char kMixFolder[] = "mix";
inline constexpr char kFiguresFolder[] = "figs";
inline constexpr char kTokensFolder[] = "tokens";
inline constexpr char kTablesFolder[] = "data";  // has CONFIG/SPLIT-NNNNN.parquet

// A file or a folder that an exported dataset may have.
struct DatasetFile {
  enum class Presence {
    kAlways,     // also if it is empty
    kOfMix,      // if the job has a mix
    kOfRun,      // if the job ran kernels
    kOnRequest,  // if the export is asked for it
    kByTools,    // if a tool has written it there later
  };

  const char* name;
  // The message that each line is (kernelmill/v1/rows.proto); null if the file has no rows.
  const google::protobuf::Message* row;
  // The ending of a folder's files, at any depth, and "" if they may have any; null of a file.
  const char* folder_ending;
  Presence presence;
  const char* description;
};

// The files of a dataset, those with rows first, in the order in which the dataset card has them.
// Everything that lists a dataset's files asks here.
const std::vector<DatasetFile>& DatasetFiles();

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_OUTPUT_DATASET_FILES_H_
