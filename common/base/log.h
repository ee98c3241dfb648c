#ifndef KERNELMILL_COMMON_BASE_LOG_H_
#define KERNELMILL_COMMON_BASE_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kNone };

// A key and its value as text.
struct LogField {
  LogField(absl::string_view k, const absl::AlphaNum& v) : key(k), value(v.Piece()) {}
  absl::string_view key;
  std::string value;
};

// Writes one line to stderr, a JSON object:
// {"time":...,"level":...,"service":...,"message":...,fields}. Values that are not UTF-8 are
// repaired. A line is one write(2). Thread-safe.
void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields = {});

inline void LogInfo(absl::string_view m, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kInfo, m, f);
}
inline void LogWarning(absl::string_view m, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kWarning, m, f);
}
inline void LogError(absl::string_view m, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kError, m, f);
}

// Returns how many lines of the level this process has written.
int64_t LogLines(LogLevel level);

// Sets the service's name, which every line has, and the lowest level that is written. Call it
// once, before other threads start.
void ConfigureLog(absl::string_view service, LogLevel least);

// A scope that logs many lines: while it exists, its thread's lines are buffered and written some
// kilobytes at a time. The destructor writes the rest.
class LogBatch {
 public:
  LogBatch();
  ~LogBatch();
  LogBatch(const LogBatch&) = delete;
  LogBatch& operator=(const LogBatch&) = delete;
};

// Returns whether lines of the level are written; check it before collecting expensive fields.
bool Logs(LogLevel level);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_LOG_H_
