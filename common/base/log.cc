#include "common/base/log.h"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/text.h"
#include "common/base/unsafe_text.h"
#include "common/base/url.h"

// A line is one JSON object, written with one write(2) so that lines of several threads and
// processes do not mix. A thread that logs many lines at once holds a LogBatch: its lines gather in
// a string of the thread and go out together, since a system call costs more than the line. No lock
// is taken.
namespace kernelmill {
namespace {

struct LogConfig {
  std::string service = "kernelmill";
  LogLevel least = LogLevel::kInfo;
};

// Set once by main() before other threads start, so it needs no lock.
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

// Lines written, by level.
std::array<std::atomic<int64_t>, 5> lines;

// Appends "2026-01-02T03:04:05.678Z". Formatting is slow, so the text of the second is cached.
void AppendTime(absl::Time now, std::string* line) {
  thread_local int64_t named = std::numeric_limits<int64_t>::min();
  thread_local std::string second;
  const int64_t ms = absl::ToUnixMillis(now);
  const int64_t whole = (ms - ((ms % 1000) + 1000) % 1000) / 1000;
  if (whole != named) {
    second =
        absl::FormatTime("%Y-%m-%dT%H:%M:%S", absl::FromUnixSeconds(whole), absl::UTCTimeZone());
    named = whole;
  }
  absl::StrAppend(line, second, ".", absl::Dec(ms - whole * 1000, absl::kZeroPad3), "Z");
}

// Returns the text in JSON. Leaves passwords in URLs out of every text.
std::string Shown(absl::string_view text) {
  return EscapeUnsafeJson(
      JsonString(absl::StrContains(text, "://") ? RedactedText(text) : std::string(text)));
}

// Keys are literals of our code and need no escapes; everything else does.
void AppendLine(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields,
                std::string* out) {
  *out += "{\"time\":\"";
  AppendTime(absl::Now(), out);
  absl::StrAppend(out, "\",\"level\":\"", LevelName(level),
                  "\",\"service\":", JsonString(Config().service), ",\"message\":", Shown(message));
  for (const LogField& field : fields) {
    absl::StrAppend(out, ",\"", field.key, "\":", Shown(field.value));
  }
  *out += "}\n";
}

// A thread's buffered lines. The string's memory is reused.
struct Pending {
  std::string lines;
  int batches = 0;  // LogBatch objects of this thread
};

Pending& OfThisThread() {
  thread_local Pending pending;
  return pending;
}

// A pipe takes this much atomically, so that lines of several threads do not mix.
constexpr size_t kWriteAtOnce = PIPE_BUF;

// Writes the first bytes and keeps the rest.
void Write(size_t bytes, std::string* text) {
  // A failed write cannot be reported anywhere.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text->data(), bytes);
  text->erase(0, bytes);
}

}  // namespace

void ConfigureLog(absl::string_view service, LogLevel least) {
  Config().service = std::string(service);
  Config().least = least;
}

// Counts for metrics; a relaxed load is enough for a number that nothing else depends on.
int64_t LogLines(LogLevel level) {
  return lines[static_cast<size_t>(level)].load(std::memory_order_relaxed);
}

// Lets callers skip the making of a message that would not be written.
bool Logs(LogLevel level) { return level >= Config().least; }

// Within a batch it writes what came before, once that and the new line exceed PIPE_BUF together;
// the new line then begins the next write. So a write of several lines is never larger than
// PIPE_BUF, while a single line may be.
void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields) {
  if (!Logs(level)) return;
  lines[static_cast<size_t>(level)].fetch_add(1, std::memory_order_relaxed);
  Pending& pending = OfThisThread();
  const size_t begin = pending.lines.size();
  AppendLine(level, message, fields, &pending.lines);
  if (pending.batches == 0) {
    Write(pending.lines.size(), &pending.lines);
  } else if (pending.lines.size() > kWriteAtOnce) {
    Write(begin, &pending.lines);
  }
}

LogBatch::LogBatch() { ++OfThisThread().batches; }

// Batches of a thread may be nested; the outermost writes.
LogBatch::~LogBatch() {
  Pending& pending = OfThisThread();
  if (--pending.batches == 0) Write(pending.lines.size(), &pending.lines);
}

}  // namespace kernelmill
