#include "services/store/core/uploads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/store/core/testing/memory_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

// A "compression" that doubles each byte, which shows which bytes are counted.
class HalvingDecoder : public Decoder {
 public:
  absl::Status Decode(absl::string_view compressed, ByteSink out) override {
    for (size_t i = 0; i < compressed.size(); i += 2) {
      const absl::Status status = out(compressed.substr(i, 1));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::Status Finish() override { return absl::OkStatus(); }
};

class UploadsTest : public ::testing::Test {
 protected:
  static ResourceName Name(absl::string_view content, const std::string& upload = "u") {
    ResourceName name;
    name.upload = upload;
    name.blob = *ToBlobId(cas::ComputeDigest(content));
    return name;
  }
  Uploads Make(int max_open) {
    return Uploads(
        &store_, [] { return std::make_unique<HalvingDecoder>(); },
        {.max_open = max_open, .max_idle = absl::Seconds(100), .now = [this] { return now_; }});
  }

  absl::Duration now_ = absl::Seconds(1000);
  MemoryStorage* storage_ = new MemoryStorage;  // owned by store_
  ContentStore store_{std::unique_ptr<Storage>(storage_), Limits{}};
};

TEST_F(UploadsTest, ABrokenUploadIsResumedWhereItBroke) {
  Uploads uploads = Make(4);
  const ResourceName name = Name("hello world");
  EXPECT_THAT(uploads.Query(name), StatusIs(kNotFound));
  {
    auto stream = uploads.Begin(name);
    ASSERT_THAT((*stream)->Append(0, "hello "), IsOk());
  }
  EXPECT_EQ(uploads.Query(name)->committed, 6);
  EXPECT_FALSE(uploads.Query(name)->complete);
  {
    auto stream = uploads.Begin(name);
    ASSERT_THAT((*stream)->Append(6, "world"), IsOk());
    ASSERT_THAT((*stream)->Finish(), IsOk());
    EXPECT_EQ((*stream)->state().committed, 11);
  }
  EXPECT_EQ(*store_.Get(name.blob), "hello world");
  EXPECT_TRUE(uploads.Query(name)->complete);
}

TEST_F(UploadsTest, BytesThatCameBeforeAreSkippedAndGapsRefused) {
  Uploads uploads = Make(4);
  const ResourceName name = Name("abcdef");
  ASSERT_THAT((*uploads.Begin(name))->Append(0, "abcd"), IsOk());
  EXPECT_THAT((*uploads.Begin(name))->Append(5, "f"), StatusIs(kInvalid));
  EXPECT_THAT((*uploads.Begin(name))->Append(-1, "f"), StatusIs(kInvalid));
  EXPECT_EQ(uploads.Query(name)->committed, 4);  // a refused offset does no harm
  auto stream = uploads.Begin(name);
  ASSERT_THAT((*stream)->Append(0, "ab"), IsOk());
  EXPECT_EQ(uploads.Query(name)->committed, 4);  // never goes down
  EXPECT_THAT((*stream)->Append(1, "bc"), StatusIs(kInvalid));
  ASSERT_THAT((*stream)->Append(2, "cdef"), IsOk());
  EXPECT_THAT((*stream)->Finish(), IsOk());
}

TEST_F(UploadsTest, TheStreamBeforeIsFencedOff) {
  Uploads uploads = Make(4);
  const ResourceName name = Name("abcdef");
  auto stalled = uploads.Begin(name);
  ASSERT_THAT((*stalled)->Append(0, "abc"), IsOk());
  auto next = uploads.Begin(name);
  EXPECT_THAT((*stalled)->Append(3, "d"), StatusIs(absl::StatusCode::kAborted));
  ASSERT_THAT((*next)->Append(3, "def"), IsOk());
  EXPECT_THAT((*stalled)->Finish(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT((*next)->Finish(), IsOk());
}

TEST_F(UploadsTest, WrongContentIsForgottenAtOnce) {
  Uploads uploads = Make(4);
  const ResourceName name = Name("right");
  {
    auto stream = uploads.Begin(name);
    ASSERT_THAT((*stream)->Append(0, "wrong"), IsOk());
    EXPECT_THAT((*stream)->Finish(), StatusIs(kInvalid));
  }
  EXPECT_THAT(uploads.Query(name), StatusIs(kNotFound));
  {
    auto stream = uploads.Begin(name);
    EXPECT_THAT((*stream)->Append(0, "right but too long"), StatusIs(kInvalid));
  }
  EXPECT_THAT(uploads.Query(name), StatusIs(kNotFound));
}

TEST_F(UploadsTest, AFullDiskEndsTheUploadAndALaterOneWorks) {
  Uploads uploads = Make(4);
  const std::string content(kChunkBytes + 1, 'z');
  const ResourceName name = Name(content);
  storage_->FailWrites(absl::ResourceExhaustedError("full"));
  EXPECT_THAT((*uploads.Begin(name))->Append(0, content),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(storage_->open_stages(), 0);
  storage_->FailWrites(absl::OkStatus());
  auto stream = uploads.Begin(name);
  ASSERT_THAT((*stream)->Append(0, content), IsOk());
  EXPECT_THAT((*stream)->Finish(), IsOk());
}

TEST_F(UploadsTest, ABlobThatIsThereIsCompleteAtOnce) {
  Uploads uploads = Make(4);
  ASSERT_THAT(store_.Put({{Name("abc").blob, "abc"}}).front(), IsOk());
  EXPECT_TRUE((*uploads.Begin(Name("abc")))->state().complete);
  EXPECT_EQ((*uploads.Begin(Name("abc")))->state().committed, 3);
  ResourceName compressed = Name("abc");
  compressed.compression = Compression::kZstd;
  EXPECT_EQ((*uploads.Begin(compressed))->state().committed, -1);
}

TEST_F(UploadsTest, CompressedUploadsCountTheBytesOfTheWire) {
  Uploads uploads = Make(4);
  ResourceName name = Name("abc");
  name.compression = Compression::kZstd;
  auto stream = uploads.Begin(name);
  ASSERT_THAT((*stream)->Append(0, "aabb"), IsOk());
  EXPECT_EQ((*stream)->state().committed, 4);
  ASSERT_THAT((*stream)->Append(4, "cc"), IsOk());
  ASSERT_THAT((*stream)->Finish(), IsOk());
  EXPECT_EQ((*stream)->state().committed, 6);
  EXPECT_EQ(*store_.Get(name.blob), "abc");
}

TEST_F(UploadsTest, TheOneIdleLongestGoesWhereThereIsNoRoom) {
  Uploads uploads = Make(2);
  ASSERT_THAT((*uploads.Begin(Name("abc", "first")))->Append(0, "a"), IsOk());
  now_ += absl::Seconds(1);
  ASSERT_THAT((*uploads.Begin(Name("abc", "second")))->Append(0, "a"), IsOk());
  now_ += absl::Seconds(1);
  auto third = uploads.Begin(Name("abc", "third"));
  ASSERT_THAT(third, IsOk());
  EXPECT_THAT(uploads.Query(Name("abc", "first")), StatusIs(kNotFound));
  EXPECT_THAT(uploads.Query(Name("abc", "second")), IsOk());
  auto fourth = uploads.Begin(Name("abc", "fourth"));
  ASSERT_THAT(fourth, IsOk());
  EXPECT_THAT(uploads.Begin(Name("abc", "fifth")), StatusIs(absl::StatusCode::kResourceExhausted));
  fourth->reset();
  EXPECT_THAT(uploads.Begin(Name("abc", "fifth")), IsOk());
}

TEST_F(UploadsTest, IdleUploadsAreForgottenInTime) {
  Uploads uploads = Make(10);
  ASSERT_THAT((*uploads.Begin(Name("abc", "old")))->Append(0, "a"), IsOk());
  now_ += absl::Seconds(101);
  ASSERT_THAT(uploads.Begin(Name("abc", "new")), IsOk());
  EXPECT_THAT(uploads.Query(Name("abc", "old")), StatusIs(kNotFound));
}

// Makes uploads of two bytes each.
class UploadShareTest : public UploadsTest {
 protected:
  Uploads MakeShared(int per_caller, int64_t bytes = 1000) {
    return Uploads(&store_, [] { return std::make_unique<HalvingDecoder>(); },
                   {.max_open = 4,
                    .max_open_per_caller = per_caller,
                    .max_bytes_per_caller = bytes,
                    .now = [this] { return now_ += absl::Seconds(1); }});
  }
};

TEST_F(UploadShareTest, ACallerWithAllItsUploadsOpenIsRefusedAndOthersAreNot) {
  Uploads uploads = MakeShared(2);
  const auto first = uploads.Begin(Name("a1"), "mallory");
  const auto second = uploads.Begin(Name("a2"), "mallory");
  const auto third = uploads.Begin(Name("a3"), "mallory");
  EXPECT_THAT(third, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(third.status().message(), ::testing::HasSubstr("--max-uploads-per-caller"));
  EXPECT_THAT(uploads.Begin(Name("b1"), "alice"), IsOk());
}

TEST_F(UploadShareTest, WhatACallerClaimsToUploadIsBounded) {
  Uploads uploads = MakeShared(4, /*bytes=*/5);
  const auto first = uploads.Begin(Name("a1"), "mallory");
  const auto second = uploads.Begin(Name("a2"), "mallory");
  const auto third = uploads.Begin(Name("a3"), "mallory");
  EXPECT_THAT(third, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(third.status().message(), ::testing::HasSubstr("--max-upload-bytes-per-caller"));
  EXPECT_THAT(uploads.Begin(Name("larger than all"), "alice"), IsOk()) << "one is always taken";
}

TEST_F(UploadShareTest, AnIdleUploadOfTheCallerItselfMakesRoom) {
  Uploads uploads = MakeShared(2);
  const auto alice = uploads.Begin(Name("b1"), "alice");
  ASSERT_THAT((*alice)->Append(0, "b"), IsOk());
  for (const char* content : {"a1", "a2", "a3", "a4"}) {
    const auto stream = uploads.Begin(Name(content), "mallory");
    ASSERT_THAT(stream, IsOk());
    ASSERT_THAT((*stream)->Append(0, "a"), IsOk());
  }
  EXPECT_THAT(uploads.Query(Name("a1")), StatusIs(kNotFound));
  EXPECT_THAT(uploads.Query(Name("a4")), IsOk());
  EXPECT_THAT(uploads.Query(Name("b1")), IsOk());
}

}  // namespace
}  // namespace kernelmill::store
