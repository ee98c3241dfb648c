#include "common/base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kernelmill {
namespace {

// Captures stderr while it lives, through a pipe like a supervisor's.
class CapturedLog {
 public:
  CapturedLog() {
    EXPECT_EQ(::pipe(ends_), 0);
    before_ = ::dup(STDERR_FILENO);
    ::dup2(ends_[1], STDERR_FILENO);
    reader_ = std::thread([this] {
      char bytes[1 << 14];
      for (ssize_t n; (n = ::read(ends_[0], bytes, sizeof(bytes))) > 0;) text_.append(bytes, n);
    });
  }
  // Returns the lines, without the end of the last line.
  std::vector<std::string> End() {
    ::dup2(before_, STDERR_FILENO);
    ::close(ends_[1]);
    ::close(before_);
    reader_.join();
    ::close(ends_[0]);
    EXPECT_TRUE(absl::EndsWith(text_, "\n"));
    return absl::StrSplit(absl::string_view(text_).substr(0, text_.size() - 1), '\n');
  }

 private:
  int ends_[2] = {-1, -1};
  int before_ = -1;
  std::string text_;
  std::thread reader_;
};

TEST(Log, ALineIsAnObjectWithItsFieldsInOrder) {
  CapturedLog captured;
  LogWarning("it \"fails\"", {{"job", "a-000001"}, {"task", 7}, {"error", "no\nroom \xff"}});
  const std::vector<std::string> lines = captured.End();
  ASSERT_EQ(lines.size(), 1);
  EXPECT_TRUE(absl::StartsWith(lines[0], "{\"time\":\"20"));
  EXPECT_TRUE(absl::EndsWith(
      lines[0],
      "Z\",\"level\":\"warning\",\"service\":\"kernelmill\",\"message\":\"it \\\"fails\\\"\","
      "\"job\":\"a-000001\",\"task\":\"7\",\"error\":\"no\\nroom \xef\xbf\xbd\"}"))
      << lines[0];
}

TEST(Log, AUrlsPasswordIsLeftOut) {
  CapturedLog captured;
  LogWarning("asked https://user:s3cret@a.org/x",
             {{"error", "https://u:s3cret@b.org/y: HTTP 404"}});
  const std::vector<std::string> lines = captured.End();
  ASSERT_EQ(lines.size(), 1);
  EXPECT_FALSE(absl::StrContains(lines[0], "s3cret")) << lines[0];
  EXPECT_TRUE(absl::StrContains(lines[0], "asked https://***@a.org/x\"")) << lines[0];
  EXPECT_TRUE(absl::StrContains(lines[0], "https://***@b.org/y: HTTP 404")) << lines[0];
}

TEST(Log, LinesBelowTheLeastLevelAreDropped) {
  CapturedLog captured;
  Log(LogLevel::kDebug, "unseen");
  LogInfo("seen");
  EXPECT_FALSE(Logs(LogLevel::kDebug));
  const std::vector<std::string> lines = captured.End();
  ASSERT_EQ(lines.size(), 1);
  EXPECT_TRUE(absl::StrContains(lines[0], "\"seen\""));
}

TEST(Log, LinesOfBatchesOnManyThreadsAreWholeAndNoneIsLost) {
  constexpr int kThreads = 8, kBatches = 20, kLines = 50;
  CapturedLog captured;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int b = 0; b < kBatches; ++b) {
        const LogBatch batch;
        for (int i = 0; i < kLines; ++i) LogInfo("line", {{"of", absl::StrCat(t, "-", b, "-", i)}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = captured.End();
  EXPECT_EQ(lines.size(), kThreads * kBatches * kLines);
  for (const std::string& line : lines) {
    EXPECT_TRUE(absl::StartsWith(line, "{\"time\":")) << line;
    EXPECT_TRUE(absl::EndsWith(line, "\"}")) << line;
    EXPECT_EQ(line.find("{", 1), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace kernelmill
