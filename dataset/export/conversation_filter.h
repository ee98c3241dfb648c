#ifndef KERNELMILL_DATASET_EXPORT_CONVERSATION_FILTER_H_
#define KERNELMILL_DATASET_EXPORT_CONVERSATION_FILTER_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "dataset/export/report.h"
#include "dataset/training/conversations.h"

namespace kernelmill::dataset {

// A row of instruct.jsonl: its template, and what its question and its answer are known by, which
// does not depend on white space.
struct InstructKey {
  absl::string_view template_name;
  uint64_t question = 0;
  uint64_t answer = 0;
};

InstructKey MakeInstructKey(const Conversation& conversation);

// Returns the tokens (cl100k_base) of all messages.
int64_t CountTokens(const Conversation& conversation);

// Decides which conversations are rows of instruct.jsonl, and counts them. No question has two
// answers, and no answer two questions: only the first is a row. Not thread-safe.
class ConversationFilter {
 public:
  // Says whether the next conversation, in the order of the rows, is one.
  bool Add(const InstructKey& key);
  void Count(const NotAsked& one);

  const InstructCounts& counts() const { return counts_; }

 private:
  absl::flat_hash_set<uint64_t> questions_;
  absl::flat_hash_set<uint64_t> answers_;
  InstructCounts counts_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_CONVERSATION_FILTER_H_
