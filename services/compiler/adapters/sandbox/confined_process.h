#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_CONFINED_PROCESS_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_CONFINED_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/policy.h"
#include "services/compiler/adapters/sandbox/scratch.h"
#include "services/compiler/adapters/sandbox/session.h"

namespace kernelmill::compiler {

// The sandbox
//
// The basic idea: untrusted Python runs in two layers. The outer layer is this class. It starts a
// program (the zygote, a Python that imports Triton and never runs untrusted code) that is confined
// by its Policy from its first instruction on, together with all its descendants. The inner layer
// is sandbox.py beside this file: for each kernel the zygote forks a sandbox.Child, which gives up
// further rights before it runs untrusted code. Several mechanisms back each other up:
//
// clang-format off
//   Landlock         files: reads named folders, writes only to its scratch folder; no TCP
//   a tmpfs          where it may mount: the scratch folder is in memory, of bounded size
//   seccomp          system calls: a list of allowed ones; the dangerous ones kill
//   another user     if the worker is root: no access by ownership, its own count of processes
//   rlimits          bounds of each process: address space, file size, descriptors, CPU time
//   the watcher      bounds of all processes together: memory, threads, disk, sleep
// clang-format on
//
// services/compiler/adapters/toolchain/zygote.cc uses both layers:
//
//   CheckSandbox() once, at start-up; SandboxUser::Take() and PythonPolicy(environment);
//   ConfinedProcess::Start(command, policy), then close the process's ends of its channels;
//   BeginWork, write a job, read its report, EndWork;
//   Wait() returns why the process ended, e.g. because the current kernel used too much memory.
//   Then start another one: state, scratch folder and all processes of this one are gone.
//
// Besides `env` the program gets KERNELMILL_SANDBOX ("enforced", or "off" under unsafe_no_sandbox,
// which tells sandbox.py that it cannot add a layer), KERNELMILL_STRICT_FILTER (the seccomp filter
// that kills what is refused, in hexadecimal digits), and HOME, TMPDIR and KERNELMILL_SCRATCH, all
// set to its scratch folder, which is also its working directory.

struct ConfinedCommand {
  std::vector<std::string> argv;  // argv[0] is a path
  std::vector<std::string> env;   // NAME=value; it inherits nothing of the worker's environment
  std::vector<int> fds;           // become its descriptors 0, 1, 2, ...; it has no others
};

enum class EndReason {
  kExited,       // by itself, with Ending.exit_code
  kSignal,       // by Ending.signal: a crash, SIGSYS for a forbidden call, or SIGKILL by the kernel
                 // (memory, CPU)
  kKilled,       // by Kill or the destructor
  kScratchGone,  // another process removed its scratch folder
  kMemory,       // limits.total_memory_bytes
  kTasks,        // limits.total_tasks
  kScratchBytes,    // limits.scratch_bytes
  kScratchEntries,  // limits.scratch_entries, or a folder that cannot be read
  kSleep,           // it slept for longer than BeginWork allows
  kDisk,            // it waited for the disk for longer than BeginWork allows
};

struct Ending {
  EndReason reason = EndReason::kExited;
  int exit_code = -1;
  int signal = 0;
  std::string detail;  // "resident memory: 6442983424 bytes of 6442450944"; for logs

  // True if a bound ended it.
  bool limit() const { return reason >= EndReason::kMemory; }
};
// Returns "memory", "scratch bytes" and so on. Reports of kernels contain these words.
absl::string_view GetName(EndReason reason);

// A running confined program, with its watcher and its scratch folder. The watcher is a thread that
// starts the program (Linux ties the death signal to the forking thread), polls its bounds, kills
// it and reaps it. After the end no descendant is alive, even if its parents ended earlier; this
// also holds if the worker ends by std::quick_exit. If the worker is killed, the program dies with
// it. Programs that its descendants run then end by their own time limit, and the scratch folder
// stays until the next one for its user is made. Thread-safe.
class ConfinedProcess {
 public:
  // Returns when the program executes. Errors: INVALID_ARGUMENT for a bad policy; NOT_FOUND or
  // PERMISSION_DENIED for one of its paths; FAILED_PRECONDITION if the machine cannot confine the
  // program (the message says what is missing) or its user cannot execute it.
  static absl::StatusOr<std::unique_ptr<ConfinedProcess>> Start(const ConfinedCommand& command,
                                                                const Policy& policy);
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;
  ~ConfinedProcess();  // kills it and waits; removes the scratch folder

  pid_t pid() const { return pid_; }
  const std::string& scratch() const { return scratch_.path(); }

  // Allows the program to sleep for `max_sleep` in total until EndWork(), and to wait for the disk
  // for kDiskFactor times as long. It works when a thread of it runs or waits for a processor,
  // waits for the disk when only that holds up its threads, and sleeps otherwise. So a machine with
  // busy processors ends nothing, nor does one with a busy disk for a while.
  static constexpr int kDiskFactor = 4;
  void BeginWork(absl::Duration max_sleep);
  void EndWork();

  // Asks the watcher to kill the program and all its descendants. Does nothing after its end.
  void Kill();
  // Waits until the program and all its descendants are gone.
  Ending Wait();
  // Returns how the program ended, or nothing while it runs.
  absl::optional<Ending> ended() const;

 private:
  struct Launch;
  ConfinedProcess(Scratch scratch, const SandboxLimits& limits)
      : scratch_(std::move(scratch)), limits_(limits) {}

  void Watch(Launch& launch);
  absl::Status Fork(Launch& launch);
  // Watches until the program ends, exceeds a bound or Kill() is called.
  Ending Follow();
  absl::optional<Ending> OverBounds();
  absl::optional<Ending> IdlesTooLong(const SessionUsage& usage);
  void Reap(Ending& ending);

  Scratch scratch_;
  const SandboxLimits limits_;
  pid_t pid_ = -1;
  FileDescriptor process_;  // a pidfd: readable after the program ended
  FileDescriptor wake_;     // an eventfd: readable after Kill()
  mutable absl::Mutex mutex_;
  absl::optional<Ending> ended_ ABSL_GUARDED_BY(mutex_);
  absl::optional<absl::Duration> may_sleep_ ABSL_GUARDED_BY(mutex_);  // while it has work
  absl::Duration may_wait_ ABSL_GUARDED_BY(mutex_);                   // for the disk
  std::thread watcher_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_CONFINED_PROCESS_H_
