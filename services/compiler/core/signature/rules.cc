#include "services/compiler/core/signature/rules.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"

namespace kernelmill::compiler {

Certainty CertaintyOf(absl::string_view rule) {
  static constexpr absl::string_view kRead[] = {"inductor", "annotation", "launch:none",
                                                "autotune", "heuristics", "launch"};
  static constexpr absl::string_view kTold[] = {
      "usage:bitcast", "usage:made_pointer", "usage:bitwise",  "usage:offset",   "usage:range",
      "usage:divides", "usage:shape",        "usage:cdiv",     "usage:random",   "usage:mask",
      "usage:atomic",  "usage:alternative",  "usage:math",     "usage:asserted", "usage:dot_scaled",
      "usage:dot",     "launch:type",        "launch:present", "default",        "unit_stride"};
  const auto is = [&](absl::string_view one) { return one == rule; };
  if (std::any_of(std::begin(kRead), std::end(kRead), is)) return Certainty::kRead;
  if (std::any_of(std::begin(kTold), std::end(kTold), is)) return Certainty::kTold;
  return Certainty::kGuessed;
}

bool HasSmallSizes(const v1::KernelSignature& signature) {
  return std::any_of(
      signature.constexprs().begin(), signature.constexprs().end(),
      [](const v1::ConstexprValue& value) { return absl::EndsWith(value.rule(), ":small"); });
}

}  // namespace kernelmill::compiler
