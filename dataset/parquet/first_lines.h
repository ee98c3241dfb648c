#ifndef KERNELMILL_DATASET_PARQUET_FIRST_LINES_H_
#define KERNELMILL_DATASET_PARQUET_FIRST_LINES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// Finds the lines that must come first in a file of JSON lines, so that a reader which guesses
// types by the beginning of the file guesses those of all rows.
//
// The basic idea: polars guesses by 100 lines, pyarrow by 1 MiB and `datasets` by less, and each
// fails at a later line that has something in a field which was null or an empty list until then.
// If the beginning lacks such a field, then for each field, the rarest first, the smallest line
// that has it goes to the front, unless a line there has the field already. A dozen lines of
// 100,000 kernels are enough. Not thread-safe.
class FirstLines {
 public:
  // A line by its number from 0 and its place in the file.
  struct Line {
    int64_t number = 0;
    int64_t offset = 0;
    int64_t size = 0;
  };

  // By these bounds the beginning of a file shows its types as it is.
  static constexpr int64_t kLines = 100;
  static constexpr int64_t kBytes = 256 << 10;

  // Adds the next line of the file, of `size` bytes.
  void Add(const FilledFields& filled, int64_t size);

  // Returns the lines that must come first, in the file's order; usually none.
  std::vector<Line> Choose() const;

  int64_t lines() const { return lines_; }
  int64_t bytes() const { return bytes_; }

 private:
  // Facts about a field.
  struct Seen {
    int64_t lines = 0;         // how many have it
    bool early = false;        // one of the beginning has it
    Line smallest = {};        // the first of the smallest ones that have it
    FilledFields filled = {};  // the fields of that line
  };

  std::array<Seen, kMostFilledBits> fields_ = {};
  int64_t lines_ = 0;
  int64_t bytes_ = 0;
};

// The place of a row's line, counted from 0, once the lines `first`, sorted, are in front.
int64_t LineOfRow(const std::vector<int64_t>& first, int64_t row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_FIRST_LINES_H_
