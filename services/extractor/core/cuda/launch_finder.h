#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LAUNCH_FINDER_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LAUNCH_FINDER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/launch_macros.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Collects what a text launches, for FindFunctions, which reads the text from the front to the end.
class LaunchFinder {
 public:
  // All but `macros` must outlive it. Launches, and the functions that they are in, go into
  // `findings`. Macros of the text are known without.
  LaunchFinder(const Code& code, const Brackets& brackets, LaunchMacros macros, Findings* findings);

  // The body of an outermost function begins, and ends.
  void EnterHost(Function host);
  void LeaveHost();

  // The token at `at` is `<<<`.
  void AddLaunch(uint32_t at);
  // In a body: the word at `at` stands before '=', before '(', or is `return`.
  void AddValue(uint32_t at) { values_[code_[at]].push_back(at + 2); }
  void AddCall(uint32_t at);
  void AddReturn(uint32_t at) { AddReturned(ReturnedName(code_, at)); }

  // At the end of the text: what functions return that launched names were given.
  void FollowReturned();

 private:
  void AddReturned(absl::string_view name);
  void Launched(absl::string_view name, uint32_t first, uint32_t last);
  uint32_t HostIndex();

  const Code& code_;
  const Brackets& brackets_;
  LaunchMacros macros_;
  Findings& findings_;
  bool in_host_ = false;
  Function host_;  // whose body is the outermost
  uint32_t host_index_ = kNoToken;
  uint32_t given_left_;  // words of values that count as launched, in all
  absl::flat_hash_map<std::string, std::set<std::string>> returned_;  // by a function's name
  // Where values begin that the outermost body gives its names.
  absl::flat_hash_map<absl::string_view, std::vector<uint32_t>> values_;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LAUNCH_FINDER_H_
