#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_KINDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_KINDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// The purpose of a change, and the words or the rule that say so.
struct ChangeKind {
  std::string kind;  // as HistoryRow.kind
  std::vector<std::string> evidence;
};

// Judges a change by its texts and its commit's message. `is_new`: a new kernel that the commit
// makes from one that stays.
//
// The basic idea: the first of these that speaks decides. A revert, by the message. The texts: only
// comments, layout or a name differ (refactoring), or only the configurations above the function
// (tuning). The label at the head of the subject ("[Fix]", "perf:"). The words of the subject; of
// several kinds that which has more words, and of equals the first of fix, tuning, speed,
// refactoring and feature. New parameters. The words of the first paragraph. Then the difference
// itself: a new kernel, parameters, branches and only more of it are a feature, only less is
// refactoring, and a few masks, casts and bounds are a fix.
ChangeKind JudgeKind(absl::string_view message, const v1::Kernel& before, const v1::Kernel& after,
                     bool is_new = false);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_KINDS_H_
