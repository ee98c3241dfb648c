#ifndef KERNELMILL_COMMON_JOB_REVIEW_LIST_H_
#define KERNELMILL_COMMON_JOB_REVIEW_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// The flags that rows are reviewed for (Review.flag).
inline constexpr char kFlagWordOverlap[] = "word_overlap";
inline constexpr char kFlagPair[] = "pair";
inline constexpr char kFlagLicense[] = "license";

// The decisions that a job may have.
inline constexpr size_t kMaxReviews = 100'000;

// What begins a KernelReference.id that is the hash of a kernel's source: such a reference holds of
// any commit that has the same text.
inline constexpr char kSha256Prefix[] = "sha256:";

// INVALID_ARGUMENT, naming `where`, unless it names a kernel: by an id, which is a record's or
// "sha256:" and the hash of its source in 64 hexadecimal digits, or by path and name or line.
absl::Status CheckReference(const std::string& where, const v1::KernelReference& kernel);

// INVALID_ARGUMENT, naming `where`, unless the decision is of one kernel, or of one pair and
// flagged as such, and says who decided what when, and why where it rejects.
absl::Status CheckReview(const std::string& where, const v1::Review& review);

// What the decision is on, as a text that is equal for two decisions on the same.
std::string ReviewKey(const v1::Review& review);

// Reads decisions as ReviewLine writes them, a JSON object a line; blank lines and other keys are
// passed over. Of several decisions on the same the last holds, at the place of the first: a file
// of decisions only ever grows.
//
// INVALID_ARGUMENT, by FileError: a line that is none; more decisions than a job may have.
absl::StatusOr<std::vector<v1::Review>> ParseReviewList(absl::string_view text,
                                                        const std::string& path);

// The decisions of the file at `path`. Errors: as ParseReviewList, and as ReadFile.
absl::StatusOr<std::vector<v1::Review>> ReadReviewList(const std::string& path);

// The decision as a line of such a file, with its newline.
std::string ReviewLine(const v1::Review& review);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_REVIEW_LIST_H_
