#include "services/store/core/verifier.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/store/core/testing/memory_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

BlobId IdOf(absl::string_view bytes) { return *ToBlobId(cas::DigestOf(bytes)); }

class VerifierTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(*keeper_.Settle());
    for (int i = 0; i < 3000; ++i) {
      const std::string bytes = absl::StrCat("blob ", i);
      ASSERT_THAT(keeper_.Put({{IdOf(bytes), bytes}}), IsOk());
    }
  }
  Verified Verify(bool drop) {
    Verified last;
    EXPECT_THAT(VerifyBlobs(keeper_, drop,
                            [&](const Verified& verified) {
                              last = verified;
                              return absl::OkStatus();
                            }),
                IsOk());
    EXPECT_TRUE(last.finished);
    return last;
  }
  MemoryStorage* storage_ = new MemoryStorage;  // owned by keeper_
  Keeper keeper_{std::unique_ptr<Storage>(storage_), {}};
};

TEST_F(VerifierTest, GoodBlobsAreCountedAndLeftAlone) {
  const Verified verified = Verify(/*drop=*/true);
  EXPECT_EQ(verified.blobs, 3000);
  EXPECT_EQ(verified.bytes, storage_->usage().blob_bytes);
  EXPECT_TRUE(verified.damaged.empty());
  EXPECT_EQ(storage_->usage().blobs, 3000);
}

TEST_F(VerifierTest, ABadChecksumAndABadDigestAreFoundAndNoLongerServed) {
  storage_->Damage(IdOf("blob 5"));
  storage_->Falsify(IdOf("blob 6"), "blob 7");
  const Verified verified = Verify(/*drop=*/false);
  EXPECT_EQ(verified.damaged.size(), 2u);
  EXPECT_EQ(storage_->usage().blobs, 3000);  // told to change nothing
  EXPECT_THAT(keeper_.Use(IdOf("blob 6")), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(*keeper_.Find({IdOf("blob 5"), IdOf("blob 6"), IdOf("blob 7")}),
            (std::vector<bool>{false, false, true}));
  ASSERT_THAT(keeper_.Put({{IdOf("blob 6"), "blob 6"}}), IsOk());
  EXPECT_EQ(Verify(/*drop=*/false).damaged.size(), 1u);
}

TEST_F(VerifierTest, DroppedOnesAreGone) {
  storage_->Damage(IdOf("blob 5"));
  EXPECT_EQ(Verify(/*drop=*/true).damaged, std::vector<BlobId>{IdOf("blob 5")});
  EXPECT_EQ(storage_->usage().blobs, 2999);
  EXPECT_THAT(keeper_.Use(IdOf("blob 5")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(Verify(/*drop=*/true).damaged.empty());
}

TEST_F(VerifierTest, AListenerThatGoesEndsIt) {
  EXPECT_THAT(
      VerifyBlobs(keeper_, false, [](const Verified&) { return absl::CancelledError("gone"); }),
      StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace kernelmill::store
