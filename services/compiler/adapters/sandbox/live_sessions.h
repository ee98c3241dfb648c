#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LIVE_SESSIONS_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LIVE_SESSIONS_H_

#include <sys/types.h>

#include <string>

namespace kernelmill::compiler {

// The sessions of this process that are not over. Where it ends by std::quick_exit, while a kernel
// is being compiled, they are killed and their scratch folders removed; no destructor is. The death
// signal alone would end the leader and leave the compiler's programs, and their files.
void RememberSession(pid_t session, const std::string& scratch);
// Before the leader is reaped: from then on its number may be another's.
void ForgetSession(pid_t session);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LIVE_SESSIONS_H_
