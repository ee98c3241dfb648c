#include "services/store/adapters/rocksdb/database/packing.h"

#include <gtest/gtest.h>
#include <rocksdb/write_batch.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// Returns the stored value of the record.
std::string MakeRecord(const std::string& content) {
  struct Value : rocksdb::WriteBatch::Handler {
    void Put(const rocksdb::Slice&, const rocksdb::Slice& value) override {
      bytes = value.ToString();
    }
    std::string bytes;
  } value;
  rocksdb::WriteBatch batch;
  PackedRecord(content).Put(nullptr, "key", &batch);
  EXPECT_TRUE(batch.Iterate(&value).ok());
  return value.bytes;
}

std::string Random(size_t size) {
  std::string bytes(size, '\0');
  uint64_t state = 7;
  for (char& byte : bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

std::string Text(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) absl::StrAppend(&text, "offsets = ", i, "\n");
  text.resize(size);
  return text;
}

TEST(Packing, WhatIsPackedIsUnpacked) {
  for (const size_t size : {1025u, 4096u, 70'000u, 4u << 20}) {
    for (const std::string& content : {Random(size), Text(size), std::string(size, '\0'),
                                       Random(size / 2) + Text(size - size / 2)}) {
      const std::string record = MakeRecord(content);
      std::string buffer;
      const auto unpacked = Unpack(record, size, &buffer);
      ASSERT_THAT(unpacked, IsOk());
      EXPECT_TRUE(*unpacked == content) << size;
    }
  }
}

TEST(Packing, TextShrinksAndRandomBytesHardlyGrow) {
  EXPECT_LT(MakeRecord(Text(4096)).size(), 2048u);
  EXPECT_LT(MakeRecord(Random(100'000) + Text(100'000)).size(), 150'000u);
  EXPECT_EQ(MakeRecord(Random(4096)).size(), 4096u + 9);
}

TEST(Packing, EveryFlippedByteIsNoticed) {
  for (const std::string& content : {Random(1500), Text(1500)}) {
    const std::string record = MakeRecord(content);
    for (size_t i = 0; i < record.size(); ++i) {
      std::string damaged = record;
      damaged[i] ^= 0x10;
      std::string buffer;
      EXPECT_THAT(Unpack(damaged, content.size(), &buffer), StatusIs(absl::StatusCode::kDataLoss))
          << i;
    }
  }
}

TEST(Packing, ARecordOfAnotherSizeIsDamage) {
  std::string buffer;
  EXPECT_THAT(Unpack(MakeRecord(Text(2000)), 1999, &buffer), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Unpack(MakeRecord(Random(2000)), 1990, &buffer),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Unpack("short", 2000, &buffer), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace kernelmill::store
