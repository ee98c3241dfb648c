#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_GZIP_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_GZIP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// INTERNAL: no memory.
absl::StatusOr<std::string> Gzip(absl::string_view bytes);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_GZIP_H_
