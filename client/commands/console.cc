// The output of commands. Results go to stdout and can be piped; everything else goes to stderr, so
// that a program that reads the results never sees it.

#include "client/commands/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/console/progress.h"
#include "common/base/file.h"
#include "common/base/unsafe_text.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

// A terminal shows the last state at once. A log file should not grow with each step: a short
// command writes none, and a long one rarer lines the longer it runs.
constexpr absl::Duration kRedraw = absl::Milliseconds(100);
constexpr absl::Duration kFirstPause = absl::Seconds(5);
constexpr absl::Duration kLongestPause = absl::Minutes(1);

bool IsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

// Ends the process as common tools end once the reader of their output is gone, as behind `| head`:
// by SIGPIPE and silently. The program ignores the signal otherwise, since sockets raise it too.
void EndIfReaderIsGone(int error) {
  if (error != EPIPE) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

void Write(std::FILE* file, absl::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!written && file == stdout) EndIfReaderIsGone(errno);
}

// Returns the columns of the terminal that the file is, or `otherwise`.
int GetWidth(int fd, int otherwise) {
  winsize size = {};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return known ? size.ws_col : otherwise;
}

int TerminalWidth() { return GetWidth(STDERR_FILENO, 80); }

}  // namespace

// Foreign texts are made safe where lines are made, since a name must not begin another line; this
// is for those that were forgotten.
void Console::Result(absl::string_view text) {
  Write(stdout, json_ ? EscapeUnsafeJson(std::string(text)) : SafeText(text));
}

void Console::Result(const std::vector<LabelledLine>& lines) {
  if (!WantsColor(color_, STDOUT_FILENO)) return Result(PlainText(lines));
  for (const LabelledLine& line : lines) {
    Write(stdout, absl::StrCat(line.label.empty() ? "" : Paint(line.tone, line.label),
                               SafeText(absl::StrCat(LabelPadding(line.label), line.text)), "\n"));
  }
}

int Console::result_width() { return GetWidth(STDOUT_FILENO, 100); }

void Console::Answer(absl::string_view type, const google::protobuf::Message& message,
                     absl::string_view text) {
  Result(json_ ? JsonLine(type, MessageJson(message)) : text);
}

void Console::Note(absl::string_view line) {
  if (json_) return Event("note", {{"message", std::string(line)}});
  Write(stderr, absl::StrCat(SafeText(line), "\n"));
}

void Console::Warn(absl::string_view line) {
  if (json_) return Event("warning", {{"message", std::string(line)}});
  Write(stderr, absl::StrCat(PaintError(Tone::kWarning, "warning:"), " ", SafeText(line), "\n"));
}

int Console::Fail(const absl::Status& status) {
  const std::string line = ErrorLine(status);
  const int exit_code = ToExitCode(status);
  if (json_) {
    Event(
        "error",
        {{"error", line}, {"code", absl::StatusCodeToString(status.code())}, {"exit", exit_code}});
  } else {
    Write(stderr, absl::StrCat(PaintError(Tone::kBad, "kernelmill:"), " ", line, "\n"));
  }
  return exit_code;
}

void Console::Event(absl::string_view type, const nlohmann::ordered_json& fields) {
  Write(stderr, EscapeUnsafeJson(JsonLine(type, fields)));
}

std::string Console::PaintError(Tone tone, absl::string_view text) const {
  return WantsColor(color_, STDERR_FILENO) ? Paint(tone, text) : std::string(text);
}

absl::Status Console::Flush() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  EndIfReaderIsGone(errno);
  return ErrnoStatus(errno == 0 ? EIO : errno, "stdout");
}

void Console::Draw(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  if (!interrupted_) Write(stderr, text);
}

void Console::Progress(const nlohmann::ordered_json& fields, absl::string_view text) {
  // A program decides by itself which events it wants.
  if (json_) return Draw(EscapeUnsafeJson(JsonLine("progress", fields)));
  const absl::Time now = absl::Now();
  if (IsTerminal()) {
    if (now < next_progress_) return;
    next_progress_ = now + kRedraw;
    // Back to the first column, clear the line, and write it anew. One column stays free, so that
    // the terminal does not break the line.
    progress_drawn_ = true;
    return Draw(absl::StrCat("\r\x1b[2K", CutTo(SafeLine(text), TerminalWidth() - 1)));
  }
  const bool first = pause_ == absl::ZeroDuration();
  if (!first && now < next_progress_) return;
  pause_ = first ? kFirstPause : std::min(2 * pause_, kLongestPause);
  next_progress_ = now + pause_;
  if (!first) Draw(absl::StrCat(SafeText(text), "\n"));
}

void Console::EndProgress() {
  if (std::exchange(progress_drawn_, false)) Draw("\r\x1b[2K");
  pause_ = absl::ZeroDuration();
}

std::unique_ptr<LiveProgress> Console::NewProgressPrinter() {
  const Writer write = [this](absl::string_view text) { Draw(text); };
  std::unique_ptr<ProgressPrinter> printer = NewProgressLines(write);
  if (json_) {
    printer = NewProgressJson(
        [this](absl::string_view text) { Draw(EscapeUnsafeJson(std::string(text))); });
  } else if (IsTerminal()) {
    printer = NewProgressBars(write, TerminalWidth);
  }
  return std::make_unique<LiveProgress>(std::move(printer));
}

void Console::SetInterruptText(std::string text) {
  absl::MutexLock lock(&mutex_);
  interrupt_text_ = std::move(text);
}

void Console::ShowInterrupt(bool waits) {
  absl::MutexLock lock(&mutex_);
  interrupted_ = true;
  const std::string line =
      waits ? absl::StrCat(interrupt_text_, "; Ctrl-C again ends at once") : "interrupted";
  if (json_) return Event("interrupted", {{"message", line}});
  // A terminal has echoed ^C, perhaps onto a line of progress.
  Write(stderr, absl::StrCat(IsTerminal() ? "\r\x1b[2K" : "", SafeText(line), "\n"));
}

}  // namespace kernelmill::client
