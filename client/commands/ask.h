#ifndef KERNELMILL_CLIENT_COMMANDS_ASK_H_
#define KERNELMILL_CLIENT_COMMANDS_ASK_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

// Returns whether a person can be asked: standard input and standard error are terminals.
bool CanAsk();

// Writes the question to stderr, and returns the line that the person writes, without blanks around
// it. CANCELLED: a signal came, or the input ended.
absl::StatusOr<std::string> Ask(absl::string_view question, rpc::TerminationSignal& signal);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_ASK_H_
