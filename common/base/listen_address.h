#ifndef KERNELMILL_COMMON_BASE_LISTEN_ADDRESS_H_
#define KERNELMILL_COMMON_BASE_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/status.h"

namespace kernelmill {

// Whether this process may listen at `address` (host:port, unix:/path), found out by trying for a
// moment: what listens in earnest says no more than that it failed.
//
// INVALID_ARGUMENT: it is no address, or not one of this machine. FAILED_PRECONDITION: it is in
// use, or not permitted.
absl::Status CheckCanListen(const std::string& address);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_LISTEN_ADDRESS_H_
