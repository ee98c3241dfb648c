#ifndef KERNELMILL_CLIENT_COMMANDS_PYTHON_COMMAND_H_
#define KERNELMILL_CLIENT_COMMANDS_PYTHON_COMMAND_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::client {

// Runs a command that the Python module of the wheel does: this process becomes that Python, which
// calls `call`, an expression that returns the exit code, with `options`, a JSON object, as
// sys.argv[1]. `module` is imported first. FAILED_PRECONDITION: there is no Python.
absl::Status BecomePython(const std::string& command, const std::string& module,
                          const std::string& call, const std::string& options);

// As BecomePython, in a child process; returns its exit code. It writes to this process's stdout
// and stderr. `interrupted` is called from time to time; the child is ended if it returns true:
// CANCELLED.
absl::StatusOr<int> RunPython(const std::string& command, const std::string& module,
                              const std::string& call, const std::string& options,
                              const std::function<bool()>& interrupted);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_PYTHON_COMMAND_H_
