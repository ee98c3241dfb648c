#ifndef KERNELMILL_DATASET_TRAINING_HOST_CODE_H_
#define KERNELMILL_DATASET_TRAINING_HOST_CODE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// The parts of a launcher that a question shows, so that the launcher can be written without its
// file.
struct HostCode {
  // The first function's decorators, signature and docstring; empty if the launcher is statements.
  std::string head;
  // The function has a parameter beside self and cls. Without one, the launcher makes its own data,
  // which cannot be guessed.
  bool has_parameters = false;
  // Names that the launcher reads and that neither it, its head, Python nor the module defines;
  // sorted. A member of such a name has its dots, except members of well-known packages; members of
  // self, cls and ctx are names too, and launched kernels are not.
  std::vector<std::string> names;
  // The kernels from elsewhere that it launches, NAME[...](...), as dotted names; sorted.
  std::vector<std::string> launched;
};

// Reads a launcher in Python, whose first line has no indentation. `module` is the text that the
// question shows; `kernel` is the name of the kernel. Returns nothing if either text has a syntax
// error. Thread-safe.
std::optional<HostCode> ReadHostCode(absl::string_view launcher, absl::string_view module,
                                     absl::string_view kernel);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_HOST_CODE_H_
