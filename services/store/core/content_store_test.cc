#include "services/store/core/content_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/cas/result_origin.h"
#include "common/testing/status_matchers.h"
#include "services/store/core/testing/memory_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

BlobId MakeId(absl::string_view bytes) { return *ToBlobId(cas::ComputeDigest(bytes)); }

class ContentStoreTest : public ::testing::Test {
 protected:
  std::string Collect(const BlobId& id, int64_t offset, int64_t limit, absl::Status* status) {
    std::string bytes;
    *status = store_.Read(id, offset, limit, [&](const Piece& piece) {
      bytes.append(piece.bytes.data(), piece.bytes.size());
      return absl::OkStatus();
    });
    return bytes;
  }

  MemoryStorage* storage_ = new MemoryStorage;  // owned by store_
  ContentStore store_{std::unique_ptr<Storage>(storage_),
                      Limits{.max_batch_bytes = 100, .max_blob_bytes = 12 << 20}};
};

TEST_F(ContentStoreTest, ABlobThatDoesNotMatchFailsAlone) {
  BlobId wrong_size = MakeId("good");
  wrong_size.size = 5;
  const std::vector<absl::Status> statuses =
      store_.Put({{MakeId("good"), "good"}, {MakeId("other"), "evil!"}, {wrong_size, "good"}});
  EXPECT_THAT(statuses[0], IsOk());
  EXPECT_THAT(statuses[1], StatusIs(kInvalid));
  EXPECT_THAT(statuses[2], StatusIs(kInvalid));
  EXPECT_EQ(*store_.Contains({MakeId("good"), MakeId("other")}), (std::vector<bool>{true, false}));
}

// Has results of several stages, versions and workers, and of other programs.
class ForgetTest : public ContentStoreTest {
 protected:
  ForgetTest() {
    Add("extract 11 of a", "extract", 11, "a");
    Add("extract 11 of b", "extract", 11, "b");
    Add("extract 10 of a", "extract", 10, "a");
    Add("a cache of extract", "extract/pack", 11, "a");
    Add("extractor", "extractor", 11, "b");
    Add("without a stage", "", 0, "a");
    Add("from another program", "", 0, "");
  }
  void Add(const std::string& action, const std::string& stage, int version,
           const std::string& worker) {
    cas::ActionResult result;
    if (!stage.empty()) cas::SetStage(stage, version, &result);
    if (!worker.empty()) cas::SetWorker(worker, &result);
    EXPECT_THAT(store_.PutActionResult("", MakeId(action), result), IsOk());
    actions_.push_back(action);
  }
  int64_t Forget(const ResultFilter& filter, bool dry_run = false) {
    const auto forgotten = store_.ForgetResults(filter, dry_run, [] { return absl::OkStatus(); });
    EXPECT_THAT(forgotten, IsOk());
    return forgotten.value_or(-1);
  }
  std::vector<std::string> Left() {
    std::vector<std::string> left;
    for (const std::string& action : actions_) {
      if (store_.GetActionResult("", MakeId(action)).ok()) left.push_back(action);
    }
    return left;
  }

  std::vector<std::string> actions_;
};

TEST_F(ForgetTest, ByStageAndItsCachesButNothingThatDoesNotSay) {
  EXPECT_EQ(Forget({.stage = "extract"}, /*dry_run=*/true), 4);
  EXPECT_EQ(Left().size(), actions_.size());
  EXPECT_EQ(Forget({.stage = "extract"}), 4);
  EXPECT_EQ(Left(),
            (std::vector<std::string>{"extractor", "without a stage", "from another program"}));
  EXPECT_EQ(Forget({.stage = "extract"}), 0);
}

TEST_F(ForgetTest, ByVersion) {
  EXPECT_EQ(Forget({.stage = "extract", .version = 10}), 1);
  EXPECT_EQ(Left().size(), actions_.size() - 1);
}

TEST_F(ForgetTest, ByWorkerAlsoWhereTheStageIsNotTold) {
  EXPECT_EQ(Forget({.worker = "a"}), 4);
  EXPECT_EQ(Left(),
            (std::vector<std::string>{"extract 11 of b", "extractor", "from another program"}));
}

TEST_F(ForgetTest, AllThatIsGivenMustHold) {
  EXPECT_EQ(Forget({.stage = "extract", .version = 11, .worker = "b"}), 1);
}

TEST_F(ForgetTest, OfThousandsInStepsThatCanBeStopped) {
  for (int i = 0; i < 1000; ++i) Add(absl::StrCat("sign ", i), "sign", 5, "a");
  int steps = 0;
  const auto stopped = store_.ForgetResults({.stage = "sign"}, /*dry_run=*/false, [&] {
    return ++steps < 3 ? absl::OkStatus() : absl::CancelledError("enough");
  });
  EXPECT_THAT(stopped, StatusIs(absl::StatusCode::kCancelled));
  const int64_t rest = Forget({.stage = "sign"});
  EXPECT_GT(rest, 0);
  EXPECT_LT(rest, 1000);
  EXPECT_EQ(storage_->usage().results, 7);
}

TEST_F(ForgetTest, NothingGivenOrAVersionAloneIsRefused) {
  for (const ResultFilter& filter :
       {ResultFilter{}, ResultFilter{.version = 11}, ResultFilter{.version = 11, .worker = "a"},
        ResultFilter{.stage = "extract", .version = -1}}) {
    EXPECT_THAT(store_.ForgetResults(filter, false, [] { return absl::OkStatus(); }),
                StatusIs(kInvalid));
  }
}

TEST_F(ContentStoreTest, AFullDiskFailsTheBlobsNotTheReads) {
  ASSERT_THAT(store_.Put({{MakeId("a"), "a"}}).front(), IsOk());
  storage_->FailWrites(absl::ResourceExhaustedError("full"));
  EXPECT_THAT(store_.Put({{MakeId("b"), "b"}}).front(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(*store_.Get(MakeId("a")), "a");
}

TEST_F(ContentStoreTest, TheEmptyBlobIsThereUnwritten) {
  EXPECT_EQ(*store_.Contains({MakeId("")}), std::vector<bool>{true});
  EXPECT_EQ(*store_.Get(MakeId("")), "");
  absl::Status status;
  EXPECT_EQ(Collect(MakeId(""), 0, 0, &status), "");
  EXPECT_THAT(status, IsOk());
}

TEST_F(ContentStoreTest, ReadsHonourOffsetAndLimit) {
  ASSERT_THAT(store_.Put({{MakeId("0123456789"), "0123456789"}}).front(), IsOk());
  const BlobId id = MakeId("0123456789");
  absl::Status status;
  EXPECT_EQ(Collect(id, 3, 4, &status), "3456");
  EXPECT_EQ(Collect(id, 8, 100, &status), "89");
  EXPECT_EQ(Collect(id, 10, 0, &status), "");
  EXPECT_THAT(status, IsOk());
  Collect(id, 11, 0, &status);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  Collect(id, -1, 0, &status);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  Collect(id, 0, -1, &status);
  EXPECT_THAT(status, StatusIs(kInvalid));
  Collect(MakeId("absent"), 99, 0, &status);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ContentStoreTest, TheBatchLimitCannotBeCheated) {
  EXPECT_THAT(store_.CheckBatch({60, 40}), IsOk());
  EXPECT_THAT(store_.CheckBatch({60, 41}), StatusIs(kInvalid));
  EXPECT_THAT(store_.CheckBatch({-1000, 60, 41}), StatusIs(kInvalid));
  EXPECT_THAT(store_.CheckBatch({INT64_MAX, INT64_MAX}), StatusIs(kInvalid));
}

TEST_F(ContentStoreTest, ALargeBlobIsInvisibleUntilItIsWholeAndRight) {
  const std::string content(kChunkBytes * 2 + 7, 'x');
  {
    auto writer = store_.NewWriter(MakeId(content));
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT((*writer)->Append(content.substr(0, kChunkBytes + 3)), IsOk());
    EXPECT_EQ(storage_->open_stages(), 1);
    EXPECT_EQ(*store_.Contains({MakeId(content)}), std::vector<bool>{false});
    ASSERT_THAT((*writer)->Append(content.substr(kChunkBytes + 3)), IsOk());
    ASSERT_THAT((*writer)->Finish(), IsOk());
  }
  EXPECT_EQ(storage_->open_stages(), 0);
  EXPECT_EQ(*store_.Get(MakeId(content)), content);

  std::string other = content;
  other.back() = 'y';
  auto writer = store_.NewWriter(MakeId(other));
  ASSERT_THAT((*writer)->Append(content), IsOk());
  EXPECT_THAT((*writer)->Finish(), StatusIs(kInvalid));
  EXPECT_EQ(*store_.Contains({MakeId(other)}), std::vector<bool>{false});
}

TEST_F(ContentStoreTest, AWriterTakesNoMoreThanTheDigestSays) {
  auto writer = store_.NewWriter(MakeId("abc"));
  EXPECT_THAT((*writer)->Append("ab"), IsOk());
  EXPECT_THAT((*writer)->Append("cd"), StatusIs(kInvalid));
  BlobId huge = MakeId("abc");
  huge.size = (12 << 20) + 1;
  EXPECT_THAT(store_.NewWriter(huge), StatusIs(kInvalid));
}

TEST_F(ContentStoreTest, AResultIsGoneWithTheFirstBlobThatItNames) {
  const auto named = [](const char* content) { return cas::ComputeDigest(content); };
  cas::ActionResult result;
  *result.add_output_files()->mutable_digest() = named("file");
  *result.add_output_directories()->mutable_tree_digest() = named("tree");
  *result.mutable_stdout_digest() = named("out");
  *result.mutable_stderr_digest() = named("err");
  const BlobId action = MakeId("action");
  ASSERT_THAT(store_.PutActionResult("", action, result), IsOk());
  for (const char* content : {"file", "tree", "out", "err"}) {
    EXPECT_THAT(store_.GetActionResult("", action), StatusIs(absl::StatusCode::kNotFound));
    ASSERT_THAT(store_.Put({{MakeId(content), content}}).front(), IsOk());
  }
  EXPECT_THAT(store_.GetActionResult("", action), IsOk());
  for (const char* content : {"file", "tree", "out", "err"}) {
    storage_->Damage(MakeId(content));
    EXPECT_THAT(store_.Get(MakeId(content)), StatusIs(absl::StatusCode::kDataLoss));
    ASSERT_THAT(store_.lru().DeleteDamaged(MakeId(content)), IsOk());
    EXPECT_THAT(store_.GetActionResult("", action), StatusIs(absl::StatusCode::kNotFound))
        << content;
    ASSERT_THAT(store_.Put({{MakeId(content), content}}).front(), IsOk());
  }
}

TEST_F(ContentStoreTest, ADamagedBlobIsDataLossAndMissingUntilItIsPutAgain) {
  const BlobId id = MakeId("precious");
  ASSERT_THAT(store_.Put({{id, "precious"}}).front(), IsOk());
  storage_->Damage(id);
  EXPECT_THAT(store_.Get(id), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(*store_.Contains({id}), std::vector<bool>{false});
  absl::Status status;
  Collect(id, 0, 0, &status);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));  // not "not found"
  ASSERT_THAT(store_.Put({{id, "precious"}}).front(), IsOk());
  EXPECT_EQ(*store_.Contains({id}), std::vector<bool>{true});
  EXPECT_EQ(*store_.Get(id), "precious");
  EXPECT_EQ(storage_->usage().blobs, 1);
}

TEST_F(ContentStoreTest, ALargeDamagedBlobIsMendedByAnUpload) {
  const std::string content(kChunkBytes + 1, 'x');
  const BlobId id = MakeId(content);
  const auto upload = [&] {
    auto writer = store_.NewWriter(id);
    return (*writer)->Append(content).ok() && (*writer)->Finish().ok();
  };
  ASSERT_TRUE(upload());
  storage_->Damage(id);
  ASSERT_THAT(store_.Get(id), StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_TRUE(upload());
  EXPECT_TRUE(*store_.Get(id) == content);
}

TEST_F(ContentStoreTest, AReaderThatGivesUpDamagesNothing) {
  ASSERT_THAT(store_.Put({{MakeId("fine"), "fine"}}).front(), IsOk());
  EXPECT_THAT(store_.Read(MakeId("fine"), 0, 0,
                          [](const Piece&) { return absl::DataLossError("the line"); }),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(*store_.Contains({MakeId("fine")}), std::vector<bool>{true});
}

TEST_F(ContentStoreTest, InstancesKeepResultsApart) {
  ASSERT_THAT(store_.PutActionResult("a", MakeId("action"), {}), IsOk());
  EXPECT_THAT(store_.GetActionResult("a", MakeId("action")), IsOk());
  EXPECT_THAT(store_.GetActionResult("b", MakeId("action")), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ContentStoreTest, AResultWithAMalformedDigestIsRefused) {
  cas::ActionResult result;
  result.add_output_files()->mutable_digest()->set_hash("short");
  EXPECT_THAT(store_.PutActionResult("", MakeId("action"), result), StatusIs(kInvalid));
  cas::ActionResult bare;
  bare.add_output_directories()->set_path("no digest at all");
  EXPECT_THAT(store_.PutActionResult("", MakeId("action"), bare), StatusIs(kInvalid));
}

class VerifyTest : public ContentStoreTest {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3000; ++i) {
      const std::string bytes = absl::StrCat("blob ", i);
      ASSERT_THAT(store_.Put({{MakeId(bytes), bytes}}).front(), IsOk());
    }
  }
  Verified Verify(bool delete_damaged) {
    Verified last;
    EXPECT_THAT(store_.Verify(delete_damaged,
                              [&](const Verified& verified) {
                                last = verified;
                                return absl::OkStatus();
                              }),
                IsOk());
    EXPECT_TRUE(last.finished);
    return last;
  }
  LruStore& lru() { return store_.lru(); }
};

TEST_F(VerifyTest, GoodBlobsAreCountedAndLeftAlone) {
  const Verified verified = Verify(/*delete_damaged=*/true);
  EXPECT_EQ(verified.blobs, 3000);
  EXPECT_EQ(verified.bytes, storage_->usage().blob_bytes);
  EXPECT_TRUE(verified.damaged.empty());
  EXPECT_EQ(storage_->usage().blobs, 3000);
}

TEST_F(VerifyTest, ABadChecksumAndABadDigestAreFoundAndNoLongerServed) {
  storage_->Damage(MakeId("blob 5"));
  storage_->Falsify(MakeId("blob 6"), "blob 7");
  const Verified verified = Verify(/*delete_damaged=*/false);
  EXPECT_EQ(verified.damaged.size(), 2u);
  EXPECT_EQ(storage_->usage().blobs, 3000);  // told to change nothing
  EXPECT_THAT(lru().Touch(MakeId("blob 6")), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(*lru().Find({MakeId("blob 5"), MakeId("blob 6"), MakeId("blob 7")}),
            (std::vector<bool>{false, false, true}));
  ASSERT_THAT(store_.Put({{MakeId("blob 6"), "blob 6"}}).front(), IsOk());
  EXPECT_EQ(Verify(/*delete_damaged=*/false).damaged.size(), 1u);
}

TEST_F(VerifyTest, DeletedOnesAreGone) {
  storage_->Damage(MakeId("blob 5"));
  EXPECT_EQ(Verify(/*delete_damaged=*/true).damaged, std::vector<BlobId>{MakeId("blob 5")});
  EXPECT_EQ(storage_->usage().blobs, 2999);
  EXPECT_THAT(lru().Touch(MakeId("blob 5")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(Verify(/*delete_damaged=*/true).damaged.empty());
}

TEST_F(VerifyTest, AListenerThatGoesEndsIt) {
  EXPECT_THAT(store_.Verify(false, [](const Verified&) { return absl::CancelledError("gone"); }),
              StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace kernelmill::store
