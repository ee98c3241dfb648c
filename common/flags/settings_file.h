#ifndef KERNELMILL_COMMON_FLAGS_SETTINGS_FILE_H_
#define KERNELMILL_COMMON_FLAGS_SETTINGS_FILE_H_

#include "absl/status/status.h"

namespace CLI {
class App;
}

namespace kernelmill::flags {

// Adds --config FILE.
void AddSettingsFlag(CLI::App& app);

// Reads the defaults of flags from the YAML file of --config or KERNELMILL_CONFIG. Its keys are the
// flags' names: "cache-bytes: 1GB". Only flags with an environment variable can be set; the
// variable takes precedence over the file, and the flag over both. Call it before the command line
// is parsed. INVALID_ARGUMENT: an unknown key, or a value that the flag refuses; one line,
// "FILE:LINE: KEY: what". Also returns the errors of ReadFile.
absl::Status ApplySettingsFile(CLI::App& app, int argc, const char* const* argv);

}  // namespace kernelmill::flags

#endif  // KERNELMILL_COMMON_FLAGS_SETTINGS_FILE_H_
