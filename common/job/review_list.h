#ifndef KERNELMILL_COMMON_JOB_REVIEW_LIST_H_
#define KERNELMILL_COMMON_JOB_REVIEW_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// The flags for which rows are reviewed (Review.flag).
inline constexpr char kFlagWordOverlap[] = "word_overlap";
inline constexpr char kFlagPair[] = "pair";
inline constexpr char kFlagLicense[] = "license";

// The most decisions that a job may have.
inline constexpr size_t kMaxReviews = 100'000;

// The prefix of a KernelReference.id that is the hash of a kernel's source. Such a reference fits
// the kernel at every commit that has the same text.
inline constexpr char kSha256Prefix[] = "sha256:";

// Checks that the reference names a kernel: by an id, which is a record's or "sha256:" and the 64
// hexadecimal digits of its source's hash, or by path and name or line. INVALID_ARGUMENT begins
// with `where`.
absl::Status CheckReference(const std::string& where, const v1::KernelReference& kernel);

// Checks that the decision is about one kernel or one pair, is flagged as such, and says who
// decided what and when, and why if it rejects. INVALID_ARGUMENT begins with `where`.
absl::Status CheckReview(const std::string& where, const v1::Review& review);

// Returns a key that is equal for two decisions about the same rows and flag.
std::string ReviewKey(const v1::Review& review);

// Reads decisions as ReviewLine writes them, a JSON object a line. Blank lines and other keys are
// ignored. If several decisions have the same key, the last one wins and takes the place of the
// first: a file of decisions only ever grows.
//
// INVALID_ARGUMENT (FileError): a line that is not a decision; more decisions than a job may have.
absl::StatusOr<std::vector<v1::Review>> ParseReviewList(absl::string_view text,
                                                        const std::string& path);

// Reads the file at `path`. Errors: as ParseReviewList and ReadFile.
absl::StatusOr<std::vector<v1::Review>> ReadReviewList(const std::string& path);

// Returns the decision as a line of such a file, with its newline.
std::string ReviewLine(const v1::Review& review);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_REVIEW_LIST_H_
