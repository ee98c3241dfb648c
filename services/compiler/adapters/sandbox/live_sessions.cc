#include "services/compiler/adapters/sandbox/live_sessions.h"

#include <cstdlib>
#include <map>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"
#include "services/compiler/adapters/sandbox/scratch.h"
#include "services/compiler/adapters/sandbox/session.h"

namespace kernelmill::compiler {
namespace {

absl::Mutex mutex(absl::kConstInit);

std::map<pid_t, std::string>& Sessions() {
  static auto* const sessions = new std::map<pid_t, std::string>();
  return *sessions;
}

// Keeps the mutex: no leader is reaped meanwhile.
void EndSessions() {
  const absl::MutexLock lock(&mutex);
  for (const auto& [session, scratch] : Sessions()) {
    KillSession(session);
    RemoveScratch(scratch);
  }
}

}  // namespace

void RememberSession(pid_t session, const std::string& scratch) {
  static const int registered = std::at_quick_exit(EndSessions);
  static_cast<void>(registered);
  const absl::MutexLock lock(&mutex);
  Sessions()[session] = scratch;
}

void ForgetSession(pid_t session) {
  const absl::MutexLock lock(&mutex);
  Sessions().erase(session);
}

}  // namespace kernelmill::compiler
