#include "client/program/command_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/file.h"

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
    TakesFolder(crawl->add_option("--data", data_, "kept"));
    crawl->add_option("--workers", workers_, "tasks")->check(CLI::Range(1, 9));
    crawl->add_option("--flag", flags_, "kinds")->check(CLI::IsMember({"pair", "license"}));
    TakesWord(crawl->add_option("--stage", stage_, "a stage"), {"fetch", "pin"});
    crawl->add_option("--level", workers_, "level")
        ->transform(
            CLI::CheckedTransformer(std::map<std::string, int>{{"debug", 0}, {"error", 1}}));
    crawl->add_flag("--tree", tree_, "don't forget the files");
    TakesFile(crawl->add_option("JOB.yaml", job_, "job file"))->required();
    crawl->add_option_group("which")->add_option("--job", job_, "in a group");
    CLI::App* store = app_.add_subcommand("store", "maintain a store");
    store->add_subcommand("gc", "drop content");
    table_ = ListCommands(app_);
  }

  // Returns what the script offers for a command line whose last word is being written: the words,
  // or what bash itself is to complete.
  std::string Complete(const std::vector<std::string>& words) {
    const std::string script = absl::StrCat(
        CompletionScript(table_, "bash"), "compopt() { echo \"compopt $2\"; }\nCOMP_WORDS=('",
        absl::StrJoin(words, "' '"), "')\nCOMP_CWORD=", words.size() - 1,
        "\n_kernelmill\necho ${COMPREPLY[@]}\n");
    const TempDir dir = *TempDir::Create();
    const std::string file = dir.path() + "/complete";
    EXPECT_TRUE(WriteFile(file, script).ok());
    std::FILE* const bash = popen(("bash " + file + " 2>&1").c_str(), "r");
    std::string said(4096, '\0');
    said.resize(std::fread(said.data(), 1, said.size(), bash));
    EXPECT_EQ(pclose(bash), 0);
    return std::string(absl::StripAsciiWhitespace(said));
  }

  std::string out_, job_, data_, stage_;
  std::vector<std::string> flags_;
  int workers_ = 0;
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
  ASSERT_EQ(flags.size(), 10u);
  EXPECT_EQ(flags[0].name, "JOB.yaml");
  EXPECT_TRUE(flags[0].is_argument);
  EXPECT_EQ(flags[1].name, "--help");
  EXPECT_EQ(flags[1].short_name, "-h");
  EXPECT_FALSE(flags[1].takes_value);
  EXPECT_EQ(flags[2].name, "--out");
  EXPECT_EQ(flags[2].help, "folder: a new one");
  EXPECT_EQ(flags[2].variable, "KERNELMILL_OUT");
  EXPECT_TRUE(flags[2].takes_value && flags[2].required);
  EXPECT_FALSE(flags[8].takes_value);
  EXPECT_EQ(flags[9].name, "--job");
}

TEST_F(CommandTableTest, BashCompletesValues) {
  EXPECT_EQ(Complete({"kernelmill", ""}), "crawl store");
  EXPECT_EQ(Complete({"kernelmill", "crawl", ""}), "compopt default");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--tree", ""}), "compopt default");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--data", ""}), "compopt dirnames");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--data", "=", "x"}), "compopt dirnames");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--workers", ""}), "");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--flag", ""}), "pair license");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--flag", "="}), "pair license");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--stage", "p"}), "pin");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--level", ""}), "debug error");
  EXPECT_EQ(Complete({"kernelmill", "crawl", "--wor"}), "--workers");
  EXPECT_EQ(Complete({"kernelmill", "store", ""}), "gc");
  EXPECT_EQ(Complete({"kernelmill", "store", "gc", ""}), "");
}

TEST_F(CommandTableTest, TextsAreQuotedForEachShell) {
  EXPECT_THAT(CompletionScript(table_, "bash"),
              HasSubstr("'crawl') commands='' flags='--help --out --data --workers --flag "
                        "--stage --level --tree --job' ;;"));
  EXPECT_THAT(CompletionScript(table_, "zsh"), HasSubstr("'--tree[don'\\''t forget the files]'"));
  EXPECT_THAT(CompletionScript(table_, "zsh"), HasSubstr("'--out=[folder\\: a new one]:value: '"));
  EXPECT_THAT(CompletionScript(table_, "zsh"), HasSubstr("'--data=[kept]:value:_files -/'"));
  EXPECT_THAT(CompletionScript(table_, "zsh"), HasSubstr("'--stage=[a stage]:value:(fetch pin)'"));
  EXPECT_THAT(CompletionScript(table_, "zsh"), HasSubstr("'*:value:_files'"));
  EXPECT_THAT(CompletionScript(table_, "fish"), HasSubstr(" -l stage -x -a 'fetch pin' -d"));
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
