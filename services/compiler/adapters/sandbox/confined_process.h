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

namespace kernelmill::compiler {

// How to use the sandbox
//
// Two layers. The outer one is this class: it starts a program (the zygote, a Python that imports
// Triton and never runs a stranger's code) which from its first instruction on is confined as its
// Policy says, together with all that descends of it. The inner one is sandbox.py beside this file:
// the zygote makes a sandbox.Child for each kernel, a fork that gives up further rights before it
// runs what is a stranger's. services/compiler/adapters/toolchain/zygote.cc is the caller of both:
//
//   CheckSandbox() once, at start-up; SandboxUser::Take() and PythonPolicy(environment);
//   ConfinedProcess::Start(command, policy), then close the process's ends of its channels;
//   BeginWork, write a job, read its report, EndWork;
//   Wait() says why it ended: of the kernel that it was at, e.g. memory. Start another one then:
//   state, scratch folder and all processes of this one are gone.
//
// Besides `env` the program has KERNELMILL_SANDBOX ("enforced", or "off" under unsafe_no_sandbox,
// by which sandbox.py knows that it cannot add a layer), and HOME, TMPDIR and KERNELMILL_SCRATCH,
// all of them its scratch folder, which is its working directory too.

struct ConfinedCommand {
  std::vector<std::string> argv;  // argv[0] is a path
  std::vector<std::string> env;   // NAME=value; nothing else of the worker's is handed down
  std::vector<int> fds;           // become its descriptors 0, 1, 2, ...; it has no others
};

enum class EndReason {
  kExited,  // by itself, with Ending.exit_code
  kSignal,  // by Ending.signal: a crash, SIGSYS for a forbidden call, SIGKILL of the kernel's own
            // (memory, CPU)
  kKilled,  // by Kill or the destructor
  kScratchGone,     // somebody else removed its scratch folder
  kMemory,          // limits.total_memory_bytes
  kTasks,           // limits.total_tasks
  kScratchBytes,    // limits.scratch_bytes
  kScratchEntries,  // limits.scratch_entries, or a folder that cannot be looked into
  kSleep,           // it has slept for longer than BeginWork says
};

struct Ending {
  EndReason reason = EndReason::kExited;
  int exit_code = -1;
  int signal = 0;
  std::string detail;  // "resident memory: 6442983424 bytes of 6442450944"; for logs

  // Whether a bound stopped it.
  bool limit() const { return reason >= EndReason::kMemory; }
};
absl::string_view NameOf(EndReason reason);  // "memory", "scratch bytes", ...

// A confined program that runs, its watcher and its scratch folder. The watcher is a thread that
// starts the program (Linux ties the death signal to the thread that forked), polls its bounds,
// kills and reaps it. When it is over, no descendant is alive, whatever became of its parents; so
// it is where the worker ends by std::quick_exit. Where the worker is killed, it dies with it, but
// a program that a descendant runs ends by its own bound of time, and the scratch folder stays
// until the next one of its user's is made. Thread-safe.
class ConfinedProcess {
 public:
  // Returns when the program executes. INVALID_ARGUMENT: the policy. NOT_FOUND, PERMISSION_DENIED:
  // one of its paths. FAILED_PRECONDITION: the machine cannot confine it (the message says what is
  // missing), or the program cannot be executed by its user.
  static absl::StatusOr<std::unique_ptr<ConfinedProcess>> Start(const ConfinedCommand& command,
                                                                const Policy& policy);
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;
  ~ConfinedProcess();  // kills it and waits; removes the scratch folder

  pid_t pid() const { return pid_; }
  const std::string& scratch() const { return scratch_.path(); }

  // From here to EndWork it may sleep for `max_sleep` in all: be without a thread that runs, waits
  // for a processor or for the disk. So what a busy machine keeps waiting is not taken for asleep.
  void BeginWork(absl::Duration max_sleep);
  void EndWork();

  // Asks the watcher to kill it and all its descendants. Nothing if it is over.
  void Kill();
  // Waits until it and all its descendants are gone.
  Ending Wait();
  // How it ended, if it has.
  absl::optional<Ending> ended() const;

 private:
  struct Launch;
  ConfinedProcess(Scratch scratch, const SandboxLimits& limits)
      : scratch_(std::move(scratch)), limits_(limits) {}

  void Watch(Launch& launch);
  absl::Status Fork(Launch& launch);
  // Until it ends, is over a bound or is to be killed.
  Ending Follow();
  absl::optional<Ending> OverBounds();
  bool SleepsTooLong(bool works);
  void Reap(Ending& ending);

  Scratch scratch_;
  const SandboxLimits limits_;
  pid_t pid_ = -1;
  FileDescriptor process_;  // a pidfd: readable when the program has ended
  FileDescriptor wake_;     // an eventfd: readable when it is to be killed
  mutable absl::Mutex mutex_;
  absl::optional<Ending> ended_ ABSL_GUARDED_BY(mutex_);
  absl::optional<absl::Duration> may_sleep_ ABSL_GUARDED_BY(mutex_);  // while it has work
  std::thread watcher_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_CONFINED_PROCESS_H_
