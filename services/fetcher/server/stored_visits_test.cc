#include "services/fetcher/server/stored_visits.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/cas/digest.h"
#include "common/cas/testing/memory_blob_store.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::fetcher {
namespace {

constexpr char kUrl[] = "https://example.org/x";

class StoredVisitsTest : public ::testing::Test {
 protected:
  StoredVisitsTest() { visits_.Save(kUrl, visit_); }

  const Visit visit_ = {std::string(40, 'a'), "a pack"};
  cas::MemoryBlobStore store_;
  StoredVisits visits_{store_};
};

TEST_F(StoredVisitsTest, KeepsTheNewestOfEachUrl) {
  visits_.Save("https://example.org/y", {std::string(40, 'b'), "another"});
  visits_.Save(kUrl, {std::string(40, 'c'), "newer"});
  const std::optional<Visit> visit = visits_.Load(kUrl);
  ASSERT_TRUE(visit.has_value());
  EXPECT_EQ(visit->commit, std::string(40, 'c'));
  EXPECT_EQ(visit->pack, "newer");
  EXPECT_FALSE(visits_.Load("https://example.org/z").has_value());
}

TEST_F(StoredVisitsTest, EvictedOrDamagedPackIsNoVisit) {
  ASSERT_TRUE(visits_.Load(kUrl).has_value());
  ASSERT_TRUE(store_.Corrupt(cas::DigestOf(visit_.pack)));
  EXPECT_FALSE(visits_.Load(kUrl).has_value());
  visits_.Save(kUrl, visit_);
  ASSERT_TRUE(store_.Drop(cas::DigestOf(visit_.pack)));
  EXPECT_FALSE(visits_.Load(kUrl).has_value());
}

TEST_F(StoredVisitsTest, RubbishInTheCacheIsNoVisit) {
  v1::VisitKey key;
  key.set_git(kUrl);
  key.set_version(1);
  cas::ActionResult rubbish;
  rubbish.set_stdout_raw("\xff\xff");
  const cas::Digest digest = cas::DigestOf(cas::SerializeDeterministically(key));
  ASSERT_TRUE(store_.PutActionResult(digest, rubbish).ok());
  EXPECT_FALSE(visits_.Load(kUrl).has_value());
  ASSERT_TRUE(store_.PutActionResult(digest, cas::ActionResult()).ok());
  EXPECT_FALSE(visits_.Load(kUrl).has_value());
}

TEST_F(StoredVisitsTest, StoreThatIsAwayIsNoVisit) {
  store_.FailNext(1, absl::UnavailableError("away"));
  EXPECT_FALSE(visits_.Load(kUrl).has_value());
  store_.FailNext(1, absl::ResourceExhaustedError("full"));
  visits_.Save(kUrl, {std::string(40, 'c'), "newer"});
  EXPECT_EQ(visits_.Load(kUrl)->pack, "a pack");
}

}  // namespace
}  // namespace kernelmill::fetcher
