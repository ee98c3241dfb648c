#ifndef KERNELMILL_DATASET_TRAINING_TOPIC_WORDS_H_
#define KERNELMILL_DATASET_TRAINING_TOPIC_WORDS_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// Returns the words of a text that say what it is about, in lower case. Names are cut at
// underscores. Words that say as much of any commit are left out: fix, update, kernel, the.
std::set<std::string> FindTopicWords(absl::string_view text);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_TOPIC_WORDS_H_
