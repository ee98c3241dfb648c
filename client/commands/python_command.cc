#include "client/commands/python_command.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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
    print(f"kernelmill: COMMAND requires a package that an extra of the wheel brings: {error}", file=sys.stderr)
    sys.exit(2)
sys.exit(CALL)
)";

std::string PathOfThisProgram() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return path;
}

}  // namespace

absl::Status BecomePython(const std::string& command, const std::string& module,
                          const std::string& call, std::string options) {
  const char* const set = std::getenv(kPythonVariable);
  std::string python = set == nullptr || *set == '\0' ? "python3" : set;
  // The module asks this program, as for `diff`.
  ::setenv(kProgramVariable, PathOfThisProgram().c_str(), /*overwrite=*/0);
  // This process waits for signals with all of them blocked, and a mask survives exec.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::string option = "-c",
              script = absl::StrReplaceAll(
                  kScript, {{"COMMAND", command}, {"MODULE", module}, {"CALL", call}});
  char* const argv[] = {python.data(), option.data(), script.data(), options.data(), nullptr};
  ::execvp(python.c_str(), argv);
  return absl::FailedPreconditionError(absl::StrCat(
      command, " requires Python 3.10 or newer with the module of kernelmill's wheel; ",
      kPythonVariable, " names it: ", ErrnoStatus(errno, python).message()));
}

}  // namespace kernelmill::client
