#include "services/fetcher/adapters/wheel/index_setting.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

TEST(IndexSetting, PipConfiguration) {
  EXPECT_EQ(IndexInPipConfig("# x\n[global]\nindex-url = https://a.example.org/simple\n"),
            "https://a.example.org/simple");
  EXPECT_EQ(IndexInPipConfig("[install]\nindex_url: https://b.example.org/s\n"),
            "https://b.example.org/s");
  EXPECT_EQ(IndexInPipConfig("[other]\nindex-url = https://c.example.org\n"), "");
  EXPECT_EQ(IndexInPipConfig("[global]\n#index-url = https://c.example.org\nextra-index-url = d\n"),
            "");
}

TEST(IndexSetting, OptionThenEnvironmentThenFile) {
  const TempDir folder = *TempDir::Create();
  const std::string file = folder.path() + "/pip.conf";
  ASSERT_THAT(WriteFile(file, "[global]\nindex-url = https://file.example.org/simple\n"), IsOk());
  ::setenv("PIP_CONFIG_FILE", file.c_str(), 1);
  ::setenv("PIP_INDEX_URL", "https://env.example.org/simple", 1);
  EXPECT_EQ(*ResolvePackageIndex("https://option.example.org/simple"),
            "https://option.example.org/simple");
  EXPECT_EQ(*ResolvePackageIndex(""), "https://env.example.org/simple");
  ::unsetenv("PIP_INDEX_URL");
  EXPECT_EQ(*ResolvePackageIndex(""), "https://file.example.org/simple");
  ::unsetenv("PIP_CONFIG_FILE");
}

TEST(IndexSetting, WhatIsNoHttpUrlIsRefused) {
  EXPECT_THAT(ResolvePackageIndex("file:///srv/simple"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::fetcher
