#ifndef KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_SERVICE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_SERVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/rpc/limited_calls.h"

namespace grpc {
class Service;
}

namespace kernelmill::extractor {

// kernelmill.v1.Extractor: extraction and linking as one plain call. Thread-safe.
std::unique_ptr<grpc::Service> NewExtractorService(const rpc::CallLimits& limits = {});

// The line on which a text first is no Python; 0 where it is, and where it is too much to read.
// Extract says the same of files that may hold kernels alone. Errors: see PythonParser.
absl::StatusOr<int> FirstErrorLine(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_SERVICE_H_
