#include "common/job/review_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/job/job_file.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

// A decision on a kernel, with `more` after its keys: of a key that comes twice the last counts.
std::string Line(const std::string& more) {
  return absl::StrCat(R"({"kernel": {"path": "a.py", "name": "k"}, "flag": "word_overlap", )",
                      R"("decision": "reject", "who": "ann", "why": "it repeats its prompt", )",
                      R"("date": "2026-11-23")", more, "}\n");
}

TEST(ReviewList, ALineIsReadAsItWasWritten) {
  v1::Review review;
  review.mutable_cuda()->set_id(absl::StrCat(kSha256Prefix, std::string(64, 'a')));
  review.mutable_triton()->set_path("b.py");
  review.mutable_triton()->set_line(7);
  review.set_flag(kFlagPair);
  review.set_decision(v1::REVIEW_DECISION_ACCEPT);
  review.set_who("bob");
  review.set_date("2026-11-23");
  review.mutable_cuda()->set_repository("r\"\\");
  const std::string line = ReviewLine(review);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto reviews = ParseReviewList(line, "r.jsonl");
  ASSERT_THAT(reviews, IsOk());
  ASSERT_EQ(reviews->size(), 1u);
  EXPECT_EQ(reviews->at(0).SerializeAsString(), review.SerializeAsString());
}

TEST(ReviewList, OfDecisionsOnTheSameTheLastHolds) {
  const auto reviews = ParseReviewList(absl::StrCat(Line(""), "\n", Line(R"(, "flag": "license")"),
                                                    Line(R"(, "decision": "accept", "why": "")")),
                                       "r.jsonl");
  ASSERT_THAT(reviews, IsOk());
  ASSERT_EQ(reviews->size(), 2u);
  EXPECT_EQ(reviews->at(0).decision(), v1::REVIEW_DECISION_ACCEPT);
  EXPECT_EQ(reviews->at(1).flag(), kFlagLicense);
}

TEST(ReviewList, WhatIsNoDecisionIsSaidByLine) {
  const auto problem = [](const std::string& text) {
    const auto reviews = ParseReviewList(Line("") + text, "r.jsonl");
    EXPECT_THAT(reviews, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(reviews.status().message(), HasSubstr("r.jsonl:2: "));
    return std::string(reviews.status().message().data(), reviews.status().message().size());
  };
  EXPECT_THAT(problem("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(problem(Line(R"(, "who": "")")), HasSubstr("review.who: must not be empty"));
  EXPECT_THAT(problem(Line(R"(, "why": "")")), HasSubstr("why: must not be empty"));
  EXPECT_THAT(problem(Line(R"(, "date": "today")")), HasSubstr("YYYY-MM-DD"));
  EXPECT_THAT(problem(Line(R"(, "decision": "perhaps")")), HasSubstr("must be accept or reject"));
  EXPECT_THAT(problem(Line(R"(, "flag": "pair")")), HasSubstr("flag"));
  EXPECT_THAT(problem(Line(R"(, "cuda": {"path": "a", "line": 1})")),
              HasSubstr("must have either kernel"));
  EXPECT_THAT(problem(Line(R"(, "kernel": {"path": "a.py"})")), HasSubstr("must name a kernel"));
  EXPECT_THAT(problem(Line(R"(, "kernel": {"id": "sha256:12"})")), HasSubstr("64 lowercase"));
}

TEST(ReviewList, AJobNamesItsFileAndSubmitsWhatItHolds) {
  const TempDir temp = *TempDir::Create();
  const std::string& folder = temp.path();
  ASSERT_THAT(WriteFile(folder + "/r.jsonl", Line("")), IsOk());
  const std::string job = "name: j\nsources:\n  - git: https://example.org/x\nreviews: r.jsonl\n";
  const auto spec = ParseJobFile(job, folder + "/job.yaml");
  ASSERT_THAT(spec, IsOk());
  ASSERT_EQ(spec->reviews_size(), 1);
  EXPECT_EQ(spec->reviews(0).who(), "ann");
  EXPECT_TRUE(spec->reviews(0).list().empty());
  const auto again = ParseJobFile(JobFileYaml(*spec), folder + "/lock.yaml");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->SerializeAsString(), spec->SerializeAsString());
}

TEST(ReviewList, ACoordinatorRefusesAFile) {
  v1::JobSpec spec;
  spec.set_name("j");
  spec.add_sources()->set_git("https://example.org/x");
  spec.add_reviews()->set_list("r.jsonl");
  EXPECT_THAT(CheckWrittenSpec(spec), IsOk());
  EXPECT_THAT(CheckJobSpec(spec), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckJobSpec(spec).message(), HasSubstr("reviews[0].list: must be replaced"));
}

}  // namespace
}  // namespace kernelmill::job
