#include "common/job/pair_list.h"

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

constexpr char kId[] = "0123456789abcdef0123456789abcdef";

std::string Text(const v1::KernelReference& kernel) {
  return absl::StrCat(kernel.id(), "|", kernel.repository(), "|", kernel.path(), "|", kernel.name(),
                      "|", kernel.line());
}

// "CUDA > TRITON" of each.
std::vector<std::string> Listed(const std::string& text, const std::string& path) {
  const auto pairs = ParsePairList(text, path);
  EXPECT_THAT(pairs, IsOk());
  std::vector<std::string> out;
  if (!pairs.ok()) return out;
  for (const v1::CuratedPair& pair : *pairs) {
    out.push_back(absl::StrCat(Text(pair.cuda()), " > ", Text(pair.triton())));
  }
  return out;
}

TEST(PairList, CsvHasColumnsForEachSideAndForBoth) {
  EXPECT_THAT(Listed("\xef\xbb\xbfRepository,cuda_path,cuda_name,triton_path,triton_line,note\r\n"
                     "ops,a.cu,k,a.py,7,\"x, y\"\r\nops,b.cu,m,b.py,9,\r\n",
                     "p.csv"),
              ElementsAre("|ops|a.cu|k|0 > |ops|a.py||7", "|ops|b.cu|m|0 > |ops|b.py||9"));
  EXPECT_THAT(Listed(absl::StrCat("repository,cuda_id,triton_repository,triton_path,triton_name\n",
                                  "a,", kId, ",b,x.py,k\n"),
                     "P.CSV"),
              ElementsAre(absl::StrCat(kId, "|a|||0 > |b|x.py|k|0")));
}

TEST(PairList, JsonLinesHaveAnObjectForEachSideOrTheColumnsNames) {
  EXPECT_THAT(
      Listed(absl::StrCat("{\"cuda\": {\"id\": \"", kId,
                          "\", \"tags\": []}, \"triton\": {\"path\": \"a.py\", \"line\": 3},"
                          " \"score\": 0.5}\n\n"),
             "p.jsonl"),
      ElementsAre(absl::StrCat(kId, "||||0 > ||a.py||3")));
  EXPECT_THAT(Listed("{\"cuda_path\": \"a.cu\", \"cuda_line\": 2, \"triton_path\": \"a.py\", "
                     "\"triton_name\": \"k\"}",
                     "p.jsonl"),
              ElementsAre("||a.cu||2 > ||a.py|k|0"));
}

TEST(PairList, APairThatComesAgainIsLeftOut) {
  EXPECT_THAT(
      Listed("cuda_path,triton_path,line\na.cu,a.py,1\na.cu,a.py,2\na.cu,a.py,1\n", "p.csv"),
      ElementsAre("||a.cu||1 > ||a.py||1", "||a.cu||2 > ||a.py||2"));
}

TEST(PairList, WhatNamesNoTwoKernelsIsRefusedWithItsLine) {
  const auto refusal = [](const std::string& text, const std::string& path) {
    const auto pairs = ParsePairList(text, path);
    EXPECT_THAT(pairs, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(pairs.status().message());
  };
  EXPECT_THAT(refusal("cuda_path,name\na.cu,k\n", "p.csv"), StartsWith("p.csv:2: pair.triton"));
  EXPECT_THAT(refusal("path,cuda_name\na,k\n", "p.csv"), StartsWith("p.csv:2: pair.triton"));
  EXPECT_THAT(refusal("path,name\na,k,z\n", "p.csv"), StartsWith("p.csv:2: has 3 fields"));
  EXPECT_THAT(refusal("path,line\na,one\n", "p.csv"), HasSubstr("must be a whole number"));
  EXPECT_THAT(refusal("cuda_id,path,name\nABC,a,k\n", "p.csv"), HasSubstr("pair.cuda.id"));
  EXPECT_THAT(refusal("path,name\na,\xff\n", "p.csv"), HasSubstr("name: must be UTF-8"));
  EXPECT_THAT(refusal("path,name\n", "p.csv"), HasSubstr("must list at least one pair"));
  EXPECT_THAT(refusal("\n[1]\n", "p.jsonl"), StartsWith("p.jsonl:2: must be a JSON object"));
  EXPECT_THAT(refusal("a b\n", "p.txt"), HasSubstr(".csv or .jsonl"));
}

TEST(PairList, MoreThanAJobMayHaveAreRefused) {
  std::string text = "path,line\n";
  for (size_t i = 1; i <= kMaxPairs; ++i) absl::StrAppend(&text, "a,", i, "\n");
  EXPECT_THAT(ParsePairList(text, "p.csv"), IsOk());
  EXPECT_THAT(ParsePairList(text + "a,99999\n", "p.csv"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

class PairsInJobFile : public ::testing::Test {
 protected:
  PairsInJobFile() : folder_(*TempDir::Create()) {}

  absl::StatusOr<v1::JobSpec> Parse(const std::string& pairs) {
    return ParseJobFile(absl::StrCat("name: a\nsources:\n  - git: https://x.org/a\n", pairs),
                        absl::StrCat(folder_.path(), "/job.yaml"));
  }

  const TempDir folder_;
};

TEST_F(PairsInJobFile, AListIsReadBesideTheFileAndItsPairsAreWrittenOut) {
  ASSERT_THAT(WriteFile(folder_.path() + "/pairs.csv", "path,name\na,k\nb,l\n"), IsOk());
  const auto spec = Parse("pairs: pairs.csv\n");
  ASSERT_THAT(spec, IsOk());
  ASSERT_EQ(spec->pairs_size(), 2);
  EXPECT_EQ(spec->pairs(1).triton().path(), "b");
  const auto again = ParseJobFile(JobFileYaml(*spec), "lock.yaml");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->SerializeAsString(), spec->SerializeAsString());
}

TEST_F(PairsInJobFile, ListsAndPairsStandBesideEachOther) {
  ASSERT_THAT(WriteFile(folder_.path() + "/pairs.csv", "path,name\na,k\n"), IsOk());
  const auto spec = Parse(
      "pairs:\n  - {cuda: {path: x.cu, line: 3}, triton: {path: x.py, name: k}}\n"
      "  - list: pairs.csv\n");
  ASSERT_THAT(spec, IsOk());
  ASSERT_EQ(spec->pairs_size(), 2);
  EXPECT_EQ(spec->pairs(0).cuda().line(), 3);
  EXPECT_EQ(spec->pairs(1).cuda().name(), "k");
}

TEST_F(PairsInJobFile, WhatIsWrongIsSaidOfItsLine) {
  const auto message = [&](const std::string& pairs) {
    const auto spec = Parse(pairs);
    EXPECT_THAT(spec, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(spec.status().message());
  };
  EXPECT_THAT(message("pairs: gone.csv\n"), HasSubstr("job.yaml:4: pairs[0].list: "));
  EXPECT_THAT(message("pairs: 5\n"), HasSubstr("job.yaml:4: pairs[0].list: must be text"));
  EXPECT_THAT(message("pairs:\n  - {cuda: {path: x.cu, line: 3}}\n"),
              HasSubstr("job.yaml:5: pairs[0].triton: must name a kernel"));
  EXPECT_THAT(message("pairs:\n  - {list: a.csv, cuda: {path: x.cu, line: 3}}\n"),
              HasSubstr("must be a list or a pair, not both"));
  ASSERT_THAT(WriteFile(folder_.path() + "/bad.csv", "path\na\n"), IsOk());
  EXPECT_THAT(message("pairs: bad.csv\n"), HasSubstr("bad.csv:2: pair.cuda: must name a kernel"));
}

TEST(PairsInJobSpec, AListThatWasNotReadIsRefused) {
  v1::JobSpec spec;
  spec.set_name("a");
  spec.add_sources()->set_git("https://x.org/a");
  spec.add_pairs()->set_list("pairs.csv");
  EXPECT_THAT(CheckJobSpec(spec), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckWrittenSpec(spec), IsOk());
}

}  // namespace
}  // namespace kernelmill::job
