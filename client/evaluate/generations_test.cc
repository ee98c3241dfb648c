#include "client/evaluate/generations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

class GenerationsTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(dir_.path(), "/", name);
    EXPECT_THAT(WriteFile(path, text), IsOk());
    return path;
  }

  Generations Read(const std::string& text) {
    return ReadGenerations(Write("g.jsonl", text)).value();
  }

  std::string ErrorOf(const std::string& text) {
    const absl::Status status = ReadGenerations(Write("g.jsonl", text)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(status.message());
  }

  TempDir dir_ = *TempDir::Create();
};

TEST_F(GenerationsTest, RowsOfOneTaskAreItsSamples) {
  const std::string text =
      "{\"task_id\": \"b\", \"completion\": \"1\"}\n\n"
      "{\"task_id\": \"a\", \"completion\": \"2\"}\r\n"
      "{\"task_id\": \"b\", \"samples\": [\"3\", \"4\"], \"reference\": \"r\"}";
  const Generations read = Read(text);
  ASSERT_EQ(read.tasks.size(), 2u);
  EXPECT_EQ(read.tasks[0].id, "b");
  ASSERT_EQ(read.tasks[0].samples.size(), 3u);
  EXPECT_EQ(read.tasks[0].samples[2].answer, "4");
  EXPECT_EQ(read.tasks[0].reference, "r");
  EXPECT_EQ(read.tasks[1].reference, std::nullopt);
  EXPECT_EQ(read.samples(), 4u);
  EXPECT_EQ(read.file, "g.jsonl");
  EXPECT_EQ(read.file_sha256, Sha256Hex(text));
}

TEST_F(GenerationsTest, WithoutATaskThePromptNamesIt) {
  const Generations read = Read(
      "{\"prompt\": \"p\", \"completion\": \"1\"}\n{\"prompt\": \"q\", \"completion\": \"2\"}\n"
      "{\"prompt\": \"p\", \"completion\": \"3\"}\n{\"completion\": \"4\"}\n");
  ASSERT_EQ(read.tasks.size(), 3u);
  EXPECT_EQ(read.tasks[0].id, "prompt-" + Sha256Hex("p").substr(0, 12));
  EXPECT_EQ(read.tasks[0].samples.size(), 2u);
  EXPECT_EQ(read.tasks[2].id, "row-4");
}

TEST_F(GenerationsTest, AListInOneFileIsItsRows) {
  for (const char* text : {"[[\"a\", \"b\"], [\"c\"]]", "[\n [\"a\", \"b\"],\n [\"c\"]\n]\n",
                           "[\"a\", \"b\"]\n[\"c\"]\n"}) {
    const Generations read = Read(text);
    ASSERT_EQ(read.tasks.size(), 2u) << text;
    EXPECT_EQ(read.tasks[0].samples.size(), 2u) << text;
    EXPECT_EQ(read.tasks[1].id, "row-2") << text;
  }
}

TEST_F(GenerationsTest, ErrorsNameTheLine) {
  EXPECT_THAT(ErrorOf("{\"completion\": \"1\"}\n{\"completion\":\n"),
              HasSubstr("g.jsonl:2: not JSON"));
  EXPECT_THAT(ErrorOf("{\"completion\": \"\xff\"}\n"), HasSubstr("g.jsonl:1: not JSON in UTF-8"));
  EXPECT_THAT(ErrorOf("[[\"a\"], 5]"), HasSubstr("g.jsonl, row 2"));
  EXPECT_THAT(ErrorOf("{\"task_id\": 1, \"prompt\": \"p\", \"completion\": \"\"}\n"
                      "{\"task_id\": 1, \"prompt\": \"q\", \"completion\": \"\"}\n"),
              HasSubstr("g.jsonl:2: task 1 has another prompt than in row 1"));
  EXPECT_THAT(ErrorOf("\n"), HasSubstr("has no samples"));
  EXPECT_THAT(ReadGenerations("/nowhere/g.jsonl"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(GenerationsTest, AFileOfReferencesGoesByTask) {
  Generations read = Read(
      "{\"task_id\": 1, \"completion\": \"a\", \"reference\": \"old\"}\n"
      "{\"task_id\": 2, \"completion\": \"b\"}\n");
  const std::string references =
      Write("r.jsonl",
            "{\"task_id\": \"1\", \"canonical_solution\": \"```python\\nnew\\n```\"}\n"
            "{\"task_id\": \"3\", \"output\": \"c\"}\n");
  EXPECT_THAT(AddReferences(references, &read), IsOk());
  EXPECT_EQ(read.tasks[0].reference, "new\n");
  EXPECT_EQ(read.tasks[1].reference, std::nullopt);

  const std::string twice = Write("t.jsonl",
                                  "{\"task_id\": 1, \"output\": \"a\"}\n"
                                  "{\"task_id\": 1, \"output\": \"b\"}\n");
  EXPECT_THAT(AddReferences(twice, &read).message(),
              HasSubstr("t.jsonl:2: task 1 has a reference"));
  const std::string none = Write("n.jsonl", "{\"task_id\": 9, \"output\": \"a\"}\n");
  EXPECT_THAT(AddReferences(none, &read).message(), HasSubstr("for no task"));
}

}  // namespace
}  // namespace kernelmill::client
