#include "dataset/parquet/encodings.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace kernelmill::dataset {
namespace {

std::string Hybrid(const std::vector<uint32_t>& numbers, int width) {
  std::string bytes;
  AppendHybrid(absl::MakeConstSpan(numbers), width, &bytes);
  return bytes;
}

TEST(Hybrid, ARunIsItsLengthAndTheNumber) {
  EXPECT_EQ(Hybrid(std::vector<uint32_t>(1000, 1), 1), "\xd0\x0f\x01");
  EXPECT_EQ(Hybrid(std::vector<uint32_t>(8, 0x0203), 10), "\x10\x03\x02");
}

TEST(Hybrid, OtherNumbersArePackedFromTheLowestBit) {
  // The example of Parquet's specification: 0 to 7 in three bits each.
  EXPECT_EQ(Hybrid({0, 1, 2, 3, 4, 5, 6, 7}, 3), "\x03\x88\xc6\xfa");
  EXPECT_EQ(Hybrid({1, 0, 1}, 1), "\x03\x05");  // the group is filled with zeros
}

TEST(Hybrid, ARunFillsTheGroupBeforeIt) {
  std::vector<uint32_t> numbers = {0};
  numbers.insert(numbers.end(), 20, 1);
  EXPECT_EQ(Hybrid(numbers, 1), "\x03\xfe\x1a\x01");  // seven of the twenty, then thirteen
}

TEST(Hybrid, NothingIsNothing) { EXPECT_EQ(Hybrid({}, 3), ""); }

TEST(BitWidth, IsOfTheHighestNumber) {
  EXPECT_EQ(BitWidth(0), 0);
  EXPECT_EQ(BitWidth(1), 1);
  EXPECT_EQ(BitWidth(4), 3);
  EXPECT_EQ(BitWidth(UINT32_MAX), 32);
}

// A reader, by the specification.
std::vector<uint32_t> Read(const std::string& bytes, size_t count, int width) {
  std::vector<uint32_t> numbers;
  size_t at = 0;
  while (at < bytes.size()) {
    uint64_t header = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = bytes[at++];
      header |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if ((header & 1) == 0) {
      uint32_t number = 0;
      for (int i = 0; i < (width + 7) / 8; ++i) {
        number |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at++])) << (8 * i);
      }
      numbers.insert(numbers.end(), header >> 1, number);
      continue;
    }
    for (uint64_t i = 0; i < (header >> 1) * 8; ++i) {
      uint32_t number = 0;
      for (int bit = 0; bit < width; ++bit) {
        const size_t place = i * width + bit;
        const uint32_t is_set = static_cast<uint8_t>(bytes[at + place / 8]) >> (place % 8) & 1;
        number |= is_set << bit;
      }
      numbers.push_back(number);
    }
    at += (header >> 1) * width;
  }
  numbers.resize(count);
  return numbers;
}

TEST(Hybrid, IsReadBackWhateverTheRuns) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const int width = 1 + static_cast<int>(random() % 32);
    std::vector<uint32_t> numbers;
    const int runs = static_cast<int>(random() % 6);
    for (int run = 0; run < runs; ++run) {
      const uint32_t number = random() & (UINT32_MAX >> (32 - width));
      numbers.insert(numbers.end(), 1 + random() % 20, number);
    }
    ASSERT_EQ(Read(Hybrid(numbers, width), numbers.size(), width), numbers) << width;
  }
}

}  // namespace
namespace {

// The bytes are those of Apache Thrift's own TCompactProtocol.
TEST(ThriftWriter, WritesFieldsByTheirDistanceAndNumbersZigZag) {
  std::string bytes;
  ThriftWriter out(&bytes);
  out.BeginStruct();
  out.I32(1, 2);
  out.I64(3, -300);
  out.Binary(4, "PAR");
  out.Bool(5, true);
  out.Bool(6, false);
  out.Byte(7, 64);
  out.End();
  EXPECT_EQ(bytes, std::string("\x15\x04\x26\xd7\x04\x18\x03PAR\x11\x12\x13\x40\x00", 15));
}

TEST(ThriftWriter, AnIdFarFromTheLastIsWrittenWhole) {
  std::string bytes;
  ThriftWriter out(&bytes);
  out.BeginStruct();
  out.I32(1, 0);
  out.I32(17, 0);
  out.End();
  EXPECT_EQ(bytes, std::string("\x15\x00\x05\x22\x00\x00", 6));
}

TEST(ThriftWriter, StructsWithinCountTheirOwnIdsAndListsSayTheirSize) {
  std::string bytes;
  ThriftWriter out(&bytes);
  out.BeginStruct();
  out.BeginStruct(2);
  out.I16(1, 1);
  out.End();
  out.BeginI32s(3, 2);
  out.I32Element(3);
  out.I32Element(8);
  out.BeginBinaries(4, 15);
  for (int i = 0; i < 15; ++i) out.BinaryElement("");
  out.End();
  EXPECT_EQ(bytes, std::string("\x2c\x14\x02\x00\x19\x25\x06\x10\x19\xf8\x0f", 11) +
                       std::string(15, '\0') + std::string(1, '\0'));
}

}  // namespace

}  // namespace kernelmill::dataset
