#include "client/review/review_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/job/review_list.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Gives the keys of a script, then the end; keeps what was written.
class ScriptedTerminal final : public Terminal {
 public:
  explicit ScriptedTerminal(std::string keys, int rows = 24)
      : keys_(std::move(keys)), rows_(rows) {}

  int rows() const override { return rows_; }
  int columns() const override { return 80; }
  void Write(absl::string_view text) override { shown_ += std::string(text); }
  int ReadKey() override {
    return next_ == keys_.size() ? kEnd : static_cast<unsigned char>(keys_[next_++]);
  }

  const std::string& shown() const { return shown_; }

 private:
  const std::string keys_;
  const int rows_;
  size_t next_ = 0;
  std::string shown_;
};

// A dataset of three kernels that are flagged: one for its words, two for their licences.
class ReviewSessionTest : public ::testing::Test {
 protected:
  ReviewSessionTest() : folder_(*TempDir::Create()) {
    Put("cuda_triton_pairs.jsonl", "");
    Put("kernels.jsonl",
        absl::StrCat(Record('a', "0.9", "1", "x\\u001b[2Jy\\n"),
                     Record('b', "null", "0.5", "bbb\\n"), Record('c', "null", "0.1", "ccc\\n")));
  }

  void Put(const std::string& name, const std::string& text) {
    EXPECT_THAT(WriteFile(folder_.path() + "/" + name, text), IsOk());
  }

  static std::string Record(char id, const std::string& overlap, const std::string& confidence,
                            const std::string& source) {
    return absl::StrCat(R"({"id": ")", std::string(32, id), R"(", "repository": "r", "path": ")",
                        std::string(1, id), R"(.py", "name": "k", "sha256": ")",
                        std::string(64, id),
                        R"(", "first_line": 1, "last_line": 2, "dsl": "triton", "not_utf8": [], )",
                        R"("license": {"expression": "MIT", "evidence": "header", "confidence": )",
                        confidence, R"(}, "word_overlap": )", overlap, R"(, "module": "whole )",
                        std::string(1, id), R"(", "source": ")", source, "\"}\n");
  }

  std::string ReviewsPath() const { return folder_.path() + "/reviews.jsonl"; }

  ReviewCounts Run(ScriptedTerminal* terminal) {
    const auto items = FlaggedItems::Read(folder_.path(), {});
    EXPECT_THAT(items, IsOk());
    auto file = ReviewFile::Open(ReviewsPath());
    EXPECT_THAT(file, IsOk());
    const Reviewer reviewer = {"ann", "2026-11-23"};
    ReviewSession session(*items, reviewer, &*file, terminal);
    const auto counts = session.Run();
    EXPECT_THAT(counts, IsOk());
    return counts.ok() ? *counts : ReviewCounts{};
  }

  // "FLAG PATH DECISION WHY" of each decision that holds.
  std::vector<std::string> Decided() const {
    std::vector<std::string> decided;
    const auto reviews = job::ReadReviewList(ReviewsPath());
    EXPECT_THAT(reviews, IsOk());
    for (const v1::Review& review : *reviews) {
      const bool accepted = review.decision() == v1::REVIEW_DECISION_ACCEPT;
      decided.push_back(absl::StrCat(review.flag(), " ", review.kernel().path(),
                                     accepted ? " accept" : " reject ", review.why()));
    }
    return decided;
  }

  const TempDir folder_;
};

TEST_F(ReviewSessionTest, DecisionsGoIntoTheFileTheMostDoubtfulFirst) {
  ScriptedTerminal terminal("arit is not theirs\ra");
  const ReviewCounts counts = Run(&terminal);
  EXPECT_EQ(counts.accepted, 2);
  EXPECT_EQ(counts.rejected, 1);
  EXPECT_EQ(counts.left, 0);
  EXPECT_THAT(Decided(),
              ElementsAre("word_overlap a.py accept", "license c.py reject it is not theirs",
                          "license b.py accept"));
}

TEST_F(ReviewSessionTest, ADecisionRefersToTheTextByItsHash) {
  ScriptedTerminal terminal("a");
  Run(&terminal);
  const auto reviews = job::ReadReviewList(ReviewsPath());
  ASSERT_THAT(reviews, IsOk());
  EXPECT_EQ(reviews->at(0).kernel().id(), "sha256:" + std::string(64, 'a'));
  EXPECT_EQ(reviews->at(0).kernel().repository(), "r");
  EXPECT_EQ(reviews->at(0).who(), "ann");
  EXPECT_EQ(reviews->at(0).date(), "2026-11-23");
}

TEST_F(ReviewSessionTest, WhatTheFileHasIsNotAskedAgain) {
  ScriptedTerminal first("aq");
  EXPECT_EQ(Run(&first).left, 2);
  ScriptedTerminal second("sa");
  const ReviewCounts counts = Run(&second);
  EXPECT_EQ(counts.skipped, 1);
  EXPECT_EQ(counts.left, 1);
  EXPECT_THAT(second.shown(), Not(HasSubstr("word_overlap")));
  EXPECT_THAT(Decided(), ElementsAre("word_overlap a.py accept", "license b.py accept"));
}

TEST_F(ReviewSessionTest, AnotherTextIsAskedAgain) {
  ScriptedTerminal first("aq");
  Run(&first);
  std::string record = Record('a', "0.9", "1", "z\\n");
  record.replace(record.find(std::string(64, 'a')), 64, std::string(64, 'f'));
  Put("kernels.jsonl", record);
  ScriptedTerminal second("q");
  EXPECT_EQ(Run(&second).left, 1);
}

TEST_F(ReviewSessionTest, BackShowsWhatWasDecidedAndTakesAnotherDecision) {
  ScriptedTerminal terminal("abrno good\rq");
  Run(&terminal);
  EXPECT_THAT(terminal.shown(), HasSubstr("accepted by ann, 2026-11-23"));
  EXPECT_THAT(Decided(), ElementsAre("word_overlap a.py reject no good"));
}

TEST_F(ReviewSessionTest, ARejectionNeedsAReason) {
  ScriptedTerminal terminal("r  \rrx\x1brnoo\x7f\rq");
  Run(&terminal);
  EXPECT_THAT(terminal.shown(), HasSubstr("a reason is required"));
  EXPECT_THAT(Decided(), ElementsAre("word_overlap a.py reject no"));
}

TEST_F(ReviewSessionTest, NoTextReachesTheTerminalAsACommand) {
  ScriptedTerminal terminal("q");
  Run(&terminal);
  EXPECT_THAT(terminal.shown(), HasSubstr("x\\x1b[2Jy"));
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("\x1b")));
}

TEST_F(ReviewSessionTest, LongTextComesByPages) {
  std::string lines;
  for (int i = 0; i < 20; ++i) absl::StrAppend(&lines, "line", i, "\\n");
  Put("kernels.jsonl", Record('a', "0.9", "1", lines));
  ScriptedTerminal first("q", /*rows=*/10);
  Run(&first);
  EXPECT_THAT(first.shown(), HasSubstr("line5\n"));
  EXPECT_THAT(first.shown(), Not(HasSubstr("line6")));
  EXPECT_THAT(first.shown(), HasSubstr("-- 14 more lines --"));
  ScriptedTerminal all("  q", /*rows=*/10);
  Run(&all);
  EXPECT_THAT(all.shown(), HasSubstr("line19\n"));
}

TEST_F(ReviewSessionTest, TheModuleIsShownOnRequest) {
  ScriptedTerminal terminal("mq");
  Run(&terminal);
  EXPECT_THAT(terminal.shown(), HasSubstr("whole a\n"));
}

}  // namespace
}  // namespace kernelmill::client
