#ifndef KERNELMILL_COMMON_CAS_GRANTED_RESULTS_H_
#define KERNELMILL_COMMON_CAS_GRANTED_RESULTS_H_

#include <string>

#include "absl/status/status.h"
#include "common/cas/blob_store.h"

namespace kernelmill::cas {

// What a BlobStore is besides whose server may ask for a grant (common/access/grants.h) with each
// result, as that of NewGrpcBlobStore.
class GrantedResults {
 public:
  virtual ~GrantedResults() = default;
  // PutActionResult with a grant; an empty one is none. PERMISSION_DENIED: the server asks for
  // another.
  virtual absl::Status PutGrantedResult(const Digest& action, const ActionResult& result,
                                        const std::string& grant) = 0;
};

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_GRANTED_RESULTS_H_
