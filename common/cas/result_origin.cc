#include "common/cas/result_origin.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

// REAPI's ActionResult has no field for the stage that made it, so it is in stderr_raw, which our
// results do not use otherwise: "stage NAME VERSION". The name of the worker has a field of its
// own.
namespace kernelmill::cas {
namespace {

constexpr char kWord[] = "stage";
constexpr size_t kMaxLine = 256;

}  // namespace

void SetStage(const std::string& stage, int32_t version,
              build::bazel::remote::execution::v2::ActionResult* result) {
  result->set_stderr_raw(absl::StrCat(kWord, " ", stage, " ", version));
}

void SetWorker(const std::string& worker,
               build::bazel::remote::execution::v2::ActionResult* result) {
  result->mutable_execution_metadata()->set_worker(worker);
}

// Returns an origin without a stage if another program wrote the result: that is not an error.
ResultOrigin ReadOrigin(const build::bazel::remote::execution::v2::ActionResult& result) {
  ResultOrigin origin;
  origin.worker = result.execution_metadata().worker();
  if (result.stderr_raw().size() > kMaxLine) return origin;  // written by another program
  const std::vector<absl::string_view> words = absl::StrSplit(result.stderr_raw(), ' ');
  int32_t version = 0;
  if (words.size() != 3 || words[0] != kWord || !absl::SimpleAtoi(words[2], &version)) {
    return origin;
  }
  origin.stage = std::string(words[1]);
  origin.version = version;
  return origin;
}

}  // namespace kernelmill::cas
