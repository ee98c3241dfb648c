#ifndef KERNELMILL_COMMON_FLAGS_SETTINGS_FILE_H_
#define KERNELMILL_COMMON_FLAGS_SETTINGS_FILE_H_

#include "absl/status/status.h"

namespace CLI {
class App;
}

namespace kernelmill::flags {

// Adds --config FILE, which stands beside a program's other flags.
void AddSettingsFlag(CLI::App& app);

// Takes what --config FILE or KERNELMILL_CONFIG says as the defaults of the flags: YAML whose keys
// are their names, "cache-bytes: 1GB". Only flags that have an environment variable can be set so;
// that variable goes before the file, and the flag before both. Call before the command line is
// parsed. INVALID_ARGUMENT is one line, "FILE:LINE: KEY: what": an unknown key, a value that the
// flag refuses. Else as ReadFile.
absl::Status ApplySettingsFile(CLI::App& app, int argc, const char* const* argv);

}  // namespace kernelmill::flags

#endif  // KERNELMILL_COMMON_FLAGS_SETTINGS_FILE_H_
