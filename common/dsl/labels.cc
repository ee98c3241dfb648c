// The validator's rules give these words (kind.cc, target.cc); tests hold both sides together.
#include "common/dsl/labels.h"

namespace kernelmill::dsl {

const std::vector<absl::string_view>& KernelKinds() {
  static const auto* const kinds = new std::vector<absl::string_view>{
      "operation", "helper", "test", "example", "benchmark", "broken", "generated"};
  return *kinds;
}

const std::vector<absl::string_view>& KernelTargets() {
  static const auto* const targets = new std::vector<absl::string_view>{
      "generic",   "nvidia",   "amd",      "intel", "tpu",   "arm",     "ascend",     "cambricon",
      "kunlunxin", "mthreads", "iluvatar", "metax", "hygon", "enflame", "tsingmicro", "aipu"};
  return *targets;
}

}  // namespace kernelmill::dsl
