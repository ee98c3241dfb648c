#include "client/commands/python_command.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"

namespace kernelmill::client {
namespace {

constexpr char kPythonVariable[] = "KERNELMILL_PYTHON";
constexpr char kProgramVariable[] = "KERNELMILL_PROGRAM";

constexpr char kScript[] = R"(
import sys
try:
    import kernelmill.errors
except ImportError as error:
    print(f"kernelmill: COMMAND requires the Python module of kernelmill's wheel ({error}): install the wheel, "
          f"or set KERNELMILL_PYTHON to a Python that has it; this is {sys.executable}", file=sys.stderr)
    sys.exit(2)
try:
    import MODULE as module
except ImportError as error:
    own = (error.name or "kernelmill").partition(".")[0] == "kernelmill"
    needs = "cannot load its module" if own else "requires a package that an extra of the wheel brings"
    print(f"kernelmill: COMMAND {needs}: {error}", file=sys.stderr)
    sys.exit(2)
sys.exit(CALL)
)";

std::string PathOfThisProgram() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return path;
}

// Replaces this process. Returns only if that fails: errno says why.
void Execute(const std::string& python, const std::string& script, const std::string& options) {
  // This process waits for signals with all of them blocked, and a mask survives exec.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const char* const argv[] = {python.c_str(), "-c", script.c_str(), options.c_str(), nullptr};
  ::execvp(python.c_str(), const_cast<char* const*>(argv));
}

std::string GetPython() {
  const char* const set = std::getenv(kPythonVariable);
  return set == nullptr || *set == '\0' ? "python3" : set;
}

std::string MakeScript(const std::string& command, const std::string& module,
                       const std::string& call) {
  return absl::StrReplaceAll(kScript, {{"COMMAND", command}, {"MODULE", module}, {"CALL", call}});
}

}  // namespace

absl::Status BecomePython(const std::string& command, const std::string& module,
                          const std::string& call, const std::string& options) {
  const std::string python = GetPython();
  // The module asks this program, as for `diff`.
  ::setenv(kProgramVariable, PathOfThisProgram().c_str(), /*overwrite=*/0);
  Execute(python, MakeScript(command, module, call), options);
  return absl::FailedPreconditionError(absl::StrCat(
      command, " requires Python 3.10 or newer with the module of kernelmill's wheel; ",
      kPythonVariable, " names it: ", ErrnoStatus(errno, python).message()));
}

// Between fork and exec only functions that are safe in a signal handler are called, since other
// threads may hold locks.
absl::StatusOr<int> RunPython(const std::string& command, const std::string& module,
                              const std::string& call, const std::string& options,
                              const std::function<bool()>& interrupted) {
  constexpr int kNotFound = 127;  // as shells say it
  const std::string python = GetPython();
  const std::string script = MakeScript(command, module, call);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return ErrnoStatus(errno, python);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() == parent) Execute(python, script, options);
    ::_exit(kNotFound);
  }
  int status = 0;
  bool ended = false;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (!ended && interrupted()) {
      ended = ::kill(pid, SIGTERM) == 0;
    }
    absl::SleepFor(absl::Milliseconds(20));
  }
  if (ended) return absl::CancelledError("interrupted");
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
    return absl::FailedPreconditionError(absl::StrCat(
        command, " requires Python 3.10 or newer with the module of kernelmill's wheel; ",
        kPythonVariable, " names it: ", python, " cannot be run"));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace kernelmill::client
