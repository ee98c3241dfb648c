#include "services/fetcher/adapters/smart_http/upload_pack_post.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::fetcher {
namespace {

TEST(HandlePool, HandleComesBackForItsKeyAlone) {
  HandlePool pool;
  CurlHandle handle = *pool.Take("a");
  CURL* const first = handle.get();
  pool.GiveBack("a", std::move(handle));
  const CurlHandle other = *pool.Take("b");
  EXPECT_NE(other.get(), first);
  const CurlHandle again = *pool.Take("a");
  EXPECT_EQ(again.get(), first);
}

TEST(HandlePool, HandleHasOneUserAtATime) {
  HandlePool pool;
  const CurlHandle one = *pool.Take("a");
  const CurlHandle other = *pool.Take("a");
  EXPECT_NE(one.get(), other.get());
}

TEST(HandlePool, IdleHandlesAreBounded) {
  HandlePool pool;
  std::vector<CurlHandle> handles;
  for (size_t i = 0; i <= HandlePool::kMaxIdle; ++i) handles.push_back(*pool.Take("x"));
  for (size_t i = 0; i <= HandlePool::kMaxIdle; ++i) {
    pool.GiveBack(absl::StrCat(i), std::move(handles[i]));
  }
  EXPECT_EQ(pool.idle(), HandlePool::kMaxIdle);
}

}  // namespace
}  // namespace kernelmill::fetcher
