// The validator's rules give these words (kind.cc, target.cc); tests hold both sides together.
#include "common/dsl/labels.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kernelmill::dsl {

const std::vector<absl::string_view>& KernelKinds() {
  static const auto* const kinds = new std::vector<absl::string_view>{
      "operation", "helper", "test", "example", "benchmark", "broken", "generated"};
  return *kinds;
}

const std::vector<absl::string_view>& KernelTargets() {
  static const auto* const targets = new std::vector<absl::string_view>{
      "generic",    "nvidia",    "amd",       "intel",    "tpu",      "aws",   "apple", "arm",
      "ascend",     "cambricon", "kunlunxin", "mthreads", "iluvatar", "metax", "hygon", "enflame",
      "tsingmicro", "aipu",      "thead",     "sunrise",  "spacemit", "biren", "other"};
  return *targets;
}

std::string HardwareName(absl::string_view target) {
  static constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"nvidia", "NVIDIA GPUs"},
      {"amd", "AMD GPUs"},
      {"intel", "Intel GPUs"},
      {"tpu", "TPUs"},
      {"aws", "AWS Trainium"},
      {"apple", "Apple GPUs"},
      {"arm", "Arm CPUs"},
      {"ascend", "Ascend NPUs"},
      {"cambricon", "Cambricon MLUs"},
      {"kunlunxin", "Kunlunxin XPUs"},
      {"mthreads", "Moore Threads GPUs"},
      {"thead", "T-Head PPUs"},
      {"other", "another vendor's hardware"}};
  if (target.empty() || target == KernelTargets().front()) return "";
  for (const auto& [word, name] : kNames) {
    if (word == target) return std::string(name);
  }
  return absl::StrCat(target, " hardware");
}

}  // namespace kernelmill::dsl
