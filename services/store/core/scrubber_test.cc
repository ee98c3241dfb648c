#include "services/store/core/scrubber.h"

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

BlobId MakeId(const std::string& bytes) { return *ToBlobId(cas::ComputeDigest(bytes)); }

class ScrubberTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto storage = std::make_unique<MemoryStorage>();
    storage_ = storage.get();
    store_ = std::make_unique<ContentStore>(std::move(storage), Limits(), RetentionOptions());
    for (int i = 0; i < 100; ++i) {
      const std::string bytes = absl::StrCat("blob ", i);
      ASSERT_THAT(store_->Put({{MakeId(bytes), bytes}}).front(), IsOk());
    }
    scrubber_ = std::make_unique<Scrubber>(store_.get(), Scrubber::Options());
  }
  std::vector<bool> Find(const std::vector<std::string>& contents) {
    std::vector<BlobId> ids;
    for (const std::string& content : contents) ids.push_back(MakeId(content));
    return *store_->lru().Find(ids);
  }

  MemoryStorage* storage_ = nullptr;
  std::unique_ptr<ContentStore> store_;
  std::unique_ptr<Scrubber> scrubber_;
};

TEST_F(ScrubberTest, ReadsNothingUntilDamageIsFound) {
  storage_->Damage(MakeId("blob 5"));
  EXPECT_FALSE(*scrubber_->Pass());
  EXPECT_EQ(Find({"blob 5"}), std::vector<bool>{true}) << "it was not read";
}

TEST_F(ScrubberTest, FindsAllDamagedBlobsAfterTheFirstOne) {
  for (const char* blob : {"blob 5", "blob 6", "blob 70"}) storage_->Damage(MakeId(blob));
  store_->lru().MarkDamaged(MakeId("blob 6"), /*confirmed=*/false);
  EXPECT_TRUE(*scrubber_->Pass());
  EXPECT_EQ(Find({"blob 5", "blob 6", "blob 7", "blob 70"}),
            (std::vector<bool>{false, false, true, false}));
  EXPECT_FALSE(*scrubber_->Pass());
  // One is put again, and another damaged.
  ASSERT_THAT(store_->Put({{MakeId("blob 6"), "blob 6"}}).front(), IsOk());
  EXPECT_FALSE(*scrubber_->Pass());
  storage_->Damage(MakeId("blob 8"));
  store_->lru().MarkDamaged(MakeId("blob 8"), /*confirmed=*/false);
  EXPECT_TRUE(*scrubber_->Pass());
}

TEST_F(ScrubberTest, AStopEndsAPass) {
  storage_->Damage(MakeId("blob 5"));
  store_->lru().MarkDamaged(MakeId("blob 5"), /*confirmed=*/false);
  scrubber_->Stop();
  EXPECT_THAT(scrubber_->Pass(), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace kernelmill::store
