#include "client/evaluate/generations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
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

  std::string ReadError(const std::string& text) {
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
  EXPECT_THAT(ReadError("{\"completion\": \"1\"}\n{\"completion\":\n"),
              HasSubstr("g.jsonl:2: must be JSON"));
  EXPECT_THAT(ReadError("{\"completion\": \"\xff\"}\n"),
              HasSubstr("g.jsonl:1: must be JSON in UTF-8"));
  EXPECT_THAT(ReadError("[[\"a\"], 5]"), HasSubstr("g.jsonl, row 2"));
  EXPECT_THAT(ReadError("{\"task_id\": 1, \"prompt\": \"p\", \"completion\": \"\"}\n"
                        "{\"task_id\": 1, \"prompt\": \"q\", \"completion\": \"\"}\n"),
              HasSubstr("g.jsonl:2: task 1: the prompt differs from that in row 1"));
  EXPECT_THAT(ReadError("\n"), HasSubstr("has no samples"));
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
              HasSubstr("t.jsonl:2: task 1: row 1 already has a reference"));
  const std::string none = Write("n.jsonl", "{\"task_id\": 9, \"output\": \"a\"}\n");
  EXPECT_THAT(AddReferences(none, &read).message(), HasSubstr("has no reference for a task"));
}

GenerationRow Parse(const char* json) {
  return ParseGenerationRow(nlohmann::json::parse(json)).value();
}

absl::Status ReadError(const char* json) {
  return ParseGenerationRow(nlohmann::json::parse(json)).status();
}

TEST(ParseGenerationRow, ReadsWhatHarnessesWrite) {
  struct Case {
    const char* json;
    std::vector<std::string> samples;
    std::string task;
    std::string prompt;
  };
  const Case cases[] = {
      {R"({"task_id": "t/1", "prompt": "p", "completion": "a"})", {"a"}, "t/1", "p"},
      {R"({"task_id": 7, "prompt": "p", "samples": ["a", "b"]})", {"a", "b"}, "7", "p"},
      // vLLM
      {R"({"prompt": "p", "outputs": [{"index": 0, "text": "a"}, {"index": 1, "text": "b"}]})",
       {"a", "b"},
       "",
       "p"},
      // OpenAI: chat completions, completions, batches
      {R"({"messages": [{"role": "user", "content": "p"}],
           "choices": [{"message": {"role": "assistant", "content": "a"}}]})",
       {"a"},
       "",
       "p"},
      {R"({"prompt": "p", "choices": [{"text": "a"}, {"text": "b"}]})", {"a", "b"}, "", "p"},
      {R"({"custom_id": "t", "response": {"status_code": 200, "body": {"choices":
           [{"message": {"content": "a"}}]}}})",
       {"a"},
       "t",
       ""},
      // lm-eval --log_samples
      {R"({"doc_id": 3, "target": "r", "arguments": {"gen_args_0": {"arg_0": "p", "arg_1": {}}},
           "resps": [["a", "b"]]})",
       {"a", "b"},
       "3",
       "p"},
      {R"({"doc_id": 3, "arguments": [["p", {"until": []}]], "resps": [["a"]]})", {"a"}, "3", "p"},
      // bigcode's generations.json
      {R"(["a", "b"])", {"a", "b"}, "", ""},
      // EvalPlus, LLaMA-Factory, transformers' pipelines
      {R"({"task_id": "t", "solution": "a"})", {"a"}, "t", ""},
      {R"({"prompt": "p", "predict": "a", "label": "r"})", {"a"}, "", "p"},
      {R"({"prompt": "p", "response": [{"generated_text": "a"}]})", {"a"}, "", "p"},
      {R"({"task_id": "t", "output": null})", {""}, "t", ""},
  };
  for (const Case& expected : cases) {
    const GenerationRow row = Parse(expected.json);
    EXPECT_EQ(row.samples, expected.samples) << expected.json;
    EXPECT_EQ(row.task_id, expected.task) << expected.json;
    EXPECT_EQ(row.prompt, expected.prompt) << expected.json;
  }
}

TEST(ParseGenerationRow, ReadsReferences) {
  EXPECT_EQ(Parse(R"({"completion": "a", "canonical_solution": "r"})").reference, "r");
  EXPECT_EQ(Parse(R"({"predict": "a", "label": ""})").reference, std::nullopt);
  EXPECT_EQ(Parse(R"({"completion": "a", "reference": null})").reference, std::nullopt);
}

TEST(ParseGenerationRow, SaysWhatIsWrong) {
  EXPECT_THAT(ReadError(R"({"task_id": "t"})").message(),
              HasSubstr("has no text under one of samples, completions, "));
  EXPECT_THAT(ReadError(R"({"task_id": "t", "completon": "x"})").message(),
              HasSubstr("the row has completon (did you mean completion?), task_id"));
  EXPECT_THAT(ReadError(R"({"completion": 5})").message(),
              HasSubstr("completion: must be a text, not of type number"));
  EXPECT_THAT(ReadError(R"({"samples": []})").message(), HasSubstr("has no samples"));
  EXPECT_THAT(ReadError(R"({"task_id": [1], "completion": "a"})").message(), HasSubstr("task_id"));
  EXPECT_THAT(ReadError(R"({"output": {"nothing": "a"}})").message(), HasSubstr("of type object"));
  EXPECT_THAT(ReadError("5").message(), HasSubstr("must be an object or a list"));
  EXPECT_THAT(ReadError(R"({"samples": [[[[[[[[[["a"]]]]]]]]]]})").message(),
              HasSubstr("nested more than"));
  const nlohmann::json large = {{"completion", std::string(kMaxGenerationBytes + 1, 'x')}};
  EXPECT_THAT(ParseGenerationRow(large), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ParseReferenceRow, TakesOneText) {
  const auto row = [](const char* json) { return ParseReferenceRow(nlohmann::json::parse(json)); };
  EXPECT_THAT(row(R"({"task_id": "t", "canonical_solution": "r", "completion": "x"})")->samples,
              ElementsAre("r"));
  EXPECT_THAT(row(R"({"instruction": "p", "input": "", "output": "r"})")->samples,
              ElementsAre("r"));
  EXPECT_THAT(row(R"({"task_id": "t", "output": ["r", "s"]})"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace

}  // namespace kernelmill::client
