#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_AUTOTUNE_TEXT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_AUTOTUNE_TEXT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// What a module has in place of an autotuner that it cannot have: triton.autotune(configs=[...],
// key=[...]) with the configurations that are known, literally. Without them the kernel's
// meta-parameters would have no value at all; so this is nearer to what the repository runs than a
// kernel without an autotuner. `original` is the decorator's text: reset_to_zero and restore_value,
// which decide what the kernel computes while it is tuned, come from it where they are literal;
// what else it is given says how to measure, prune or cache, and does not come. Nothing where the
// configurations or the key are not known, or triton.Config does not know an option of theirs, or
// it all is long.
std::optional<std::string> AutotuneText(const v1::Autotune& autotune, absl::string_view original);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_AUTOTUNE_TEXT_H_
