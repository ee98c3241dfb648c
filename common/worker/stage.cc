#include "common/worker/stage.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

// A stage's result is kept in REAPI's action cache, so that any REAPI server can be the store. The
// digest of the serialized Action is its key. The StageResult is in stdout_raw; its outputs are
// listed once more as output files, because a server that checks whether a result is complete looks
// there.
namespace kernelmill::worker {
namespace {

// The index makes the path unique if outputs share a name.
std::string OutputPath(const v1::StageResult& result, int i) {
  return absl::StrCat(result.outputs(i).name(), "#", i);
}

}  // namespace

std::vector<cas::Digest> InputsNamed(const v1::Action& action, absl::string_view name) {
  std::vector<cas::Digest> digests;
  for (const v1::NamedDigest& input : action.inputs()) {
    if (input.name() == name) digests.push_back(input.digest());
  }
  return digests;
}

// INVALID_ARGUMENT: the coordinator made a wrong action; trying again does not help.
absl::StatusOr<cas::Digest> InputNamed(const v1::Action& action, absl::string_view name) {
  const std::vector<cas::Digest> digests = InputsNamed(action, name);
  if (digests.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(action.stage(), " needs one input '", name, "', not ", digests.size()));
  }
  return digests.front();
}

void AddOutput(v1::StageResult& result, absl::string_view name, const cas::Digest& digest,
               int64_t items) {
  v1::NamedDigest* output = result.add_outputs();
  output->set_name(std::string(name));
  *output->mutable_digest() = digest;
  output->set_items(items);
}

// Keeps the counters sorted by name, each once, so that equal results have equal bytes. A counter
// of 0 is left out.
void AddCounter(v1::StageResult& result, absl::string_view name, int64_t value) {
  if (value == 0) return;
  auto& counters = *result.mutable_counters();
  auto at = std::lower_bound(
      counters.begin(), counters.end(), name,
      [](const v1::Counter& counter, absl::string_view n) { return counter.name() < n; });
  if (at != counters.end() && at->name() == name) {
    at->set_value(at->value() + value);
    return;
  }
  const auto index = at - counters.begin();
  v1::Counter* added = counters.Add();
  added->set_name(std::string(name));
  added->set_value(value);
  std::rotate(counters.begin() + index, counters.end() - 1, counters.end());
}

cas::Digest ActionDigest(const v1::Action& action) {
  return cas::ComputeDigest(cas::SerializeDeterministically(action));
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

// DATA_LOSS: another program wrote the entry, or it is damaged. Callers run the stage again.
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
  if (!good) return absl::DataLossError("the entry of the action cache is not a stage result");
  return result;
}

}  // namespace kernelmill::worker
