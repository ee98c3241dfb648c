#include "client/program/command_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandTableTest : public ::testing::Test {
 protected:
  CommandTableTest() : app_("Makes datasets.", "kernelmill") {
    CLI::App* crawl = app_.add_subcommand("crawl", "run a job, and write [its] dataset's files");
    crawl->add_option("--out", out_, "folder: a\nnew one")->required()->envname("KERNELMILL_OUT");
    crawl->add_flag("--tree", tree_, "don't forget the files");
    crawl->add_option("JOB.yaml", job_, "job file")->required();
    crawl->add_option_group("which")->add_option("--job", job_, "in a group");
    CLI::App* store = app_.add_subcommand("store", "maintain a store");
    store->add_subcommand("gc", "drop content");
    table_ = ListCommands(app_);
  }

  std::string out_, job_;
  bool tree_ = false;
  CLI::App app_;
  std::vector<CommandEntry> table_;
};

TEST_F(CommandTableTest, HasEveryCommandWithItsFlags) {
  std::vector<std::string> names;
  for (const CommandEntry& command : table_) names.push_back(command.name);
  EXPECT_THAT(names, ElementsAre("", "crawl", "store", "store gc"));
  EXPECT_THAT(table_[2].commands, ElementsAre("gc"));
  const std::vector<FlagEntry>& flags = table_[1].flags;
  ASSERT_EQ(flags.size(), 5u);
  EXPECT_EQ(flags[0].name, "JOB.yaml");
  EXPECT_TRUE(flags[0].is_argument);
  EXPECT_EQ(flags[1].name, "--help");
  EXPECT_EQ(flags[1].short_name, "-h");
  EXPECT_FALSE(flags[1].takes_value);
  EXPECT_EQ(flags[2].name, "--out");
  EXPECT_EQ(flags[2].help, "folder: a new one");
  EXPECT_EQ(flags[2].variable, "KERNELMILL_OUT");
  EXPECT_TRUE(flags[2].takes_value && flags[2].required);
  EXPECT_FALSE(flags[3].takes_value);
  EXPECT_EQ(flags[4].name, "--job");
}

TEST_F(CommandTableTest, TextsAreQuotedForEachShell) {
  EXPECT_THAT(CompletionScript(table_, "bash"),
              HasSubstr("'crawl') commands='' flags='--help --out --tree --job' ;;"));
  EXPECT_THAT(CompletionScript(table_, "zsh"), HasSubstr("'--tree[don'\\''t forget the files]'"));
  EXPECT_THAT(CompletionScript(table_, "zsh"),
              HasSubstr("'--out=[folder\\: a new one]:value:_files'"));
  EXPECT_THAT(CompletionScript(table_, "fish"),
              HasSubstr("-n '__fish_seen_subcommand_from crawl' -l tree -d 'don\\'t forget"));
  EXPECT_THAT(
      CompletionScript(table_, "fish"),
      HasSubstr("-n '__fish_seen_subcommand_from store; and not __fish_seen_subcommand_from "
                "gc' -f -a gc -d 'drop content'"));
}

TEST_F(CommandTableTest, ManualPageIsRoff) {
  const std::string page = ManualPage(table_, "1.2", "Makes datasets.\n\n.so /etc/passwd");
  EXPECT_THAT(page, HasSubstr(".SS \"crawl JOB.yaml\"\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-\\-out\\fR \\fIVALUE\\fR\nfolder: a new one (required; "
                              "environment: KERNELMILL_OUT)\n"));
  EXPECT_THAT(page, HasSubstr(".SS \"store gc\"\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n.so")));
}

TEST_F(CommandTableTest, JsonHasTheSame) {
  EXPECT_THAT(CommandsJson(table_), HasSubstr("\"name\": \"store gc\""));
  EXPECT_THAT(CommandsJson(table_), HasSubstr("\"variable\": \"KERNELMILL_OUT\""));
}

}  // namespace
}  // namespace kernelmill::client
