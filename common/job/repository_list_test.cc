#include "common/job/repository_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/job/job_file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::StartsWith;

// "URL" or "URL@REF" of each.
std::vector<std::string> Listed(const std::string& text, const std::string& path) {
  const auto listed = ParseRepositoryList(text, path);
  EXPECT_THAT(listed, IsOk());
  std::vector<std::string> out;
  if (!listed.ok()) return out;
  for (const ListedRepository& repository : *listed) {
    out.push_back(repository.ref.empty() ? repository.url
                                         : absl::StrCat(repository.url, "@", repository.ref));
  }
  return out;
}

TEST(RepositoryList, TextHasOneALineAndComments) {
  EXPECT_THAT(Listed("\xef\xbb\xbf# ours\r\n"
                     "triton-lang/triton  # the language\r\n\n"
                     "  https://example.org/a#b.git\n"
                     "git://example.org/c",
                     "r.txt"),
              ElementsAre("https://github.com/triton-lang/triton", "https://example.org/a#b.git",
                          "git://example.org/c"));
}

TEST(RepositoryList, CsvHasAColumnOfRepositoriesAndPerhapsOneOfRefs) {
  EXPECT_THAT(
      Listed("stars,Repository,about,ref\n5,a/b,\"x, y\",main\n6,https://x.org/c,,\n", "r.csv"),
      ElementsAre("https://github.com/a/b@main", "https://x.org/c"));
  EXPECT_THAT(Listed("repo\na/b\n", "R.CSV"), ElementsAre("https://github.com/a/b"));
}

TEST(RepositoryList, JsonLinesAreObjectsOrStrings) {
  EXPECT_THAT(
      Listed("\"a/b\"\n\n{\"git\": \"https://x.org/c\", \"ref\": \"v1\", \"stars\": 3}\n"
             "{\"full_name\": \"d/e\", \"ref\": null}\n",
             "r.jsonl"),
      ElementsAre("https://github.com/a/b", "https://x.org/c@v1", "https://github.com/d/e"));
}

TEST(RepositoryList, WhatGithubAnswersIsReadForItsGitUrl) {
  EXPECT_THAT(Listed("{\"full_name\": \"a/b\", \"url\": \"https://api.github.com/repos/a/b\", "
                     "\"html_url\": \"https://github.com/a/b\"}\n",
                     "r.jsonl"),
              ElementsAre("https://github.com/a/b"));
}

TEST(RepositoryList, DuplicatesAreLeftOut) {
  EXPECT_THAT(
      Listed("a/b\nhttps://github.com/a/b.git\nhttps://github.com/a/b/\nc/d\na/b\n", "r.txt"),
      ElementsAre("https://github.com/a/b", "https://github.com/c/d"));
  EXPECT_THAT(Listed("repo,ref\na/b,v1\na/b,v2\na/b,v1\n", "r.csv"),
              ElementsAre("https://github.com/a/b@v1", "https://github.com/a/b@v2"));
}

TEST(RepositoryList, WhatIsWrongIsRefusedWithFileAndLine) {
  const std::string many = [] {
    std::string text;
    for (int i = 0; i <= 100'000; ++i) absl::StrAppend(&text, "a/r", i, "\n");
    return text;
  }();
  const struct {
    const char* path;
    std::string text;
    const char* message;
  } kCases[] = {
      {"r.txt", "a/b\nkernels\n", "r.txt:2: \"kernels\" must be a URL"},
      {"r.txt", "a/b\n../c\n", "r.txt:2: \"../c\" must be a URL"},
      {"r.txt", "git@github.com:a/b\n", "r.txt:1: \"git@github.com:a/b\" must be a URL"},
      {"r.txt", "--upload-pack=x://y\n", "r.txt:1: the repository: must not begin with '-'"},
      {"r.txt", "https://x.org/\x01\n", "r.txt:1: the repository: must not contain a control"},
      {"r.txt", "https://x.org/\xff\n", "r.txt:1: the repository: must be UTF-8"},
      {"r.txt", "https://x.org/" + std::string(5000, 'a'),
       "r.txt:1: the repository: must be at most 4096 bytes"},
      {"r.txt", "# none\n", "r.txt:1: must list at least one repository"},
      {"r.txt", many, "r.txt:100001: must have at most 100000"},
      {"r.csv", "", "r.csv:1: must list at least one repository"},
      {"r.csv", "name,stars\nx,1\n", "r.csv:1: must name a repository under one of html_url"},
      {"r.csv", "repo,stars\na/b,1\nc/d\n", "r.csv:3: has 1 fields; the header has 2"},
      {"r.csv", "repo,ref\na/b,-x\n", "r.csv:2: the ref: must not begin with '-'"},
      {"r.csv", "repo\n\"a/b\n", "r.csv:2: a quote"},
      {"r.jsonl", "{\"git\":\n", "r.jsonl:1: must be a JSON"},
      {"r.jsonl", "\"a/b\"\n5\n", "r.jsonl:2: must be a JSON object"},
      {"r.jsonl", "{\"git\": 5}\n", "r.jsonl:1: git: must be a string"},
      {"r.jsonl", "{\"name\": \"x\"}\n", "r.jsonl:1: must name a repository"},
      {"r.jsonl", std::string(1 << 20, '[') + std::string(1 << 20, ']'),
       "r.jsonl:1: must be a JSON object"},
      {"r.yaml", "- a/b\n", "r.yaml:1: a list of repositories must be a .txt, .csv or .jsonl file"},
  };
  for (const auto& c : kCases) {
    const auto listed = ParseRepositoryList(c.text, c.path);
    EXPECT_THAT(listed, StatusIs(absl::StatusCode::kInvalidArgument)) << c.message;
    EXPECT_THAT(std::string(listed.status().message()), StartsWith(c.message));
  }
}

class ListInAJobFile : public ::testing::Test {
 protected:
  absl::StatusOr<v1::JobSpec> Load(const std::string& sources) {
    EXPECT_THAT(WriteFile(path_, absl::StrCat("name: a\nsources:\n", sources)), IsOk());
    return LoadJobFile(path_);
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_THAT(WriteFile(absl::StrCat(folder_.path(), "/", name), text), IsOk());
  }

  TempDir folder_ = *TempDir::Create();
  const std::string path_ = folder_.path() + "/job.yaml";
};

TEST_F(ListInAJobFile, ItsRepositoriesStandInItsPlaceWithAllElseFromIt) {
  Write("r.csv", "repo,ref\na/b,\nc/d,v1\n");
  const auto spec = Load(
      "- git: https://x.org/first\n"
      "- list: r.csv\n  include: ['k/*.py']\n  category: listed\n  tier: 2\n  weight: 0.5\n"
      "  role: holdout\n"
      "- path: last\n");
  ASSERT_THAT(spec, IsOk());
  ASSERT_EQ(spec->sources_size(), 4);
  EXPECT_EQ(spec->sources(0).git(), "https://x.org/first");
  EXPECT_EQ(spec->sources(1).git(), "https://github.com/a/b");
  EXPECT_EQ(spec->sources(1).ref(), "");
  EXPECT_EQ(spec->sources(2).git(), "https://github.com/c/d");
  EXPECT_EQ(spec->sources(2).ref(), "v1");
  EXPECT_EQ(spec->sources(3).name(), "last");
  for (const int i : {1, 2}) {
    EXPECT_THAT(spec->sources(i).include(), ElementsAre("k/*.py"));
    EXPECT_EQ(spec->sources(i).category(), "listed");
    EXPECT_EQ(spec->sources(i).tier(), 2);
    EXPECT_EQ(spec->sources(i).weight(), 0.5);
    EXPECT_EQ(spec->sources(i).role(), v1::SOURCE_ROLE_HOLDOUT);
    EXPECT_EQ(spec->sources(i).name(), "");
  }
}

TEST_F(ListInAJobFile, ErrorsNameTheFileThatIsWrong) {
  Write("r.txt", "a/b\nkernels\n");
  const struct {
    const char* sources;
    std::string message;
  } kCases[] = {
      {"- list: r.txt\n", folder_.path() + "/r.txt:2: "},
      {"- git: u\n- list: none.txt\n", path_ + ":4: sources[1].list: "},
      {"- list: r.txt\n  ref: main\n", path_ + ":4: sources[0].ref: applies to a single"},
      {"- list: r.txt\n  name: x\n", path_ + ":4: sources[0].name: applies to a single"},
      {"- list: ''\n", path_ + ":3: sources[0].list: must not be empty"},
  };
  for (const auto& c : kCases) {
    const auto spec = Load(c.sources);
    EXPECT_THAT(spec, StatusIs(absl::StatusCode::kInvalidArgument)) << c.sources;
    EXPECT_THAT(std::string(spec.status().message()), StartsWith(c.message));
  }
}

}  // namespace
}  // namespace kernelmill::job
