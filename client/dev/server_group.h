#ifndef KERNELMILL_CLIENT_DEV_SERVER_GROUP_H_
#define KERNELMILL_CLIENT_DEV_SERVER_GROUP_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace kernelmill::client {

// Programs that run until the group ends: each writes to a log file of its own, is started again
// when it dies, and dies with this process. Not thread-safe; the thread that starts programs must
// live as long as they do, since the kernel ends them with it.
class ServerGroup {
 public:
  struct Program {
    std::string name;               // for people
    std::vector<std::string> argv;  // argv[0] is a path
    std::string log;                // the file that it appends to
    int wave = 0;                   // those of a higher wave are stopped before
  };
  // Called with a line for people: what ended, and why.
  using Say = std::function<void(const std::string& line)>;

  explicit ServerGroup(Say say) : say_(std::move(say)) {}
  ServerGroup(const ServerGroup&) = delete;
  ServerGroup& operator=(const ServerGroup&) = delete;
  // Stops all programs.
  ~ServerGroup();

  // Starts a program. Returns once `is_ready` says so. FAILED_PRECONDITION: it cannot be started,
  // or ended before; the message has the end of its log. DEADLINE_EXCEEDED: it was not ready
  // within 30 s.
  absl::Status Start(Program program, const std::function<bool()>& is_ready);

  // Starts those again that have ended, at most one time a second each. Call it often.
  void StartEnded();

  // Sends SIGTERM to the programs of the highest wave and waits for them, then to those of the
  // next; SIGKILL after `grace`.
  void Stop(absl::Duration grace);

  // Returns the ids of the running processes, by name, in the order of their starts.
  std::vector<std::pair<std::string, pid_t>> ListRunning() const;

 private:
  struct Running {
    Program program;
    pid_t pid = -1;  // -1: it has ended
    absl::Time started;
  };

  static absl::StatusOr<pid_t> Launch(const Program& program);
  void StopWave(int wave, absl::Duration grace);

  const Say say_;
  std::vector<Running> programs_;
};

// Returns the last bytes of a log, for an error message; empty if it cannot be read.
std::string ReadLogEnd(const std::string& log);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_DEV_SERVER_GROUP_H_
