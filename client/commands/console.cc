// The output of commands. Results go to stdout and can be piped; everything else goes to stderr, so
// that a program that reads the results never sees it.

#include "client/commands/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/progress.h"
#include "common/base/file.h"
#include "common/base/unsafe_text.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

// A terminal shows the last state at once; a log file should not grow with each step.
constexpr absl::Duration kRedraw = absl::Milliseconds(100);
constexpr absl::Duration kPlainPause = absl::Seconds(2);

void Write(std::FILE* file, absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

int TerminalWidth() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

// Foreign texts are made safe where lines are made, since a name must not begin another line; this
// is for those that were forgotten.
void Console::Result(absl::string_view text) {
  Write(stdout, json_ ? EscapeUnsafeJson(std::string(text)) : SafeText(text));
}

void Console::Answer(const google::protobuf::Message& message, absl::string_view text) {
  if (json_) return Result(MessageJson(message) + "\n");
  Result(text);
}

void Console::Note(absl::string_view line) {
  if (!json_) Write(stderr, absl::StrCat(SafeText(line), "\n"));
}

int Console::Fail(const absl::Status& status) {
  const std::string line = ErrorLine(status);
  if (json_) {
    Write(stderr, EscapeUnsafeJson(JsonLine(
                      {{"error", line}, {"code", absl::StatusCodeToString(status.code())}})));
  } else {
    Write(stderr, absl::StrCat("kernelmill: ", line, "\n"));
  }
  return ToExitCode(status);
}

absl::Status Console::Flush() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return ErrnoStatus(errno == 0 ? EIO : errno, "stdout");
}

void Console::Progress(absl::string_view text) {
  // A program decides by itself which events it wants.
  if (json_) return Write(stderr, EscapeUnsafeJson(absl::StrCat(text, "\n")));
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (absl::Now() < next_progress_) return;
  next_progress_ = absl::Now() + (terminal ? kRedraw : kPlainPause);
  if (terminal) {
    // Back to the first column, clear the line, and write it anew. One column stays free, so that
    // the terminal does not break the line.
    Write(stderr, absl::StrCat("\r\x1b[2K", CutTo(SafeLine(text), TerminalWidth() - 1)));
    progress_drawn_ = true;
  } else {
    Write(stderr, absl::StrCat(SafeText(text), "\n"));
  }
}

void Console::EndProgress() {
  if (std::exchange(progress_drawn_, false)) Write(stderr, "\r\x1b[2K");
}

std::unique_ptr<ProgressPrinter> Console::NewProgressPrinter() {
  const Writer write = [](absl::string_view text) { Write(stderr, text); };
  std::unique_ptr<ProgressPrinter> printer = NewProgressLines(write);
  if (json_) {
    printer = NewProgressJson(
        [](absl::string_view text) { Write(stderr, EscapeUnsafeJson(std::string(text))); });
  } else if (::isatty(STDERR_FILENO) == 1) {
    printer = NewProgressBars(write, TerminalWidth);
  }
  return std::make_unique<LiveProgress>(std::move(printer));
}

}  // namespace kernelmill::client
