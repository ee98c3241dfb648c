#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_METADATA_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_METADATA_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// What a wheel's METADATA declares about its licence: the values of License-Expression, License and
// the classifiers that begin with "License ::", in that order and as they stand there. UNKNOWN is
// nothing.
std::vector<std::string> DeclaredLicenses(absl::string_view metadata);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_WHEEL_METADATA_H_
