#ifndef KERNELMILL_SERVICES_CLI_PROGRAM_PROGRAM_H_
#define KERNELMILL_SERVICES_CLI_PROGRAM_PROGRAM_H_

#include "common/rpc/server.h"

namespace kernelmill::cli {

// `kernelmill`: reads the command line and runs its command. Answers the exit code.
int RunProgram(int argc, char** argv, rpc::TerminationSignal& signal);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_PROGRAM_PROGRAM_H_
