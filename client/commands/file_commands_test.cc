#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "client/commands/commands.h"
#include "client/commands/testing/command_test.h"
#include "client/console/exit_code.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::HasSubstr;

class FileCommandsTest : public CommandTest {};

TEST_F(FileCommandsTest, ExtractFindsKernelsByAWrapperOfAnotherFile) {
  const TempDir dir = *TempDir::Create();
  std::filesystem::create_directory(dir.path() + "/p");
  EXPECT_THAT(
      WriteFile(dir.path() + "/p/util.py", "import triton\ndef my_jit(f): return triton.jit(f)\n"),
      IsOk());
  EXPECT_THAT(WriteFile(dir.path() + "/p/kernel.py",
                        "from .util import my_jit  # triton\n@my_jit\ndef found(): pass\n"),
              IsOk());
  EXPECT_EQ(Run(false, [&](Console& c) { return ExtractFiles({dir.path()}, c); }).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("p/kernel.py:2-3  found"));
}

TEST_F(FileCommandsTest, ValidateShowsTheFileThatNamesTheLicence) {
  const TempDir dir = *TempDir::Create();
  const std::string kernel =
      "import triton\nimport triton.language as tl\n@triton.jit\n"
      "def k(x, n: tl.constexpr):\n    i = tl.arange(0, n)\n    tl.store(x + i, tl.load(x + i))\n";
  EXPECT_THAT(WriteFile(dir.path() + "/LICENSE", "Licensed under the MIT License.\n"), IsOk());
  EXPECT_THAT(WriteFile(dir.path() + "/k.py", kernel), IsOk());
  const auto validate = [&](bool json) {
    return Run(json, [&](Console& c) { return ValidateFiles({dir.path() + "/k.py"}, c); }).value();
  };
  EXPECT_EQ(validate(false), kDone);
  EXPECT_THAT(out_, HasSubstr("accepted  MIT (" + dir.path() + "/LICENSE:1)  score"));
  EXPECT_EQ(validate(true), kDone);
  EXPECT_THAT(out_, HasSubstr("\"path\":\"" + dir.path() + "/LICENSE\""));
  EXPECT_THAT(WriteFile(dir.path() + "/LICENSE", "Ask Ann.\n"), IsOk());
  EXPECT_EQ(validate(false), kInputsFailed);
  EXPECT_THAT(out_, HasSubstr("NOASSERTION (file:" + dir.path() + "/LICENSE)  score"));
  EXPECT_THAT(WriteFile(dir.path() + "/k.py", "# SPDX-License-Identifier: ISC\n" + kernel), IsOk());
  EXPECT_EQ(validate(false), kDone);
  EXPECT_THAT(out_, HasSubstr("ISC (" + dir.path() + "/k.py:1)  score"));
}

}  // namespace
}  // namespace kernelmill::client
