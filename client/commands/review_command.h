#ifndef KERNELMILL_CLIENT_COMMANDS_REVIEW_COMMAND_H_
#define KERNELMILL_CLIENT_COMMANDS_REVIEW_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/commands/console.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

struct ReviewOptions {
  std::string dataset;             // the folder that an export wrote
  std::string reviews;             // the file of decisions; may be missing with `list` alone
  std::vector<std::string> flags;  // what to go through; empty: all
  double license_below = 0.7;      // licences less certain than this are flagged
  std::string who;                 // empty: the user of this process
  bool list = false;               // list what is undecided, in place of asking
  bool all = false;                // list what was decided too
  // Decide on these items, by id, in place of asking.
  std::vector<std::string> accept;
  std::vector<std::string> reject;
  std::string why;  // of these
};

// Goes through what an exported dataset flags, with a person at the terminal. INVALID_ARGUMENT: a
// decision that says nothing of who or why, or a file that has none; NOT_FOUND: no dataset, or no
// such item; FAILED_PRECONDITION: there is no terminal to ask on.
absl::StatusOr<int> Review(const ReviewOptions& options, rpc::TerminationSignal& signal,
                           Console& console);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_REVIEW_COMMAND_H_
