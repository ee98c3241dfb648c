#ifndef KERNELMILL_SERVICES_STORE_CORE_RESOURCE_NAME_H_
#define KERNELMILL_SERVICES_STORE_CORE_RESOURCE_NAME_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

enum class Compression { kNone, kZstd };

// What a ByteStream resource name says.
struct ResourceName {
  std::string instance;  // segments joined by '/'; may be empty
  std::string upload;    // the client's name for this upload; empty in the name of a read
  Compression compression = Compression::kNone;
  BlobId blob;
};

// {instance/}blobs/{hash}/{size}, {instance/}compressed-blobs/zstd/{hash}/{size}.
// INVALID_ARGUMENT: anything else.
absl::StatusOr<ResourceName> ParseReadName(absl::string_view name);

// {instance/}uploads/{id}/blobs/{hash}/{size}{/anything}, and with compressed-blobs/zstd for blobs.
absl::StatusOr<ResourceName> ParseWriteName(absl::string_view name);

// INVALID_ARGUMENT: too long, an empty segment, or a segment that is a keyword of resource names.
absl::Status CheckInstanceName(absl::string_view instance);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_RESOURCE_NAME_H_
