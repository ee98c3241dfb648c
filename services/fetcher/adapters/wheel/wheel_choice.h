#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_CHOICE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_CHOICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/adapters/wheel/package_index.h"

namespace kernelmill::fetcher {

struct PackageName {
  std::string name;
  std::string version;
};

// name==version. INVALID_ARGUMENT: it is not that.
absl::StatusOr<PackageName> ParsePackage(absl::string_view package);

// The one wheel of the version to take: that with `sha256` if it is given; else what is not yanked
// before what is, for any Python 3 (py3-none-any) before other pure ones (*-none-any) before
// compiled ones, and then by the least file name. NOT_FOUND: there is no wheel of that version;
// FAILED_PRECONDITION: none has the hash.
absl::StatusOr<IndexFile> ChooseWheel(const std::vector<IndexFile>& files,
                                      const PackageName& package, absl::string_view sha256);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_CHOICE_H_
