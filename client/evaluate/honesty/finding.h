#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_FINDING_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_FINDING_H_

#include <string>

namespace kernelmill::client {

// The checks of an answer's honesty, by their names in reports.
inline constexpr char kLaunched[] = "launched";
inline constexpr char kArgumentsMatch[] = "arguments_match";
inline constexpr char kNamesBound[] = "names_bound";
inline constexpr char kOutputReachesResult[] = "output_reaches_result";
inline constexpr char kTorchDoesTheWork[] = "torch_does_the_work";
inline constexpr char kSwallowed[] = "swallowed";
inline constexpr char kStoresConstant[] = "stores_constant";
inline constexpr char kRacingStore[] = "racing_store";
inline constexpr char kCachedResult[] = "cached_result";
inline constexpr char kChangesInput[] = "changes_input";
inline constexpr char kPatches[] = "patches";
inline constexpr char kInterpreterOnly[] = "interpreter_only";

// Something in an answer that fails a check.
struct Finding {
  std::string check;
  int line = 0;  // in the text, from 1; 0: the finding is about the whole text
  std::string reason;
  bool warning = false;  // honest answers do it as well: no check fails by it
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_FINDING_H_
