#ifndef KERNELMILL_COMMON_FLAGS_GRANT_KEY_FLAG_H_
#define KERNELMILL_COMMON_FLAGS_GRANT_KEY_FLAG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/access/grants.h"

namespace CLI {
class App;
}

namespace kernelmill::flags {

// --grant-key, of the coordinator and the store.
void AddGrantKeyFlag(CLI::App& app, std::string* path);
// Null where `path` is empty. INVALID_ARGUMENT: the file is missing or wrong; names the flag.
absl::StatusOr<std::shared_ptr<access::GrantKey>> OpenGrantKey(const std::string& path);

}  // namespace kernelmill::flags

#endif  // KERNELMILL_COMMON_FLAGS_GRANT_KEY_FLAG_H_
