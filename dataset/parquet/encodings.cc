#include "dataset/parquet/encodings.h"

#include <algorithm>
#include <cstddef>

// Two encodings of Parquet: the hybrid of runs and bit-packed groups for levels and numbers of a
// dictionary, and Thrift's compact protocol for headers and the footer.
//
//   hybrid := (run | packed)*
//   run    := varint(count << 1) value             in whole bytes, little-endian
//   packed := varint(groups << 1 | 1) bits         8 numbers a group, the first in the lowest bits
namespace kernelmill::dataset {
namespace {

constexpr size_t kGroup = 8;  // numbers that are packed together

void AppendRun(uint32_t number, size_t count, int width, std::string* out) {
  AppendVarint(count << 1, out);
  for (int bits = 0; bits < width; bits += 8) out->push_back(static_cast<char>(number >> bits));
}

// Collects bits in a 64-bit word and takes whole bytes off it. A width of at most 32 keeps it from
// overflowing.
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

// Writes equal neighbours as a run if at least 8 of them are left after the group before is whole;
// everything else is packed. One pass.
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
namespace {

// Small numbers of either sign become small: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

}  // namespace

// Seven bits a byte, the lowest first; the highest bit of a byte says that another one follows.
void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// A field's id is written as the difference to the one before in the same struct, if that fits in
// four bits. last_ has an entry for each open struct.
void ThriftWriter::Header(int id, Type type) {
  const int delta = id - last_.back();
  if (delta > 0 && delta <= 15) {
    out_.push_back(static_cast<char>(delta << 4 | type));
  } else {
    out_.push_back(static_cast<char>(type));
    AppendVarint(ZigZag(id), &out_);
  }
  last_.back() = id;
}

// A boolean field has its value in the type and no bytes after it.
void ThriftWriter::Bool(int id, bool value) { Header(id, value ? kTrue : kFalse); }

void ThriftWriter::Byte(int id, int8_t value) {
  Header(id, kByte);
  out_.push_back(static_cast<char>(value));
}

void ThriftWriter::Integer(int id, Type type, int64_t value) {
  Header(id, type);
  AppendVarint(ZigZag(value), &out_);
}

void ThriftWriter::Binary(int id, absl::string_view value) {
  Header(id, kBinary);
  BinaryElement(value);
}

void ThriftWriter::BeginStruct(int id) {
  Header(id, kStruct);
  BeginStruct();
}

void ThriftWriter::BeginStruct() { last_.push_back(0); }

void ThriftWriter::End() {
  out_.push_back(0);
  last_.pop_back();
}

// Lists of fewer than 15 elements have their size in the byte of the type.
void ThriftWriter::BeginList(int id, Type type, size_t size) {
  Header(id, kList);
  if (size < 15) {
    out_.push_back(static_cast<char>(size << 4 | type));
  } else {
    out_.push_back(static_cast<char>(0xf0 | type));
    AppendVarint(size, &out_);
  }
}

void ThriftWriter::I32Element(int32_t value) { AppendVarint(ZigZag(value), &out_); }

void ThriftWriter::BinaryElement(absl::string_view value) {
  AppendVarint(value.size(), &out_);
  out_.append(value.data(), value.size());
}

}  // namespace kernelmill::dataset
