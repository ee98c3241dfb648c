// The command publish. The Python module of the wheel does the work
// (python/kernelmill/publisher.py): the clients of Hubs and object stores are Python libraries.
// This process becomes that Python.

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

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
    from kernelmill.publisher import command
except ImportError as error:
    print(f"kernelmill: publish requires the Python module of kernelmill's wheel ({error}): install the wheel, "
          f"or set KERNELMILL_PYTHON to a Python that has it; this is {sys.executable}", file=sys.stderr)
    sys.exit(2)
sys.exit(command(sys.argv[1]))
)";

std::string PathOfThisProgram() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return path;
}

// The names are those of the parameters of kernelmill.publish().
std::string OptionsJson(const PublishOptions& options, const Console& console) {
  nlohmann::json json = {{"dataset", options.dataset},    {"destination", options.destination},
                         {"patch", options.patch},        {"delete_older", options.delete_older},
                         {"allow", options.allow},        {"json_lines", options.json_lines},
                         {"private", options.is_private}, {"discard", options.discard},
                         {"dry_run", options.dry_run},    {"json", console.json()}};
  if (!options.version.empty()) json["version"] = options.version;
  if (!options.before.empty()) json["before"] = options.before;
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::Status Publish(const PublishOptions& options, const Console& console) {
  const char* const set = std::getenv(kPythonVariable);
  std::string python = set == nullptr || *set == '\0' ? "python3" : set;
  // The module asks this program for `diff`.
  ::setenv(kProgramVariable, PathOfThisProgram().c_str(), /*overwrite=*/0);
  // This process waits for signals with all of them blocked, and a mask survives exec.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::string option = "-c", script = kScript, json = OptionsJson(options, console);
  char* const argv[] = {python.data(), option.data(), script.data(), json.data(), nullptr};
  ::execvp(python.c_str(), argv);
  return absl::FailedPreconditionError(
      absl::StrCat("publish requires Python 3.10 or newer with the module of kernelmill's wheel; ",
                   kPythonVariable, " names it: ", ErrnoStatus(errno, python).message()));
}

}  // namespace kernelmill::client
