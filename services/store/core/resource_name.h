#ifndef KERNELMILL_SERVICES_STORE_CORE_RESOURCE_NAME_H_
#define KERNELMILL_SERVICES_STORE_CORE_RESOURCE_NAME_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

enum class Compression { kNone, kZstd };

// A parsed ByteStream resource name.
//
// clang-format off
//   read name  := {instance "/"} blob
//   write name := {instance "/"} "uploads/" id "/" blob {"/" anything}
//   blob       := "blobs/" hash "/" size | "compressed-blobs/zstd/" hash "/" size
// clang-format on
struct ResourceName {
  std::string instance;  // segments joined by '/'; may be empty
  std::string upload;    // the client's id of this upload; empty in a read name
  Compression compression = Compression::kNone;
  BlobId blob;
};

// Parses a read name. INVALID_ARGUMENT: malformed.
absl::StatusOr<ResourceName> ParseReadName(absl::string_view name);

// Parses a write name. INVALID_ARGUMENT: malformed.
absl::StatusOr<ResourceName> ParseWriteName(absl::string_view name);

// Checks an instance name. INVALID_ARGUMENT: too long, or a segment is empty or a keyword of
// resource names.
absl::Status CheckInstanceName(absl::string_view instance);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_RESOURCE_NAME_H_
