#ifndef KERNELMILL_DATASET_OUTPUT_OUTPUT_DIR_H_
#define KERNELMILL_DATASET_OUTPUT_OUTPUT_DIR_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/file.h"

namespace kernelmill::dataset {

// The files that an output folder may have. It is replaced as a whole, so that a folder with any
// other file is refused.
struct OutputFolder {
  const char* name;
  const char* ending;  // the ending of its files, at any depth; "" for any
};
struct OutputLayout {
  absl::Span<const char* const> files;
  absl::Span<const OutputFolder> folders;
  const char* mark;  // a file that each has
  bool (*is_ours)(const std::string& mark);
  const char* foreign;  // the end of the error about another file in it
  const char* other;    // the error about a folder that has no file of ours
};
const OutputLayout& ExportLayout();

// Checks that an export may be written to `out_dir`: it does not exist, is empty, or is an earlier
// export without other files. FAILED_PRECONDITION: its content would be lost. PERMISSION_DENIED and
// others: the folder cannot be written.
absl::Status CheckOutputDir(const std::string& out_dir);

// A directory beside `out_dir`, on the same file system, that takes its place in one step when all
// is written. It has a fixed name and is locked while in use, so what a killed export left is found
// and removed by the next. Movable, not thread-safe.
class StagingDir {
 public:
  // FAILED_PRECONDITION: as CheckOutputDir, by the layout, which must live on; or another export to
  // `out_dir` is running.
  static absl::StatusOr<StagingDir> Create(const std::string& out_dir,
                                           const OutputLayout& layout = ExportLayout());
  StagingDir(StagingDir&& other) noexcept = default;
  StagingDir& operator=(StagingDir&&) = delete;
  // Removes the directory unless it was committed.
  ~StagingDir();

  const std::string& path() const { return path_; }

  // Syncs all that is in the directory and puts it in the place of out_dir. An earlier export there
  // is exchanged for it in one step where the file system can; otherwise there is a moment with
  // neither.
  absl::Status Commit();

 private:
  StagingDir(const OutputLayout& layout, std::string out_dir, std::string path,
             FileDescriptor folder)
      : layout_(&layout),
        out_dir_(std::move(out_dir)),
        path_(std::move(path)),
        folder_(std::move(folder)) {}
  absl::Status Replace();

  const OutputLayout* layout_;
  std::string out_dir_;
  std::string path_;
  FileDescriptor folder_;  // locked
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_OUTPUT_OUTPUT_DIR_H_
