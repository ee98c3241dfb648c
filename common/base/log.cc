#include "common/base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/text.h"

namespace kernelmill {
namespace {

struct LogConfig {
  std::string service = "kernelmill";
  LogLevel least = LogLevel::kInfo;
};

LogConfig& Config() {
  static LogConfig* config = new LogConfig;
  return *config;
}

absl::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    default:
      return "error";
  }
}

// By level; lines written.
std::array<std::atomic<int64_t>, 5> lines;

}  // namespace

void ConfigureLog(absl::string_view service, LogLevel least) {
  Config().service = std::string(service);
  Config().least = least;
}

int64_t LogLines(LogLevel level) {
  return lines[static_cast<size_t>(level)].load(std::memory_order_relaxed);
}

void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields) {
  if (level < Config().least) return;
  lines[static_cast<size_t>(level)].fetch_add(1, std::memory_order_relaxed);
  std::string line = absl::StrCat(
      "{\"time\":\"", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()),
      "\",\"level\":\"", LevelName(level), "\",\"service\":", JsonString(Config().service),
      ",\"message\":", JsonString(message));
  for (const LogField& field : fields) {
    absl::StrAppend(&line, ",", JsonString(field.key), ":", JsonString(field.value));
  }
  line += "}\n";
  // A line lost to a closed stderr is nobody's error.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace kernelmill
