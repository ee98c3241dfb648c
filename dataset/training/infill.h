#ifndef KERNELMILL_DATASET_TRAINING_INFILL_H_
#define KERNELMILL_DATASET_TRAINING_INFILL_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/manifest/fim.h"

namespace kernelmill::dataset {

// A text in three parts; a model is to fill in the middle one. Joined they are prompt and
// completion. They have no model's own tokens: a recipe sets these.
struct Infill {
  std::string prefix;
  std::string middle;  // not empty, except for an empty completion
  std::string suffix;  // empty if the middle ends the completion
};

// Cuts a run of whole lines out of the completion, from the beginning of one statement to that of
// another, including nested statements. A comment directly above a statement belongs to it. `sha1`,
// the pair's identity, draws the run, so that it is the same in every dataset.
Infill CutInfill(const manifest::FimPair& pair, absl::string_view sha1);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_INFILL_H_
