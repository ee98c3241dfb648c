#include "dataset/export/kernel_files.h"

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/job/csv.h"
#include "dataset/output/output_dir.h"

namespace kernelmill::dataset {
namespace {

constexpr std::array<const char*, kKernelFileCount> kNames = {
    kKernelsFile, kFimRowsFile, kFimFile, kInstructFile, kFunctionsFile, kWholeFilesFile, kIrFile};

}  // namespace

absl::StatusOr<KernelFiles> KernelFiles::Create(const std::string& dir) {
  std::vector<FileWriter> writers;
  for (const char* name : kNames) {
    ASSIGN_OR_RETURN(FileWriter writer, FileWriter::Create(absl::StrCat(dir, "/", name)));
    writers.push_back(std::move(writer));
  }
  KernelFiles files(std::move(writers));
  RETURN_IF_ERROR(files.files_[kFimCsv].Append(
      job::CsvRow({"prompt", "completion", "id", "license", "weight", "category", "split"})));
  RETURN_IF_ERROR(files.files_[kFunctionRows].Append("["));
  return files;
}

absl::Status KernelFiles::Append(KernelFile file, absl::string_view text) {
  if (text.empty()) return absl::OkStatus();
  if (file == kFunctionRows) {
    RETURN_IF_ERROR(files_[file].Append(std::exchange(first_function_, false) ? "\n" : ",\n"));
  }
  return files_[file].Append(text);
}

absl::Status KernelFiles::Close() {
  RETURN_IF_ERROR(files_[kFunctionRows].Append(first_function_ ? "]\n" : "\n]\n"));
  for (FileWriter& file : files_) RETURN_IF_ERROR(file.Close());
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
