#include "services/extractor/core/describe/memory_calls.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"

namespace kernelmill::extractor {

bool Accesses(absl::string_view function) {
  const absl::string_view stem = function.substr(0, function.find('_'));
  if (stem == "ld" || stem == "st") return true;
  return function == "load" || function == "store" || absl::EndsWith(function, "_load") ||
         absl::EndsWith(function, "_store") || absl::StrContains(function, "atomic_") ||
         absl::StartsWith(function, "async_copy") || absl::EndsWith(function, "load_to_shared");
}

bool MakesDescriptor(absl::string_view function) {
  return function == "make_block_ptr" || absl::EndsWith(function, "make_tensor_descriptor");
}

bool HandsOn(absl::string_view function) {
  static constexpr absl::string_view kNames[] = {
      "advance",       "broadcast_to",   "cast",       "make_block_ptr",
      "max_constancy", "max_contiguous", "multiple_of"};
  return std::find(std::begin(kNames), std::end(kNames), function) != std::end(kNames);
}

bool IsView(absl::string_view method) {
  static constexpr absl::string_view kNames[] = {
      "_reinterpret", "advance", "bitcast", "broadcast_to", "cast", "expand_dims", "index",
      "permute",      "reshape", "slice",   "subslice",     "to",   "trans",       "view"};
  return std::find(std::begin(kNames), std::end(kNames), method) != std::end(kNames);
}

}  // namespace kernelmill::extractor
