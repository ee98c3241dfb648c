// The basic idea: an execution is a folder as `kernelmill run` takes it (kernels.jsonl,
// evidence.jsonl, evidence/SHA-256), and a Python that runs the cases in it and says each result as
// a line. It starts anew for each execution, so that nothing of one is left for the next.
#include "services/runner/adapters/python/python_runner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/process/child_process.h"

namespace kernelmill::runner {
namespace {

using Json = nlohmann::json;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr absl::Duration kTurnLook = absl::Seconds(1);
constexpr absl::Duration kProbeTimeout = absl::Minutes(5);  // a GPU's libraries load slowly

// The variables that the Python needs to find its packages, a GPU and a compiler for its launcher.
constexpr const char* kPassedOn[] = {
    "PATH", "HOME", "PYTHONPATH", "CUDA_HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"};

// Returns the last line of what a program wrote as errors, which has the reason.
std::string GetReason(const ChildResult& result) {
  std::string reason;
  for (const absl::string_view line : absl::StrSplit(result.errors, '\n', absl::SkipEmpty())) {
    reason = std::string(line);
  }
  if (!reason.empty()) return ToUtf8(reason);
  if (result.timed_out) return "it took too long";
  return result.signal != 0 ? absl::StrCat("ended by signal ", result.signal)
                            : absl::StrCat("exit code ", result.exit_code);
}

// Returns the command whose limits are those that its own children have by themselves.
ChildCommand MakeCommand(const PythonRunnerOptions& options, Json arguments) {
  arguments["device"] = options.device;
  arguments["confined"] = !options.unsafe_no_sandbox;
  ChildCommand command;
  command.argv = {options.python, "-m", "kernelmill.execution.worker",
                  arguments.dump(-1, ' ', true, Json::error_handler_t::replace)};
  for (const char* const name : kPassedOn) {
    const char* const value = std::getenv(name);
    if (value != nullptr) command.env.push_back(absl::StrCat(name, "=", value));
  }
  if (!options.temp_dir.empty()) command.env.push_back(absl::StrCat("TMPDIR=", options.temp_dir));
  command.cpu_seconds = kNoLimit;
  command.memory_bytes = kNoLimit;
  command.file_bytes = kNoLimit;
  return command;
}

absl::StatusOr<FileDescriptor> CreateFile(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  return file;
}

absl::Status AppendLine(FileDescriptor& file, absl::string_view line) {
  return WriteAll(file.get(), absl::StrCat(line, "\n"), "a kernel or case");
}

// Splits a stream into lines.
class Lines {
 public:
  explicit Lines(std::function<void(absl::string_view)> take) : take_(std::move(take)) {}

  void Add(absl::string_view piece) {
    absl::StrAppend(&rest_, piece);
    size_t begin = 0;
    for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      take_(absl::string_view(rest_).substr(begin, end - begin));
      begin = end + 1;
    }
    rest_.erase(0, begin);
  }

 private:
  const std::function<void(absl::string_view)> take_;
  std::string rest_;
};

// The turn of one execution after the other: each uses all processes that the device has room for.
// Thread-safe.
class Turn {
 public:
  // Waits for the turn. Returns false if `stop` came first.
  bool Take(const std::stop_token& stop) {
    while (!mutex_.LockWhenWithTimeout(absl::Condition(&free_), kTurnLook)) {
      mutex_.Unlock();
      if (stop.stop_requested()) return false;
    }
    free_ = false;
    mutex_.Unlock();
    return true;
  }
  void GiveBack() {
    const absl::MutexLock lock(&mutex_);
    free_ = true;
  }

 private:
  absl::Mutex mutex_;
  bool free_ ABSL_GUARDED_BY(mutex_) = true;
};

class PythonExecution : public Execution {
 public:
  PythonExecution(const PythonRunnerOptions& options, Turn& turn, TempDir folder,
                  FileDescriptor kernels, FileDescriptor cases)
      : options_(options),
        turn_(turn),
        folder_(std::move(folder)),
        kernels_(std::move(kernels)),
        cases_(std::move(cases)) {}

  absl::Status AddKernel(const v1::Kernel& kernel) override {
    const Json row = {{"module", ToUtf8(kernel.module())},
                      {"qualname", ToUtf8(kernel.qualname())},
                      {"name", ToUtf8(kernel.name())},
                      {"dsl", "triton"},
                      {"role", "kernel"}};
    return AppendLine(kernels_, row.dump());
  }

  absl::Status AddCase(absl::string_view line) override { return AppendLine(cases_, line); }

  absl::Status AddTensor(const std::string& sha256, absl::string_view bytes) override {
    const std::string path = absl::StrCat(folder_.path(), "/evidence/", sha256);
    ASSIGN_OR_RETURN(const FileDescriptor file, CreateFile(path));
    return WriteAll(file.get(), bytes, path);
  }

  absl::Status Run(const std::function<void(absl::string_view)>& on_result,
                   const std::stop_token& stop) override {
    if (!turn_.Take(stop)) return absl::CancelledError("no longer wanted");
    const absl::Status ran = RunInTurn(on_result, stop);
    turn_.GiveBack();
    return ran;
  }

 private:
  // Its end says that all cases were run; without it something is missing.
  absl::Status RunInTurn(const std::function<void(absl::string_view)>& on_result,
                         const std::stop_token& stop) {
    ChildCommand command = MakeCommand(options_, {{"folder", folder_.path()},
                                                  {"workers", options_.processes},
                                                  {"seconds", options_.case_seconds}});
    command.timeout = options_.timeout;
    command.watch = [&stop](pid_t) {
      return stop.stop_requested() ? absl::CancelledError("no longer wanted") : absl::OkStatus();
    };
    bool ended = false;
    Lines lines([&](absl::string_view line) {
      const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!row.is_object() || !row.contains("type")) return;
      ended |= row["type"] == "end";
      if (row["type"] == "result") on_result(line);
    });
    command.on_output = [&lines](absl::string_view piece) { lines.Add(piece); };
    ASSIGN_OR_RETURN(const ChildResult result, RunChild(command));
    RETURN_IF_ERROR(result.stopped);
    if (result.ok() && ended) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("kernels cannot be run on ", options_.device, " now: ", GetReason(result)));
  }

  const PythonRunnerOptions& options_;
  Turn& turn_;
  const TempDir folder_;
  FileDescriptor kernels_, cases_;
};

class PythonRunner : public Runner {
 public:
  PythonRunner(PythonRunnerOptions options, std::string toolchain)
      : options_(std::move(options)), toolchain_(std::move(toolchain)) {}

  const std::string& device() const override { return options_.device; }
  const std::string& toolchain() const override { return toolchain_; }

  absl::StatusOr<std::unique_ptr<Execution>> NewExecution() override {
    ASSIGN_OR_RETURN(TempDir folder, TempDir::Create(options_.temp_dir));
    const std::string tensors = folder.path() + "/evidence";
    if (::mkdir(tensors.c_str(), 0700) != 0) return ErrnoStatus(errno, tensors);
    ASSIGN_OR_RETURN(FileDescriptor kernels, CreateFile(folder.path() + "/kernels.jsonl"));
    ASSIGN_OR_RETURN(FileDescriptor cases, CreateFile(folder.path() + "/evidence.jsonl"));
    return std::make_unique<PythonExecution>(options_, turn_, std::move(folder), std::move(kernels),
                                             std::move(cases));
  }

 private:
  const PythonRunnerOptions options_;
  const std::string toolchain_;
  Turn turn_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Runner>> OpenPythonRunner(const PythonRunnerOptions& options) {
  ChildCommand command = MakeCommand(options, Json::object());
  command.timeout = kProbeTimeout;
  ASSIGN_OR_RETURN(const ChildResult result, RunChild(command));
  const Json said = Json::parse(result.output, nullptr, /*allow_exceptions=*/false);
  if (!result.ok() || !said.is_object() || !said.contains("toolchain")) {
    return absl::FailedPreconditionError(absl::StrCat("this machine cannot run kernels on ",
                                                      options.device, " with ", options.python,
                                                      ": ", GetReason(result)));
  }
  return std::make_unique<PythonRunner>(options, said["toolchain"].dump());
}

}  // namespace kernelmill::runner
