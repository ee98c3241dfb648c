#ifndef KERNELMILL_DATASET_OUTPUT_LINES_H_
#define KERNELMILL_DATASET_OUTPUT_LINES_H_

#include <cstddef>
#include <istream>
#include <string>

#include "absl/status/statusor.h"

namespace kernelmill::dataset {

// The longest line of a dataset's files that is read. A row has a few texts of at most 8 MiB, of
// which JSON escapes a part.
inline constexpr size_t kMaxLineBytes = 256 << 20;

// Reads the next line, without its newline, into `line`. Returns false at the end of the file.
// INVALID_ARGUMENT: the line has more than `most` bytes; memory never holds much more than these.
// DATA_LOSS: the file cannot be read.
absl::StatusOr<bool> ReadLine(std::istream& file, std::string* line, size_t most = kMaxLineBytes);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_OUTPUT_LINES_H_
