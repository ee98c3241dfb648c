#include "client/review/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"

namespace kernelmill::client {
namespace {

constexpr int kPollMillis = 200;

class TtyTerminal final : public Terminal {
 public:
  TtyTerminal(const termios& before, std::function<bool()> ended)
      : before_(before), ended_(std::move(ended)) {
    termios keys = before;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);  // Ctrl-C is a key: it quits
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
  }
  TtyTerminal(const TtyTerminal&) = delete;
  TtyTerminal& operator=(const TtyTerminal&) = delete;
  ~TtyTerminal() override { ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_); }

  int rows() const override { return Size().ws_row > 0 ? Size().ws_row : 24; }
  int columns() const override { return Size().ws_col > 0 ? Size().ws_col : 80; }

  void Write(absl::string_view text) override {
    while (!text.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      text.remove_prefix(static_cast<size_t>(written));
    }
  }

  int ReadKey() override {
    while (!ended_()) {
      pollfd input = {STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, kPollMillis) <= 0) continue;
      unsigned char key = 0;
      const ssize_t got = ::read(STDIN_FILENO, &key, 1);
      if (got < 0 && errno == EINTR) continue;
      return got == 1 ? key : kEnd;
    }
    return kEnd;
  }

 private:
  static winsize Size() {
    winsize size = {};
    ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return size;
  }

  const termios before_;
  const std::function<bool()> ended_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Terminal>> OpenTerminal(std::function<bool()> ended) {
  termios before = {};
  if (::isatty(STDOUT_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0) {
    return absl::FailedPreconditionError(
        "review asks on a terminal, and there is none; --list, --accept and --reject need none");
  }
  return std::make_unique<TtyTerminal>(before, std::move(ended));
}

}  // namespace kernelmill::client
