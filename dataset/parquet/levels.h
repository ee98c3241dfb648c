#ifndef KERNELMILL_DATASET_PARQUET_LEVELS_H_
#define KERNELMILL_DATASET_PARQUET_LEVELS_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace kernelmill::dataset {

// The bits that a number from 0 to `highest` needs.
int BitWidth(uint32_t highest);

// Appends numbers of `width` bits, 1 to 32, in Parquet's RLE/bit-packed hybrid: runs of eight and
// more equal ones as a count and the number, what is between these in groups of eight, packed. A
// group that the last numbers do not fill is filled with zeros.
void AppendHybrid(absl::Span<const uint32_t> numbers, int width, std::string* out);
void AppendHybrid(absl::Span<const uint8_t> numbers, int width, std::string* out);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_LEVELS_H_
