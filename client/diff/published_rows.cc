#include "client/diff/published_rows.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "dataset/output/dataset_files.h"

namespace kernelmill::client {
namespace {

constexpr char kPythonVariable[] = "KERNELMILL_PYTHON";
constexpr int64_t kMostErrorBytes = 1 << 20;

constexpr char kScript[] = R"(
import pathlib, sys
from kernelmill.publication import write_diff_lines
write_diff_lines(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
)";

// Runs a program with its standard error in a file, and returns its exit status, as waitpid has it.
absl::StatusOr<int> Run(char* const argv[], const std::string& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  // This process waits for signals with all of them blocked, and a mask survives exec.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoStatus(error, argv[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, argv[0]);
  }
  return status;
}

// Python's last line names the error.
std::string LastLine(const std::string& path) {
  const std::string text = ReadFile(path, kMostErrorBytes).value_or("");
  const std::string lines(absl::StripSuffix(text, "\n"));
  return lines.substr(lines.rfind('\n') + 1);
}

}  // namespace

bool IsWithoutLines(const std::string& dir) {
  return std::filesystem::exists(absl::StrCat(dir, "/PUBLICATION.json")) &&
         !std::filesystem::exists(absl::StrCat(dir, "/", dataset::kLedgerFile));
}

absl::Status WritePublishedRows(const std::string& dir, const std::string& to) {
  const char* const set = std::getenv(kPythonVariable);
  std::string python = set == nullptr || *set == '\0' ? "python3" : set;
  std::string option = "-c", script = kScript, from = dir, folder = to;
  const std::string errors = absl::StrCat(to, "/stderr");
  char* const argv[] = {python.data(), option.data(), script.data(),
                        from.data(),   folder.data(), nullptr};
  const absl::StatusOr<int> status = Run(argv, errors);
  if (status.ok() && *status == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      dir,
      " was published without JSON lines; its Parquet files are read with the Python module of ",
      "kernelmill's wheel and pyarrow (kernelmill[pandas]); ", kPythonVariable,
      " names a Python that has both; ", python, ": ",
      status.ok() ? LastLine(errors) : std::string(status.status().message())));
}

}  // namespace kernelmill::client
