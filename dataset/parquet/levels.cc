#include "dataset/parquet/levels.h"

#include <algorithm>
#include <cstddef>

#include "dataset/parquet/thrift.h"

namespace kernelmill::dataset {
namespace {

constexpr size_t kGroup = 8;  // numbers that are packed together

void AppendRun(uint32_t number, size_t count, int width, std::string* out) {
  AppendVarint(count << 1, out);
  for (int bits = 0; bits < width; bits += 8) out->push_back(static_cast<char>(number >> bits));
}

template <typename T>
void AppendPacked(absl::Span<const T> numbers, int width, std::string* out) {
  if (numbers.empty()) return;
  const size_t groups = (numbers.size() + kGroup - 1) / kGroup;
  AppendVarint(groups << 1 | 1, out);
  uint64_t bits = 0;
  int held = 0;
  for (size_t i = 0; i < groups * kGroup; ++i) {
    const uint64_t number = i < numbers.size() ? numbers[i] : 0;
    bits |= number << held;
    for (held += width; held >= 8; held -= 8, bits >>= 8) out->push_back(static_cast<char>(bits));
  }
}

template <typename T>
void Append(absl::Span<const T> numbers, int width, std::string* out) {
  size_t packed = 0;  // from here on numbers wait to be packed
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    // Groups are whole before a run begins: the run gives what they lack.
    const size_t start = i + (kGroup - (i - packed) % kGroup) % kGroup;
    if (end >= start + kGroup) {
      AppendPacked(numbers.subspan(packed, start - packed), width, out);
      AppendRun(numbers[i], end - start, width, out);
      packed = end;
    }
    i = end;
  }
  AppendPacked(numbers.subspan(packed), width, out);
}

}  // namespace

int BitWidth(uint32_t highest) {
  int width = 0;
  for (; highest != 0; highest >>= 1) ++width;
  return width;
}

void AppendHybrid(absl::Span<const uint32_t> numbers, int width, std::string* out) {
  Append(numbers, width, out);
}

void AppendHybrid(absl::Span<const uint8_t> numbers, int width, std::string* out) {
  Append(numbers, width, out);
}

}  // namespace kernelmill::dataset
