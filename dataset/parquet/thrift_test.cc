#include "dataset/parquet/thrift.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::dataset {
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
