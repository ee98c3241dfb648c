#ifndef KERNELMILL_COMMON_TEXT_COMMIT_MESSAGE_H_
#define KERNELMILL_COMMON_TEXT_COMMIT_MESSAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill {

// The part of a commit's message that is about its change.
struct CommitMessage {
  std::string subject;  // a merge of a request has its title
  std::string details;  // paragraphs of prose and code, a blank line between two; or empty
};

// Reads a message without what it says of anything else: numbers of requests and issues, trailers,
// links, boxes to tick, tables, headings, comments and fields of forms, sections about tests and
// benchmarks, and the subjects of other commits that were squashed into this one.
CommitMessage ReadCommitMessage(absl::string_view message);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_TEXT_COMMIT_MESSAGE_H_
