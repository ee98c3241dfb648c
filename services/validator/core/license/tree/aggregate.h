#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_AGGREGATE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_AGGREGATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::validator {

// What an aggregate says of one lot of others' code.
struct AggregatePart {
  std::string title;               // its heading's words: "LICENSE FOR Microsoft Deepspeed"
  std::vector<std::string> paths;  // lines that are paths: "3rdparty/spdlog"
  absl::string_view text;          // below the heading, up to the next
};

// A licence file that holds, after the licence of the source itself, those of others' code.
struct Aggregate {
  size_t main_bytes = 0;  // of the text, which are about the source itself
  int line = 0;           // of the sign, from 1
  std::string sign;       // the words that say so
  std::vector<AggregatePart> parts;
};

// Cuts a licence file at the first sign that what follows is of others' code only:
//   a heading     "---- LICENSE FOR X ----", "THIRD PARTY NOTICES" beside or between rules
//   a sentence    "This repository also contains code from ...", "Some of the code is derived from
//                 others", "bundles third-party components" (kSentences in aggregate.cc has all)
// Nothing if there is no sign, or nothing but blanks before it. `rest` is the text with blanks in
// place of the licence texts in it, so that words of these are no signs. At most 64 parts and 256
// paths of each. Linear.
std::optional<Aggregate> SplitAggregate(absl::string_view text, absl::string_view rest);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_AGGREGATE_H_
