#ifndef KERNELMILL_CLIENT_REVIEW_REVIEW_FILE_H_
#define KERNELMILL_CLIENT_REVIEW_REVIEW_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/review/flagged_items.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {

// The file of a person's decisions, which a job names under `reviews`. It only ever grows: a
// decision that is changed is written again, and the last one holds. Not thread-safe; several
// processes may write to one file.
class ReviewFile {
 public:
  // A file that is not there is one without decisions. Errors as job::ReadReviewList.
  static absl::StatusOr<ReviewFile> Open(const std::string& path);

  // What the file has on the item, however it refers to the item's kernels; null: nothing.
  const v1::Review* Find(const FlaggedItem& item) const;

  // Appends the decision and waits until the disk has it.
  absl::Status Add(const v1::Review& review);

 private:
  std::string path_;
  std::vector<v1::Review> reviews_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_REVIEW_REVIEW_FILE_H_
