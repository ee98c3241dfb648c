#ifndef KERNELMILL_DATASET_TRAINING_CHANGE_MESSAGE_H_
#define KERNELMILL_DATASET_TRAINING_CHANGE_MESSAGE_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// The part of a commit's message that is about its change.
struct ChangeMessage {
  std::string subject;
  std::string details;  // paragraphs of prose and code, a blank line between two; or empty
};

// Reads a message without what it says of anything else: numbers of requests and issues, trailers,
// links, boxes to tick, tables, comments of forms, sections about tests and benchmarks, and the
// subjects of other commits that were squashed into this one.
ChangeMessage ReadChangeMessage(absl::string_view message);

// Returns the words of a text that say what it is about, in lower case. Names are cut at
// underscores. Words that say as much of any commit are left out: fix, update, kernel, the.
std::set<std::string> FindTopicWords(absl::string_view text);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_CHANGE_MESSAGE_H_
