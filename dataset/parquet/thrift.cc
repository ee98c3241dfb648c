#include "dataset/parquet/thrift.h"

namespace kernelmill::dataset {
namespace {

// Small numbers of either sign become small: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

}  // namespace

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

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
