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

// One key and its value, turned to text.
struct LogField {
  LogField(absl::string_view k, const absl::AlphaNum& v) : key(k), value(v.Piece()) {}
  absl::string_view key;
  std::string value;
};

// Writes one JSON object a line to stderr:
// {"time":...,"level":...,"service":...,"message":...,fields}. Thread-safe; a line is one write.
// Values that are not UTF-8 are repaired.
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

// How many lines of the level this process has written.
int64_t LogLines(LogLevel level);

// Names the process in every line, and drops lines below `least`. Call once, before other threads
// start.
void ConfigureLog(absl::string_view service, LogLevel least);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_LOG_H_
