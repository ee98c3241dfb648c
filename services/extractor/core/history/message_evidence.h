#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MESSAGE_EVIDENCE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MESSAGE_EVIDENCE_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

constexpr char kFix[] = "fix", kSpeed[] = "speed", kTuning[] = "tuning",
               kRefactoring[] = "refactoring", kFeature[] = "feature", kRevert[] = "revert",
               kUnknown[] = "unknown";
// The kinds that evidence speaks for. If two have equal points, the first one counts.
constexpr std::array<const char*, 5> kKinds = {kFix, kTuning, kSpeed, kRefactoring, kFeature};

// Words that speak for a kind.
struct Said {
  // "label" at the head of the subject, its "first" word, any of the "subject", "vague first" and
  // "vague subject" for words that say less, "addition" for words such as "Add", "body" for the
  // first paragraph, and "body alone" if the subject says nothing.
  absl::string_view place;
  size_t kind = 0;                 // its place in kKinds
  std::vector<std::string> words;  // as written
};

// The evidence in a commit's message.
struct MessageEvidence {
  std::string revert;  // the subject, if the commit undoes another
  std::vector<Said> said;
};

MessageEvidence ReadMessage(absl::string_view message);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MESSAGE_EVIDENCE_H_
