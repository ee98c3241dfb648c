#include "common/worker/stage.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::worker {

std::vector<cas::Digest> InputsNamed(const v1::Action& action, absl::string_view name) {
  std::vector<cas::Digest> digests;
  for (const v1::NamedDigest& input : action.inputs()) {
    if (input.name() == name) digests.push_back(input.digest());
  }
  return digests;
}

absl::StatusOr<cas::Digest> InputNamed(const v1::Action& action, absl::string_view name) {
  const std::vector<cas::Digest> digests = InputsNamed(action, name);
  if (digests.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(action.stage(), " takes one input '", name, "', not ", digests.size()));
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

}  // namespace kernelmill::worker
