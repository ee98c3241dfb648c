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

// Judges a change by its texts and its commit's message.
//
// The basic idea: the first of these that speaks decides. A revert, by the message. The texts: only
// comments, layout or a name differ (refactoring), or only the lines above the function and the
// numbers in it (tuning). The label at the head of the subject ("[Fix]", "perf:"). The words of the
// subject, and then of the whole message; of several kinds that which has more words, and of equals
// the first of fix, speed, tuning, refactoring and feature.
ChangeKind JudgeKind(absl::string_view message, const v1::Kernel& before, const v1::Kernel& after);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_KINDS_H_
