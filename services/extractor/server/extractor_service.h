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

// Makes the service kernelmill.v1.Extractor: extraction and linking in one call. Thread-safe.
std::unique_ptr<grpc::Service> NewExtractorService(const rpc::CallLimits& limits = {});

// Returns the first line with a syntax error in a Python text; 0 if the text has no error, or
// exceeds the parser's bounds. Extract finds the same, but only in files that may hold kernels.
// Errors: see PythonParser.
absl::StatusOr<int> FirstErrorLine(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_SERVICE_H_
