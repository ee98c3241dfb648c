#include "dataset/output/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

std::vector<std::string> ReadAll(const std::string& text) {
  std::istringstream file(text);
  std::vector<std::string> lines;
  std::string line;
  while (true) {
    const absl::StatusOr<bool> more = ReadLine(file, &line);
    EXPECT_THAT(more, IsOk());
    if (!more.ok() || !*more) return lines;
    lines.push_back(line);
  }
}

TEST(ReadLine, GivesTheLinesThatStdGetlineGives) {
  const std::string whole(65535, 'a');  // as much as one piece, and around it
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("a"), std::string("a\n\nb\n"),
        std::string("a\0b\nc", 5), whole, whole + "\n", whole + "\nb", whole + "b\n",
        whole.substr(1) + "\n", whole + whole + "\nb\n", whole + "b" + whole}) {
    std::istringstream file(text);
    std::vector<std::string> expected;
    for (std::string line; std::getline(file, line);) expected.push_back(line);
    EXPECT_EQ(ReadAll(text), expected) << text.size();
  }
}

TEST(ReadLine, ALineOverTheLimitIsAnError) {
  std::istringstream file("1234\n12345\n");
  std::string line;
  EXPECT_THAT(ReadLine(file, &line, 4), IsOk());
  const absl::Status refused = ReadLine(file, &line, 4).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(refused.message(), "the line must have at most 4 bytes");
}

TEST(ReadLine, AnEndlessLineIsNotHeld) {
  std::istringstream file(std::string(10 << 20, 'a'));
  std::string line;
  EXPECT_THAT(ReadLine(file, &line, 100), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_LE(line.size(), 100 + (64 << 10));
}

}  // namespace
}  // namespace kernelmill::dataset
