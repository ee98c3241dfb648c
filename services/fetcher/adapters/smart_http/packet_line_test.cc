#include "services/fetcher/adapters/smart_http/packet_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

// Every packet, in steps of so many bytes; the ends as "flush" and "delimiter".
absl::Status ReadInSteps(absl::string_view bytes, size_t step, std::vector<std::string>& packets,
                         bool& whole) {
  PacketReader reader;
  for (size_t at = 0; at < bytes.size(); at += step) {
    const absl::Status read = reader.Read(bytes.substr(at, step), [&](const Packet& packet) {
      if (packet.kind == PacketKind::kData) packets.emplace_back(packet.data);
      if (packet.kind == PacketKind::kFlush) packets.emplace_back("flush");
      if (packet.kind == PacketKind::kDelimiter) packets.emplace_back("delimiter");
      return absl::OkStatus();
    });
    if (!read.ok()) return read;
  }
  whole = reader.between_packets();
  return absl::OkStatus();
}

TEST(PacketLine, WhatIsWrittenIsReadHoweverItIsCut) {
  const std::string large(kMaxPacketData, 'x');
  std::string bytes;
  AppendPacket(bytes, "one\n");
  AppendDelimiter(bytes);
  AppendPacket(bytes, "");
  AppendPacket(bytes, large);
  AppendFlush(bytes);
  for (const size_t step :
       {size_t{1}, size_t{3}, size_t{4}, size_t{5}, size_t{1000}, bytes.size()}) {
    std::vector<std::string> packets;
    bool whole = false;
    EXPECT_THAT(ReadInSteps(bytes, step, packets, whole), IsOk());
    EXPECT_THAT(packets, ElementsAre("one\n", "delimiter", "", large, "flush")) << step;
    EXPECT_TRUE(whole) << step;
  }
}

TEST(PacketLine, LengthsAreFourLowerCaseDigits) {
  std::string bytes;
  AppendPacket(bytes, "command=ls-refs\n");
  AppendPacket(bytes, std::string(251, 'x'));
  EXPECT_EQ(bytes, absl::StrCat("0014command=ls-refs\n00ff", std::string(251, 'x')));
}

// row 27
TEST(PacketLine, WhatIsNoLengthIsRefused) {
  for (const char* bytes :
       {"<html>", "0002", "0003", "fff1", "ffff", "-001", " 004", "0x04", "12g4"}) {
    for (const size_t step : {1, 4, 100}) {
      std::vector<std::string> packets;
      bool whole = false;
      EXPECT_THAT(ReadInSteps(absl::StrCat(bytes, std::string(8, '0')), step, packets, whole),
                  StatusIs(absl::StatusCode::kUnimplemented))
          << bytes << " " << step;
      EXPECT_TRUE(packets.empty()) << bytes;
    }
  }
}

// row 27
TEST(PacketLine, StreamThatIsCutInAPacketIsNotWhole) {
  for (const char* bytes : {"0", "000", "0008ab", "0000000"}) {
    std::vector<std::string> packets;
    bool whole = true;
    EXPECT_THAT(ReadInSteps(bytes, 100, packets, whole), IsOk());
    EXPECT_FALSE(whole) << bytes;
  }
}

TEST(PacketLine, HandlersErrorEndsTheReading) {
  PacketReader reader;
  int packets = 0;
  EXPECT_THAT(reader.Read("0005a0005b",
                          [&](const Packet&) {
                            ++packets;
                            return absl::DataLossError("x");
                          }),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(packets, 1);
}

}  // namespace
}  // namespace kernelmill::fetcher
