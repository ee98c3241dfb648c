#ifndef KERNELMILL_CLIENT_COMMANDS_PYTHON_COMMAND_H_
#define KERNELMILL_CLIENT_COMMANDS_PYTHON_COMMAND_H_

#include <string>

#include "absl/status/status.h"

namespace kernelmill::client {

// Runs a command that the Python module of the wheel does: this process becomes that Python, which
// calls `call`, an expression that returns the exit code, with `options`, a JSON object, as
// sys.argv[1]. `module` is imported first. FAILED_PRECONDITION: there is no Python.
absl::Status BecomePython(const std::string& command, const std::string& module,
                          const std::string& call, std::string options);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_PYTHON_COMMAND_H_
