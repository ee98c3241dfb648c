#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_FILE_COMMANDS_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_FILE_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/cli/commands/console.h"

namespace kernelmill::cli {

// Commands on plain files and folders, through the extractor's and the validator's services in this
// process. Each answers the exit code: 1 if a file could not be read or extracted. NOT_FOUND: a
// path is not there.

// Lists the kernels in the files; with --json each with its text, a line a kernel.
absl::StatusOr<int> ExtractFiles(const std::vector<std::string>& paths, Console& console);

// Says of each kernel whether a job with default policies would accept it, its licence and the
// checks that it does not pass. Exit code 1 also if any is rejected.
absl::StatusOr<int> ValidateFiles(const std::vector<std::string>& paths, Console& console);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_FILE_COMMANDS_H_
