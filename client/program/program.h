#ifndef KERNELMILL_CLIENT_PROGRAM_PROGRAM_H_
#define KERNELMILL_CLIENT_PROGRAM_PROGRAM_H_

#include "common/rpc/server.h"

namespace kernelmill::client {

// `kernelmill`: reads the command line and runs its command. Answers the exit code.
int RunProgram(int argc, char** argv, rpc::TerminationSignal& signal);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_PROGRAM_PROGRAM_H_
