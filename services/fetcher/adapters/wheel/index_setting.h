#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_INDEX_SETTING_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_INDEX_SETTING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The package index to use: `option` if it is not empty, else what pip would use here:
// PIP_INDEX_URL, index-url in pip's configuration files, and at last the one that pip itself comes
// with. This project names no registry of its own. FAILED_PRECONDITION: there is none, and how to
// set one.
absl::StatusOr<std::string> ResolvePackageIndex(const std::string& option);

// index-url in the text of a pip configuration file; empty if it sets none.
std::string IndexInPipConfig(absl::string_view text);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_INDEX_SETTING_H_
