#include "common/worker/action_codec.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::worker {
namespace {

std::string OutputPath(const v1::StageResult& result, int i) {
  return absl::StrCat(result.outputs(i).name(), "#", i);
}

}  // namespace

cas::Digest ActionDigest(const v1::Action& action) {
  return cas::DigestOf(cas::SerializeDeterministically(action));
}

cas::ActionResult EncodeResult(const v1::StageResult& result) {
  cas::ActionResult encoded;
  for (int i = 0; i < result.outputs_size(); ++i) {
    auto* file = encoded.add_output_files();
    file->set_path(OutputPath(result, i));
    *file->mutable_digest() = result.outputs(i).digest();
  }
  encoded.set_stdout_raw(cas::SerializeDeterministically(result));
  return encoded;
}

absl::StatusOr<v1::StageResult> DecodeResult(const cas::ActionResult& encoded) {
  v1::StageResult result;
  bool good = encoded.exit_code() == 0 && !encoded.stdout_raw().empty() &&
              result.ParseFromString(encoded.stdout_raw()) &&
              result.outputs_size() == encoded.output_files_size();
  for (int i = 0; good && i < result.outputs_size(); ++i) {
    const auto& file = encoded.output_files(i);
    good = file.path() == OutputPath(result, i) &&
           cas::SameDigest(file.digest(), result.outputs(i).digest());
  }
  if (!good) return absl::DataLossError("the action cache holds something else than a result");
  return result;
}

}  // namespace kernelmill::worker
