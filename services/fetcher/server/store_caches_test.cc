#include "services/fetcher/server/store_caches.h"

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

class StoreFetchCacheTest : public ::testing::Test {
 protected:
  StoreFetchCacheTest() { cache_.Save(kUrl, fetch_); }

  const CachedFetch fetch_ = {std::string(40, 'a'), "a pack"};
  cas::MemoryBlobStore store_;
  StoreFetchCache cache_{store_};
};

TEST_F(StoreFetchCacheTest, KeepsTheNewestOfEachUrl) {
  cache_.Save("https://example.org/y", {std::string(40, 'b'), "another"});
  cache_.Save(kUrl, {std::string(40, 'c'), "newer"});
  const std::optional<CachedFetch> cached = cache_.Load(kUrl);
  ASSERT_TRUE(cached.has_value());
  EXPECT_EQ(cached->commit, std::string(40, 'c'));
  EXPECT_EQ(cached->pack, "newer");
  EXPECT_FALSE(cache_.Load("https://example.org/z").has_value());
}

TEST_F(StoreFetchCacheTest, EvictedOrDamagedPackIsNoFetch) {
  ASSERT_TRUE(cache_.Load(kUrl).has_value());
  ASSERT_TRUE(store_.Corrupt(cas::ComputeDigest(fetch_.pack)));
  EXPECT_FALSE(cache_.Load(kUrl).has_value());
  cache_.Save(kUrl, fetch_);
  ASSERT_TRUE(store_.Drop(cas::ComputeDigest(fetch_.pack)));
  EXPECT_FALSE(cache_.Load(kUrl).has_value());
}

TEST_F(StoreFetchCacheTest, RubbishInTheCacheIsNoFetch) {
  v1::CachedFetchKey key;
  key.set_git(kUrl);
  key.set_version(1);
  cas::ActionResult rubbish;
  rubbish.set_stdout_raw("\xff\xff");
  const cas::Digest digest = cas::ComputeDigest(cas::SerializeDeterministically(key));
  ASSERT_TRUE(store_.PutActionResult(digest, rubbish).ok());
  EXPECT_FALSE(cache_.Load(kUrl).has_value());
  ASSERT_TRUE(store_.PutActionResult(digest, cas::ActionResult()).ok());
  EXPECT_FALSE(cache_.Load(kUrl).has_value());
}

TEST_F(StoreFetchCacheTest, StoreThatIsAwayIsNoFetch) {
  store_.FailNext(1, absl::UnavailableError("away"));
  EXPECT_FALSE(cache_.Load(kUrl).has_value());
  store_.FailNext(1, absl::ResourceExhaustedError("full"));
  cache_.Save(kUrl, {std::string(40, 'c'), "newer"});
  EXPECT_EQ(cache_.Load(kUrl)->pack, "a pack");
}

}  // namespace
}  // namespace kernelmill::fetcher
