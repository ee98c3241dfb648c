#include "client/evaluate/generation_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GenerationRow Parse(const char* json) {
  return ParseGenerationRow(nlohmann::json::parse(json)).value();
}

absl::Status ErrorOf(const char* json) {
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
  EXPECT_THAT(ErrorOf(R"({"task_id": "t"})").message(), HasSubstr("no text under"));
  EXPECT_THAT(ErrorOf(R"({"completion": 5})").message(), HasSubstr("completion: of type number"));
  EXPECT_THAT(ErrorOf(R"({"samples": []})").message(), HasSubstr("without samples"));
  EXPECT_THAT(ErrorOf(R"({"task_id": [1], "completion": "a"})").message(), HasSubstr("task_id"));
  EXPECT_THAT(ErrorOf(R"({"output": {"nothing": "a"}})").message(), HasSubstr("of type object"));
  EXPECT_THAT(ErrorOf("5").message(), HasSubstr("neither an object nor a list"));
  EXPECT_THAT(ErrorOf(R"({"samples": [[[[[[[[[["a"]]]]]]]]]]})").message(),
              HasSubstr("without an end"));
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
