// The command publish. The Python module of the wheel does the work
// (python/kernelmill/publisher.py): the clients of Hubs and object stores are Python libraries.
// This process becomes that Python.

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/commands/commands.h"
#include "common/base/file.h"

namespace kernelmill::client {
namespace {

constexpr char kPythonVariable[] = "KERNELMILL_PYTHON";
constexpr char kProgramVariable[] = "KERNELMILL_PROGRAM";

constexpr char kScript[] = R"(
import sys
try:
    from kernelmill.publisher import main
except ImportError as error:
    print(f"kernelmill: publish requires the Python module of kernelmill's wheel ({error}): install the wheel, "
          f"or set KERNELMILL_PYTHON to a Python that has it; this is {sys.executable}", file=sys.stderr)
    sys.exit(2)
sys.exit(main())
)";

std::string PathOfThisProgram() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return path;
}

}  // namespace

absl::Status Publish(const std::vector<std::string>& arguments) {
  const char* const set = std::getenv(kPythonVariable);
  std::string python = set == nullptr || *set == '\0' ? "python3" : set;
  // The module asks this program for `diff`.
  ::setenv(kProgramVariable, PathOfThisProgram().c_str(), /*overwrite=*/0);
  // This process waits for signals with all of them blocked, and a mask survives exec.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::string option = "-c", script = kScript;
  std::vector<char*> argv = {python.data(), option.data(), script.data()};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(python.c_str(), argv.data());
  return absl::FailedPreconditionError(
      absl::StrCat("publish requires Python 3.10 or newer with the module of kernelmill's wheel; ",
                   kPythonVariable, " names it: ", ErrnoStatus(errno, python).message()));
}

}  // namespace kernelmill::client
