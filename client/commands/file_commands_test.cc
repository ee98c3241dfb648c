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

}  // namespace
}  // namespace kernelmill::client
