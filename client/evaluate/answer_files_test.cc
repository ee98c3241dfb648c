#include "client/evaluate/answer_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "client/evaluate/generations.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::HasSubstr;

TEST(NameAnswerFile, NumbersOfSamplesAreNoPartOfTheTask) {
  const auto named = [](const char* path) {
    const AnswerFile file = NameAnswerFile(path);
    return std::make_pair(file.task, file.sample);
  };
  EXPECT_EQ(named("level_1_problem_3_sample_12_kernel.py"),
            std::make_pair(std::string("level_1_problem_3"), int64_t{12}));
  EXPECT_EQ(named("a/softmax_sample_0.py"), std::make_pair(std::string("a/softmax"), int64_t{0}));
  EXPECT_EQ(named("softmax/7.py"), std::make_pair(std::string("softmax"), int64_t{7}));
  EXPECT_EQ(named("softmax/sample_7.py"), std::make_pair(std::string("softmax"), int64_t{7}));
  EXPECT_EQ(named("level_1_problem_3.py"),
            std::make_pair(std::string("level_1_problem_3"), int64_t{0}));
  EXPECT_EQ(named("my_kernel.py"), std::make_pair(std::string("my_kernel"), int64_t{0}));
  EXPECT_EQ(named("7.py"), std::make_pair(std::string("7"), int64_t{0}));
}

class AnswerFilesTest : public ::testing::Test {
 protected:
  AnswerFilesTest() : dir_(TempDir::Create().value()) {}

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = dir_.path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_THAT(WriteFile(path, text), IsOk());
    return path;
  }

  TempDir dir_;
};

TEST_F(AnswerFilesTest, AFileIsItsCodeAsItStands) {
  const std::string text = "'''\n```python\nx = 1\n```\n'''\ndef f():\n    pass\n";
  const Generations one = ReadGenerations(Write("softmax.py", text)).value();
  ASSERT_EQ(one.tasks.size(), 1u);
  EXPECT_EQ(one.tasks[0].id, "softmax");
  EXPECT_EQ(one.tasks[0].samples[0].code, text);
  EXPECT_EQ(one.file, "softmax.py");
}

TEST_F(AnswerFilesTest, AFolderHasTheSamplesOfItsTasks) {
  Write("b_sample_10_kernel.py", "ten = 1\n");
  Write("b_sample_9_kernel.py", "nine = 1\n");
  Write("a/0.py", "a = 1\n");
  Write("notes.txt", "not an answer");
  std::filesystem::create_symlink(dir_.path() + "/notes.txt", dir_.path() + "/link.py");
  const Generations all = ReadGenerations(dir_.path()).value();
  ASSERT_EQ(all.tasks.size(), 2u);
  EXPECT_EQ(all.tasks[0].id, "a");
  ASSERT_EQ(all.tasks[1].samples.size(), 2u);
  EXPECT_EQ(all.tasks[1].samples[0].code, "nine = 1\n");
  const std::string before = all.file_sha256;
  Write("a/0.py", "a = 2\n");
  EXPECT_NE(ReadGenerations(dir_.path())->file_sha256, before);
}

TEST_F(AnswerFilesTest, FilesMayBeReferences) {
  Generations generations = ReadGenerations(Write("g/a.py", "x = 1\n")).value();
  Write("r/a.py", "x = 2\n");
  EXPECT_THAT(AddReferences(dir_.path() + "/r", &generations), IsOk());
  EXPECT_EQ(generations.tasks[0].reference, "x = 2\n");
}

TEST_F(AnswerFilesTest, AFolderWithoutAnswersAndALongFileAreRefused) {
  EXPECT_THAT(std::string(ReadGenerations(dir_.path()).status().message()), HasSubstr("*.py"));
  const std::string path = Write("long.py", std::string(kMaxGenerationBytes + 1, '#'));
  EXPECT_FALSE(ReadGenerations(path).ok());
}

}  // namespace
}  // namespace kernelmill::client
