#include "common/flags/grant_key_flag.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::flags {

void AddGrantKeyFlag(CLI::App& app, std::string* path) {
  app.add_option("--grant-key", *path,
                 "file with a secret of 32 bytes or more that the coordinator and the store share: "
                 "a worker can then write the results of those tasks alone that were leased to it")
      ->envname("KERNELMILL_GRANT_KEY");
}

absl::StatusOr<std::shared_ptr<access::GrantKey>> OpenGrantKey(const std::string& path) {
  if (path.empty()) return std::shared_ptr<access::GrantKey>();
  absl::StatusOr<std::unique_ptr<access::GrantKey>> key = access::GrantKey::Open(path);
  if (key.ok()) return std::shared_ptr<access::GrantKey>(*std::move(key));
  return absl::InvalidArgumentError(absl::StrCat("--grant-key: ", key.status().message()));
}

}  // namespace kernelmill::flags
