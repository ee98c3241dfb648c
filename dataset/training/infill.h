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
  std::string middle;  // never empty where the completion is not
  std::string suffix;  // empty where the middle is the last of it
};

// Cuts a run of whole lines out of the completion, from the beginning of one statement to that of
// another, nested ones too; a comment right above a statement goes with it. Which run is drawn by
// `sha1`, the pair's identity, so that it is the same in every dataset.
Infill CutInfill(const manifest::FimPair& pair, absl::string_view sha1);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_INFILL_H_
