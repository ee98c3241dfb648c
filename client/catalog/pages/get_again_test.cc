#include "client/catalog/pages/get_again.h"

#include <gtest/gtest.h>

namespace kernelmill::client {
namespace {

CatalogKernel Kernel(const std::string& url, const std::string& path) {
  CatalogKernel kernel;
  kernel.repository_url = url;
  kernel.commit = "0123456789abcdef0123456789abcdef01234567";
  kernel.path = path;
  kernel.first_line = 3;
  kernel.last_line = 9;
  return kernel;
}

TEST(GetAgain, OfAForgeThatHasFilesIsOneDownload) {
  EXPECT_EQ(
      GetAgainCommands(Kernel("https://github.com/a/b", "ops/soft max.py")),
      "curl -fL -o './soft max.py' "
      "'https://github.com/a/b/raw/0123456789abcdef0123456789abcdef01234567/ops/soft%20max.py'\n"
      "sed -n '3,9p' './soft max.py'\n");
}

TEST(GetAgain, OfAnotherIsAFetchOfTheCommit) {
  EXPECT_EQ(GetAgainCommands(Kernel("https://example.com/a/b", "k.py")),
            "git init -q kernel && git -C kernel fetch -q --depth 1 'https://example.com/a/b' "
            "0123456789abcdef0123456789abcdef01234567\n"
            "git -C kernel show '0123456789abcdef0123456789abcdef01234567:k.py' > './k.py'\n"
            "sed -n '3,9p' './k.py'\n");
}

TEST(GetAgain, AShellRunsNothingOfAName) {
  const std::string commands =
      GetAgainCommands(Kernel("https://example.com/a/b", "$(rm -r ~)'; x.py"));
  EXPECT_NE(commands.find("'./$(rm -r ~)'\\''; x.py'"), std::string::npos) << commands;
  EXPECT_EQ(GetAgainCommands(Kernel("https://example.com/a/b", "a\nb.py")), "");
  EXPECT_EQ(GetAgainCommands(Kernel("/home/me/b", "a.py")), "");
  EXPECT_EQ(GetAgainCommands(Kernel("-oProxyCommand=x", "a.py")), "");
}

}  // namespace
}  // namespace kernelmill::client
