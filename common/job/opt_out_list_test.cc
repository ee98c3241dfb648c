#include "common/job/opt_out_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/job/job_file.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kHash(64, 'a');

std::string Text(const v1::OptOut& entry) {
  return absl::StrCat(entry.repository(), "|", entry.owner(), "|", entry.path(), "|",
                      entry.sha256());
}

std::vector<std::string> Listed(const std::string& text, const std::string& path) {
  const auto entries = ParseOptOutList(text, path);
  EXPECT_THAT(entries, IsOk());
  std::vector<std::string> out;
  if (!entries.ok()) return out;
  for (const v1::OptOut& entry : *entries) out.push_back(Text(entry));
  return out;
}

TEST(OptOutList, ATextFileTellsRepositoriesOwnersAndHashesApart) {
  EXPECT_THAT(Listed("# asked for in May\n"
                     "https://github.com/a/b.git  # by mail\n"
                     "github.com/someone\n"
                     "https://github.com/else/\n"
                     "gitlab.com/g/sub/name\n"
                     "owner/name\n\n" +
                         std::string(64, 'A') + "\r\ngithub.com/someone\n",
                     "o.txt"),
              ElementsAre("https://github.com/a/b.git|||", "|github.com/someone||",
                          "|https://github.com/else/||", "gitlab.com/g/sub/name|||",
                          "owner/name|||", absl::StrCat("|||", kHash)));
}

TEST(OptOutList, RowsHaveTheFieldsAndWhatElseAPersonKeeps) {
  EXPECT_THAT(
      Listed("Repository,path,who,sha256\na/b,\"x/{a,b}.py\",Ann,\n,,Bob," + kHash + "\n", "o.csv"),
      ElementsAre("a/b||x/{a,b}.py|", absl::StrCat("|||", kHash)));
  EXPECT_THAT(Listed(R"({"owner": "github.com/x", "path": null, "date": 5})"
                     "\n",
                     "o.jsonl"),
              ElementsAre("|github.com/x||"));
}

TEST(OptOutList, WhatNamesNothingIsRefusedWithItsLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"o.txt", "a/b\njust-a-word\n"},
      {"o.txt", "# nothing\n"},
      {"o.csv", "path\nx.py\n"},
      {"o.jsonl", "[1]\n"},
      {"o.jsonl", "{\"repository\": 5}\n"},
      {"o.yaml", "a/b\n"},
  };
  for (const auto& [path, text] : wrong) {
    const absl::Status read = ParseOptOutList(text, path).status();
    EXPECT_THAT(read, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(std::string(read.message()), StartsWith(absl::StrCat(path, ":"))) << text;
  }
  EXPECT_THAT(std::string(ParseOptOutList("a/b\nword\n", "o.txt").status().message()),
              StartsWith("o.txt:2:"));
}

TEST(OptOutList, AJobFileNamesOneAndItsLockHasTheEntries) {
  const TempDir dir = *TempDir::Create();
  ASSERT_THAT(WriteFile(dir.path() + "/o.txt", "github.com/someone\n" + kHash + "\n"), IsOk());
  const std::string head = "name: j\nsources:\n  - git: https://example.org/a\n";
  const std::string path = dir.path() + "/job.yaml";
  for (const char* how : {"opt_out: o.txt\n", "opt_out:\n  - list: o.txt\n"}) {
    const auto spec = ParseJobFile(head + how, path);
    ASSERT_THAT(spec, IsOk()) << how;
    ASSERT_EQ(spec->opt_out_size(), 2);
    EXPECT_EQ(Text(spec->opt_out(0)), "|github.com/someone||");
    EXPECT_EQ(Text(spec->opt_out(1)), absl::StrCat("|||", kHash));
    const auto again = ParseJobFile(JobFileYaml(*spec), path);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->SerializeAsString(), spec->SerializeAsString());
  }
  v1::JobSpec unread;
  unread.set_name("j");
  unread.add_sources()->set_git("https://example.org/a");
  unread.add_opt_out()->set_list("o.txt");
  EXPECT_THAT(CheckJobSpec(unread), StatusIs(absl::StatusCode::kInvalidArgument));
  const absl::Status missing = ParseJobFile(head + "opt_out: none.txt\n", path).status();
  EXPECT_THAT(std::string(missing.message()), HasSubstr("opt_out[0].list"));
}

TEST(JobFile, GatesAreBoundsOfEveryKindOfNumber) {
  const std::string head = "name: j\nsources:\n  - git: https://example.org/a\n";
  const auto spec = ParseJobFile(
      head + "gates: {min_kept: 5000000000, max_contaminated: 0.1, max_unknown_license: 0}\n", "j");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->gates().min_kept(), 5'000'000'000);
  EXPECT_EQ(spec->gates().max_contaminated(), 0.1);
  EXPECT_TRUE(spec->gates().has_max_unknown_license());
  EXPECT_FALSE(spec->gates().has_max_rejected());
  const auto again = ParseJobFile(JobFileYaml(*spec), "j");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->SerializeAsString(), spec->SerializeAsString());
  for (const char* wrong :
       {"min_kept: -1", "max_rejected: 1.5", "max_duplicate: -0.1", "max_failed_sources: -2",
        "max_failed_files: 2", "max_contaminated: .nan", "min_kept: 0.5", "max_kept: 3"}) {
    EXPECT_THAT(ParseJobFile(head + "gates: {" + wrong + "}\n", "j").status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << wrong;
  }
}

}  // namespace
}  // namespace kernelmill::job
