#include "common/base/log.h"

#include <unistd.h>

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

}  // namespace

void ConfigureLog(absl::string_view service, LogLevel least) {
  Config().service = std::string(service);
  Config().least = least;
}

void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields) {
  if (level < Config().least) return;
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
