#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_KINDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_KINDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// The purpose of a change, and the words and rules that say so.
struct ChangeKind {
  std::string kind;  // as HistoryRow.kind
  // Words of the message come first. If the evidence speaks for two kinds and for neither clearly,
  // each is "KIND: " and its words.
  std::vector<std::string> evidence;
};

// Judges a change by its texts and its commit's message. `is_new`: a new kernel that the commit
// makes from one that stays.
//
// The basic idea: two rules decide alone. The message says that the commit undoes another, or only
// comments, layout and names differ. Otherwise each thing that the difference or the message shows
// has points for kinds, in the tables of kinds.cc. The kind with the most points wins if it is
// clearly ahead of the next one, and more clearly if the message says nothing. Otherwise the kind
// is unknown.
ChangeKind JudgeKind(absl::string_view message, const v1::Kernel& before, const v1::Kernel& after,
                     bool is_new = false);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_KINDS_H_
